"""Exact search among many cases by matrix products."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric
from whynear.search.engines import FARTHEST_FACTOR, Floats, absolute_errors, relative_error
from whynear.utils.arrays import Array, Indices

GlobalMetric = LinearMetric | DiagonalMetric
CASES_AT_ONCE = 4096  # a longer product waits for threads that other programs may hold up
SHIFT_TERMS = 1  # the shift is one term more


@dataclass(frozen=True, eq=False)
class Products:
    """The terms of all cases, one row each, and the error bound of each product."""

    terms: Floats
    slack: Floats

    def __len__(self) -> int:
        return len(self.terms)

    def scores(self, factors: Floats, shift: float) -> Floats:
        """Return the squared distances of a query from all cases, in the squared unit of the form."""
        scores = np.empty(len(self), dtype=np.float32)
        for start in range(0, len(self), CASES_AT_ONCE):
            np.matmul(self.terms[start : start + CASES_AT_ONCE], factors, out=scores[start : start + CASES_AT_ONCE])
        scores += np.float32(shift)
        return scores

    def joined(self, others: Products) -> Products:
        """Return these cases followed by others."""
        return Products(np.concatenate([self.terms, others.terms]), np.concatenate([self.slack, others.slack]))

    @classmethod
    def of(cls, terms: Array, constants: Array) -> Products:
        """The terms in float32, with the slack that follows from the constants among them."""
        return cls(terms.astype(np.float32), absolute_errors(constants, terms.shape[1] + SHIFT_TERMS))


def may_be_nearest(scores: Floats, slack: Floats, n_terms: int, k: int) -> Indices:
    """Every case whose lower bound is at most the k-th smallest upper bound; infinite scores are no cases."""
    relative = relative_error(n_terms + SHIFT_TERMS)
    kth = np.partition(scores + slack, k - 1)[k - 1]
    return np.flatnonzero(scores - slack <= np.float32(kth * (1 + relative) / (1 - relative)))


@dataclass(frozen=True, eq=False)
class GlobalForm:
    """The origin and the unit of the mapped coordinates, for a metric with one map."""

    centre: Array
    unit: float

    @classmethod
    def fitting(cls, metric: GlobalMetric, blocks: list[NDArray[np.floating]]) -> GlobalForm:
        """Return the form with the mean of the cases as origin and their largest coordinate as unit."""
        total = sum(len(block) for block in blocks)
        centre = np.sum([block.sum(axis=0, dtype=np.float64) for block in blocks], axis=0) / max(total, 1)
        peaks = [float(np.abs(coordinates(metric, block - centre)).max(initial=0.0)) for block in blocks]
        return cls(centre, max(peaks, default=0.0) or 1.0)

    def products(self, metric: GlobalMetric, cases: NDArray[np.floating]) -> Products:
        """Return the terms (-2 m_i, c_i) of cases with the coordinates m_i."""
        mapped = coordinates(metric, cases - self.centre) / self.unit
        constants = np.einsum("ic,ic->i", mapped, mapped)
        return Products.of(np.hstack([-2 * mapped, constants[:, None]]), constants)

    def factors(self, metric: GlobalMetric, query: Array) -> tuple[Floats, float] | None:
        """Return the factors (q, 1) of a query and the shift <q, q>; None if it is too far away for the bound."""
        mapped = coordinates(metric, (query - self.centre)[None])[0] / self.unit
        return checked_factors(np.append(mapped, 1.0), float(mapped @ mapped))


@dataclass(frozen=True, eq=False)
class LocalForm:
    """The origin and the units of the columns, for a metric with a diagonal map per case."""

    centre: Array
    unit: Array

    @classmethod
    def fitting(cls, metric: LocalMetric) -> LocalForm:
        """Return the form with the mean of the anchors as origin and the largest distance from it in each column."""
        centre = metric.anchors.mean(axis=0)
        peaks = np.abs(metric.anchors - centre).max(axis=0)
        return cls(centre, np.where(peaks > 0, peaks, 1.0))

    def products(self, metric: LocalMetric, places: Indices) -> Products:
        """Return the terms (w_i, -2 w_i a_i, c_i) of the anchors with these numbers."""
        weights = metric.maps[places] * np.square(self.unit)
        weights /= float((metric.maps * np.square(self.unit)).max(initial=0.0)) or 1.0
        anchors = (metric.anchors[places] - self.centre) / self.unit
        constants = np.einsum("id,id,id->i", weights, anchors, anchors)
        return Products.of(np.hstack([weights, -2 * weights * anchors, constants[:, None]]), constants)

    def factors(self, _metric: LocalMetric, query: Array) -> tuple[Floats, float] | None:
        """Return the factors (q^2, q, 1) of a query and the shift 0; None if it is too far away for the bound."""
        scaled = (query - self.centre) / self.unit
        return checked_factors(np.concatenate([np.square(scaled), scaled, [1.0]]), 0.0)


def coordinates(metric: GlobalMetric, cases: Array) -> Array:
    """Return cases in coordinates where the metric is Euclidean, without those that are always zero."""
    if isinstance(metric, LinearMetric):
        return cases @ metric.omega.T
    kept = np.flatnonzero(metric.weights)
    return cases[:, kept] * np.sqrt(metric.weights[kept])


def checked_factors(factors: Array, shift: float) -> tuple[Floats, float] | None:
    """The factors in float32, if the bound holds for them."""
    near = max(np.abs(factors).max(), shift) <= FARTHEST_FACTOR  # False for NaN too
    return (factors.astype(np.float32), shift) if near else None
