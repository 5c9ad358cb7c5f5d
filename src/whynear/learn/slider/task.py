"""A ranking to be learned: columns in comparable units, triples that propose weights, comparisons that judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.learn.slider import objective as slider
from whynear.learn.slider.triples import Comparisons
from whynear.utils.arrays import Array

SPREAD_PAIRS = 2_000  # random pairs of rows that measure how much a column varies


def spreads(X: Array, p: int, rng: np.random.Generator) -> Array:
    """The typical difference of each column, (mean |x - y|^p)^(1/p), by random pairs of rows; zero if constant."""
    first, second = rng.integers(len(X), size=(2, SPREAD_PAIRS))
    width = np.ptp(X, axis=0)
    unit = np.where(width > 0, width, 1.0)
    typical = np.mean(np.abs((X[first] - X[second]) / unit) ** p, axis=0) ** (1 / p)
    return width * np.where(typical > 0, typical, 1.0)


@dataclass(frozen=True)
class RankingTask:
    """The data of a search for weights: columns are divided by their units, and weights become shares of a distance.

    Attributes
    ----------
    columns : ndarray of shape (n_features, n_rows)
        The columns in their units.
    log_units : ndarray of shape (n_features,)
        The logarithms of |unit|^p, minus infinity for constant columns.
    triples, judges : Comparisons
        What proposes weights, and what decides between them.
    n_mismatches : int
        The size of one set of mismatches: ranks go from one to it plus one.
    p : int
        The order of the distance.
    """

    columns: Array
    log_units: Array
    triples: Comparisons
    judges: Comparisons
    n_mismatches: int
    p: int

    @classmethod
    def of(
        cls, X: Array, units: Array, triples: Comparisons, judges: Comparisons, n_mismatches: int, p: int
    ) -> RankingTask:
        """The task on a table whose columns vary by ``units``."""
        with np.errstate(divide="ignore"):
            log_units = p * np.log(units)
        columns = np.ascontiguousarray((X / np.where(units > 0, units, 1.0)).T)
        return cls(columns, log_units, triples, judges, n_mismatches, p)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.columns)

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which columns are not constant."""
        return np.isfinite(self.log_units)

    def shares_of(self, weights: Array) -> Array:
        """Shares of the distance, summing to one, for weights of the original columns."""
        with np.errstate(divide="ignore"):
            return _normalised(np.log(weights) + self.log_units)

    def weights_of(self, shares: Array) -> Array:
        """Weights of the original columns, summing to one; zero for constant columns."""
        if not self.varies.any():
            return np.full(self.n_features, 1.0 / self.n_features)
        with np.errstate(divide="ignore", invalid="ignore"):
            return _normalised(np.where(self.varies, np.log(shares) - self.log_units, -np.inf))

    def margins(self, shares: Array, comparisons: Comparisons) -> Array:
        """How much farther each mismatch is than the match."""
        margin = np.empty(comparisons.mismatches.shape)
        slider.margins(self.columns, *comparisons, self.p, shares, margin)
        return margin

    def nearer(self, shares: Array) -> float:
        """The share of mismatches nearer than the match, among the judges."""
        margin = self.margins(shares, self.judges)
        return float(slider.nearer_share(margin, 1.0, margin, 0.0)) if margin.size else 0.0

    def mean_rank(self, nearer: float) -> float:
        """The mean rank of the match among one set of mismatches, equally near ones counted half."""
        return 1.0 + self.n_mismatches * nearer


def _normalised(logs: Array) -> Array:
    peak = logs.max()
    values: NDArray[Any] = np.exp(logs - peak) if np.isfinite(peak) else np.ones_like(logs)
    return values / values.sum()
