"""What a stream learner notes about itself while it learns; its length is bounded."""

from bisect import insort
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array

FIRST_INTERVAL = 100  # cases between two lines
MOST_LINES = 400  # then every second one is left out
MOST_NOTES = 200  # the first and the latest half of them are kept
COLUMNS = ("case", "metric", "memory", "short", "long", "n_predicted", "n_right", "gains", "losses")
COUNTS = ("n_predicted", "n_right", "gains", "losses")  # of the cases since the line before


class Record:
    """Lines at equal intervals, and notes at single cases.

    Attributes
    ----------
    lines : ndarray of shape (n_lines, n_columns)
        The columns of `COLUMNS`, then the share of each feature; NaN for a feature that there was not yet.
    notes : list of (int, str)
        The number of a case, from 1, and the note on it.
    """

    def __init__(self, n_features: int) -> None:
        self.interval = FIRST_INTERVAL
        self.lines: Array = np.empty((0, len(COLUMNS) + n_features))
        self.notes: list[tuple[int, str]] = []
        self.n_notes = 0
        self.counts = [0] * len(COUNTS)  # since the latest line

    def cases_until_next(self, n_seen: int) -> int:
        """Return how many cases there are until the next line."""
        return self.interval - n_seen % self.interval

    def is_due(self, n_seen: int) -> bool:
        """Return whether a line is due after so many cases."""
        return n_seen % self.interval == 0

    def count(self, right: NDArray[np.bool_], learned: NDArray[np.bool_], plain: NDArray[np.bool_]) -> None:
        """Count predictions that are right, and those in which only the learned or only the plain metric was right."""
        found = (np.ones_like(right), right, learned & ~plain, plain & ~learned)
        self.counts = [before + int(np.count_nonzero(now)) for before, now in zip(self.counts, found, strict=True)]

    def add(self, n_seen: int, metric: int, memory: int, short: int, long: int, shares: Array) -> None:
        """Add a line; of too many lines every second one is joined to the next."""
        line = [n_seen, metric, memory, short, long, *self.counts, *shares]
        if gap := len(line) - self.lines.shape[1]:  # new features
            self.lines = np.hstack([self.lines, np.full((len(self.lines), gap), np.nan)])
        self.lines = np.vstack([self.lines, line])
        self.counts = [0] * len(COUNTS)
        if len(self.lines) >= MOST_LINES:
            kept = self.lines[1::2].copy()
            counts = [COLUMNS.index(name) for name in COUNTS]
            kept[:, counts] += self.lines[::2][:, counts]
            self.lines, self.interval = kept, 2 * self.interval

    def note(self, n_seen: int, text: str) -> None:
        """Add a note on the case after so many; notes are kept in the order of their cases."""
        self.n_notes += 1
        insort(self.notes, (n_seen + 1, text), key=itemgetter(0))
        if len(self.notes) > MOST_NOTES:
            del self.notes[MOST_NOTES // 2]
