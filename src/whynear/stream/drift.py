"""Which feature replaces which in a stream, from the shares of relevance over time."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from whynear.utils.arrays import Array, Indices

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
    known = np.nan_to_num(shares)
    periods = [period for period in _periods(known.argmax(axis=1)) if _is_clear(advantage[period])]
    found = []
    for before, after in pairwise(periods):
        old, new = int(known[before.start].argmax()), int(known[after.start].argmax())
        first, second = (np.median(known[period][:, [old, new]], axis=0) for period in (before, after))
        led = first[0] >= max(LEAST_SHARE, LEAST_RATIO * first[1])
        leads = second[1] >= max(LEAST_SHARE, LEAST_RATIO * second[0])
        if old != new and led and leads:
            found.append(Replacement(int(cases[after.start]), names[new], names[old]))
    return tuple(found)


def _is_clear(advantage: Array) -> bool:
    gains, losses = advantage.sum(axis=0)
    return bool(gains - losses > CLEAR_ADVANTAGE * np.sqrt(gains + losses))


def _periods(leaders: Indices) -> list[slice]:
    """Return the periods of at least 5 lines with one leader; those with the same leader after each other are one.

    >>> _periods(np.array([0] * 6 + [1] * 2 + [0] * 7 + [2] * 5))
    [slice(0, 15, None), slice(15, 20, None)]
    """
    bounds = [0, *(np.flatnonzero(np.diff(leaders)) + 1).tolist(), len(leaders)]
    long = [slice(a, b) for a, b in pairwise(bounds) if b - a >= LEAST_LINES]
    joined: list[slice] = []
    for period in long:
        if joined and leaders[joined[-1].start] == leaders[period.start]:
            joined[-1] = slice(joined[-1].start, period.stop)
        else:
            joined.append(period)
    return joined
