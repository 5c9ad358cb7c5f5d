"""The history of a stream: what was recorded, drifts, and its figure."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, Indices, plain_values
from whynear.utils.axes import CLASS_COLORS, new_axes, short_name, tidy
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FIRST_INTERVAL = 100  # cases between two lines
MOST_LINES = 400  # then every second one is left out
MOST_NOTES = 200  # the first and the latest half of them are kept
COLUMNS = ("case", "metric", "memory", "short", "long", "n_predicted", "n_right", "gains", "losses")
COUNTS = ("n_predicted", "n_right", "gains", "losses")  # of the cases since the line before


class Record:
    """Lines at equal intervals, and notes at single cases."""

    def __init__(self, n_features: int) -> None:
        self.interval = FIRST_INTERVAL
        self.lines: Array = np.empty((0, len(COLUMNS) + n_features))  # COLUMNS, then shares; NaN before a feature came
        self.notes: list[tuple[int, str]] = []  # the number of a case, from 1, and the note on it
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


LEAST_LINES = 5  # that one feature leads, before and after a replacement
LEAST_RATIO = 10.0  # of the share of the leading feature to that of the other, before and after
LEAST_SHARE = 0.3  # of a leading feature
CLEAR_ADVANTAGE = 3.0  # of the learned metric, in standard errors


class Replacement(NamedTuple):
    """From a case on, one feature leads and another one no longer does."""

    case: int
    new: str
    old: str

    def __str__(self) -> str:
        return f"from case {self.case:,} on, {self.new!r} replaces {self.old!r}"


def replacements(cases: Indices, shares: Array, advantage: Array, names: Sequence[str]) -> tuple[Replacement, ...]:
    """Return where the leading feature changes.

    A feature leads while its share is the largest, over at least 5 lines in which the learned metric is clearly better
    than the plain one: (gains - losses) / sqrt(gains + losses) > 3. The next one to lead replaces it if, by the medians
    of both periods, each had a share of at least 0.3 while it led, and ten times the share of the other.

    Parameters
    ----------
    cases : ndarray of shape (n_lines,)
        The number of the latest case of each line.
    shares : ndarray of shape (n_lines, n_features)
        The share of relevance of each feature; NaN where there was none.
    advantage : ndarray of shape (n_lines, 2)
        The cases of each line in which only the learned metric was right, and those in which only the plain one was.
    names : sequence of str
        The features.
    """
    if not shares.size:
        return ()
    known, periods = np.nan_to_num(shares), []
    for period in _periods(known.argmax(axis=1)):
        gains, losses = advantage[period].sum(axis=0)
        if gains - losses > CLEAR_ADVANTAGE * np.sqrt(gains + losses):
            periods.append(period)
    found = []
    for before, after in pairwise(periods):
        old, new = int(known[before.start].argmax()), int(known[after.start].argmax())
        first, second = (np.median(known[period][:, [old, new]], axis=0) for period in (before, after))
        led = first[0] >= max(LEAST_SHARE, LEAST_RATIO * first[1])
        leads = second[1] >= max(LEAST_SHARE, LEAST_RATIO * second[0])
        if old != new and led and leads:
            found.append(Replacement(int(cases[after.start]), names[new], names[old]))
    return tuple(found)


def _periods(leaders: Indices) -> list[slice]:
    """Return the periods of at least 5 lines with one leader; those with the same leader after each other are one.

    >>> _periods(np.array([0] * 6 + [1] * 2 + [0] * 7 + [2] * 5))
    [slice(0, 15, None), slice(15, 20, None)]
    """
    bounds = [0, *(np.flatnonzero(np.diff(leaders)) + 1).tolist(), len(leaders)]
    joined: list[slice] = []
    for period in (slice(a, b) for a, b in pairwise(bounds) if b - a >= LEAST_LINES):
        if joined and leaders[joined[-1].start] == leaders[period.start]:
            joined[-1] = slice(joined[-1].start, period.stop)
        else:
            joined.append(period)
    return joined


@dataclass(frozen=True, eq=False, repr=False)
class StreamHistory(ByValue):
    """The history of a stream, at equal intervals of cases.

    Attributes
    ----------
    table : DataFrame
        A row for each interval: ``case``, the number of its last case; ``accuracy`` of the predictions made in it;
        ``metric`` and ``memory`` in use at its end; ``short_term`` and ``long_term``, their numbers of cases.
    relevances : DataFrame
        For each of these rows the share of each feature in the mean squared distance, under the learned metric; missing
        before a feature came.
    advantage : ndarray of shape (n_intervals, 2)
        In how many cases of each interval only the learned metric was right, and in how many only the plain one.
    notes : tuple of (int, str)
        Cases, counted from 1, and what was new there: features, classes, and in a run over a table also what was
        unusual about its rows. A note on a row that was left out stands at the next case. Of many notes, the
        first and the latest are kept.
    n_notes : int
        How many there were.

    Notes
    -----
    Features that are copies of each other share their relevance arbitrarily.

    Examples
    --------
    >>> from whynear import SelfAdjustingMemory
    >>> X = np.random.default_rng(1).standard_normal((1000, 3))
    >>> memory = SelfAdjustingMemory().partial_fit(X, X[:, 1] > 0)
    >>> history = memory.history
    >>> bool(history.frame()["relevance of x1"].iloc[-1] > 0.9)
    True
    >>> history.sentences()  # nothing drifts
    []
    """

    table: pd.DataFrame
    relevances: pd.DataFrame
    advantage: Array
    notes: tuple[tuple[int, str], ...]
    n_notes: int

    @cached_property
    def replacements(self) -> tuple[Replacement, ...]:
        """Where one feature replaces another as the most relevant one; found with ``metric="guarded"`` only."""
        names = [str(name) for name in self.relevances.columns]
        return replacements(self.table["case"].to_numpy(), self.relevances.to_numpy(), self.advantage, names)

    def sentences(self) -> list[str]:
        """Return what drifts, in words; empty if no feature replaces another."""
        return [f"{str(found)[:1].upper()}{str(found)[1:]}." for found in self.replacements]

    def frame(self) -> pd.DataFrame:
        """Return one row per interval, with a column for the relevance of each feature."""
        return self.table.join(self.relevances.add_prefix("relevance of "))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "intervals": plain_values(self.frame().to_dict("records")),
            "replacements": [found._asdict() for found in self.replacements],
            "notes": [{"case": case, "note": note} for case, note in self.notes],
            "n_notes": self.n_notes,
        }

    def plot(self, ax: Axes | None = None, most: int = 8) -> Axes:
        """Draw the relevances of the ``most`` relevant features as areas, the accuracy, and where features change."""
        return draw_history(self, ax, most)

    def __repr__(self) -> str:
        cases = 0 if self.table.empty else int(self.table["case"].iloc[-1])
        return (
            f"StreamHistory({counted(cases, 'case')} in {counted(len(self.table), 'interval')}: "
            f"{counted(len(self.replacements), 'replacement')})"
        )

    def _repr_html_(self) -> str:
        shown = self.table.tail(html.MOST_ROWS)
        rows = [tuple(row) for row in shown.itertuples(index=False)]
        return html.block(html.heading(repr(self)), *self.sentences(), html.table(list(shown.columns), rows))


def history_of(record: Record, metrics: list[str], memories: list[str], features: list[str]) -> StreamHistory:
    """Return the lines of a record with the names of metrics, memories and features."""
    lines = record.lines
    known: dict[str, Array] = {name: lines[:, place] for place, name in enumerate(COLUMNS)}
    table = pd.DataFrame(
        {
            "case": known["case"].astype(np.int64),
            "accuracy": known["n_right"] / np.maximum(1, known["n_predicted"]),
            "metric": [metrics[int(place)] for place in known["metric"]],
            "memory": [memories[int(place)] for place in known["memory"]],
            "short_term": known["short"].astype(np.int64),
            "long_term": known["long"].astype(np.int64),
        }
    )
    shares = np.full((len(lines), len(features)), np.nan)
    shares[:, : lines.shape[1] - len(COLUMNS)] = lines[:, len(COLUMNS) :]
    advantage = np.column_stack([known["gains"], known["losses"]])
    relevances = pd.DataFrame(shares, columns=features)
    return StreamHistory(table, relevances, advantage, tuple(record.notes), record.n_notes)


def draw_history(history: StreamHistory, ax: Axes | None, most: int) -> Axes:
    """Draw shares of relevance as areas, the accuracy as a line, and replacements as vertical lines."""
    ax = ax or new_axes(7.5, 3.6)
    shares = history.relevances.fillna(0.0)
    order = np.argsort(-shares.sum().to_numpy(), kind="stable")
    first, rest = order[:most], order[most:]
    areas = [shares.iloc[:, place] for place in first]
    names = [short_name(str(shares.columns[place])) for place in first]
    if len(rest):
        areas.append(shares.iloc[:, rest].sum(axis=1))
        names.append(counted(len(rest), "other"))
    cases = history.table["case"]
    colors = [*(CLASS_COLORS[place % len(CLASS_COLORS)] for place in range(len(first))), "#c8ccd0"]
    if len(cases):
        ax.stackplot(cases, areas, labels=names, colors=colors[: len(areas)], alpha=0.55, linewidth=0)
    ax.plot(cases, history.table["accuracy"], color="black", linewidth=1.2, label="accuracy")
    for found in history.replacements:
        ax.axvline(found.case, color="black", linestyle=":", linewidth=1.0)
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel("case")
    ax.set_ylabel("share of relevance; accuracy")
    tidy(ax, "y")
    legend = ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax
