"""Which rows are explained, where there are too many for all of them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from whynear.utils.arrays import Indices

MOST_EXPLAINED = 250  # cases
MOST_PARTS = 250_000  # features of all explained cases, because each takes time


def explained_places(shape: tuple[int, int], known: Iterable[int], first: Indices) -> Indices:
    """Return the positions of about 250 rows of a table, fewer if it has many columns, in their order.

    These are the rows in ``known``, those of ``first`` up to half of all, and others in even steps.
    """
    most = min(MOST_EXPLAINED, max(10, MOST_PARTS // shape[1]))
    return spread(shape[0], most, [*known, *first[: most // 2]])


def spread(n_cases: int, most: int, first: list[int]) -> Indices:
    """Return about ``most`` positions: those in ``first``, and others in even steps."""
    left = max(1, most - len(first))
    return np.union1d(np.array(first, dtype=np.intp), np.arange(0, n_cases, max(1, -(-n_cases // left))))
