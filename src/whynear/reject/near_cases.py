"""Held-out cases with known classes: those near a new case determine how certain its prediction is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from whynear.metric import DiagonalMetric
from whynear.metric.evidence import votes_by_class
from whynear.reject.nearness import N_NEAR
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array, Indices
from whynear.utils.values import ByValue

ROUNDING_SHARE = 1e-12  # of its size, by which a column that is constant varies


@dataclass(frozen=True, eq=False)
class NearCases(ByValue):
    """Cases in the coordinates of a learner, and the places of their classes (-1 for one it was not fitted to).

    A case is near under the Euclidean distance of standardised coordinates: not that of the learner, which ignores what
    the learner ignores.
    """

    cases: Array
    codes: Indices

    def __bool__(self) -> bool:
        return len(self.codes) > 0

    def shares(self, seen: Array, n_classes: int) -> Array:
        """Return the share of each class among the 25 nearest cases of each row."""
        nearest = self._search().find(seen, min(N_NEAR, len(self.codes)))[1]
        return self._shares(nearest, n_classes)

    def own_shares(self, n_classes: int) -> Array:
        """Return the same for each of these cases among the others; zero for a single case."""
        n = len(self.codes)
        if n < 2:
            return np.zeros((n, n_classes))
        nearest = self._search().find(self.cases, min(N_NEAR, n - 1), np.arange(n))[1]
        return self._shares(nearest, n_classes)

    def _search(self) -> ExactSearch:
        spread = self.cases.std(axis=0)
        varies = spread > ROUNDING_SHARE * np.abs(self.cases).max(axis=0)
        return ExactSearch(DiagonalMetric(np.where(varies, spread, np.inf) ** -2.0), self.cases)

    def _shares(self, nearest: Indices, n_classes: int) -> Array:
        known = self.codes[nearest]
        weights = np.where(known >= 0, 1 / nearest.shape[1], 0.0)
        return votes_by_class(np.maximum(known, 0), weights, n_classes)


NO_CASES = NearCases(np.empty((0, 0)), np.empty(0, dtype=np.intp))
