"""The engines of exact search, their compiled distances, and matrix products with bounded rounding errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import KDTree

from whynear.metric.linear import DiagonalMetric, LinearMetric
from whynear.metric.local import LocalMetric
from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit
from whynear.utils.threads import n_threads, one_blas_thread, run_in_chunks


@njit(cache=True, nogil=True, inline="always")
def replace_root(heap: NDArray[Any], value: float) -> None:  # pragma: no cover
    """Replace the largest entry of a binary max-heap by a smaller value."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and heap[child + 1] > heap[child]:
            child += 1
        if heap[child] <= value:
            break
        heap[place] = heap[child]
        place = child
    heap[place] = value


@njit(cache=True, nogil=True)
def any_within(scores: NDArray[Any], shifts: NDArray[Any], limit: Any) -> bool:  # pragma: no cover
    """Return whether some score + shift is at most the limit; without a branch, so that it compiles to vector code."""
    count = 0
    for column in range(scores.shape[0]):
        count += scores[column] + shifts[column] <= limit
    return count > 0


@njit(cache=True, nogil=True)
def scan_scores(
    scores: NDArray[Any],
    slack: NDArray[Any],
    first: int,
    relative: float,
    excluded: NDArray[Any],
    uppers: NDArray[Any],
    found: NDArray[Any],
    lowers: NDArray[Any],
    counts: NDArray[Any],
) -> None:  # pragma: no cover
    """Go on listing for each row the columns that may be among the k smallest, given that scores are inexact.

    The columns of ``scores`` are those from number ``first`` on. For the true value t of a score s,
    |s - t| <= relative t + slack[column]. ``uppers[row]`` is a heap of the k smallest s + slack so far, at first inf.
    With U the largest of them over 1 - relative, a column may be among the k smallest only if its lower bound
    (s - slack) / (1 + relative) is at most U. ``found[row]`` gets such columns in order, ``lowers[row]`` their
    s - slack, ``counts[row]`` their number, one more than fit if there are too many. U falls with every part: those
    listed early may be beyond it in the end, see `drop_beyond`. Time O(rows columns); runs of columns beyond U are
    skipped at once.
    """
    stretch, columns, width = 256, scores.shape[1], found.shape[1]
    negative = -slack
    for row in range(scores.shape[0]):
        limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))
        for start in range(0, columns, stretch):
            stop = min(start + stretch, columns)
            if counts[row] > width or not any_within(scores[row, start:stop], negative[start:stop], limit):
                continue
            for column in range(start, stop):
                lower = scores[row, column] + negative[column]
                if not lower <= limit or first + column == excluded[row]:
                    continue
                if counts[row] == width:
                    drop_beyond(limit, found[row], lowers[row], counts[row : row + 1])
                if counts[row] == width:
                    counts[row] = width + 1
                    break
                found[row, counts[row]], lowers[row, counts[row]] = first + column, lower
                counts[row] += 1
                upper = scores[row, column] + slack[column]
                if upper < uppers[row, 0]:
                    replace_root(uppers[row], upper)
                    limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))


@njit(cache=True, nogil=True)
def drop_beyond(limit: Any, found: NDArray[Any], lowers: NDArray[Any], count: NDArray[Any]) -> None:  # pragma: no cover
    """Keep the listed columns of a row whose lower bound is at most the limit, in their order."""
    kept = 0
    for place in range(count[0]):
        if lowers[place] <= limit:
            found[kept], lowers[kept] = found[place], lowers[place]
            kept += 1
    count[0] = kept


@njit(cache=True, nogil=True)
def finish_lists(
    relative: float, uppers: NDArray[Any], found: NDArray[Any], lowers: NDArray[Any], counts: NDArray[Any]
) -> None:  # pragma: no cover
    """Keep of each list of `scan_scores` the columns that may be among the k smallest of all parts."""
    for row in range(found.shape[0]):
        if counts[row] <= found.shape[1]:
            limit = np.float32(uppers[row, 0] * (1.0 + relative) / (1.0 - relative))
            drop_beyond(limit, found[row], lowers[row], counts[row : row + 1])


QUERIES_AT_ONCE = 512
SCORES_AT_ONCE = 1 << 18  # of one thread, which then stay in its cache
SCORES_PER_CHUNK = 1 << 26  # for some tenths of a second
TREE_SLACK = 1e-9  # far above the rounding of mapped coordinates, far below any difference that matters
FLOAT32_ROUNDING = 2.0**-24
FARTHEST_FACTOR = 1e4  # of a query, in units of the cases; beyond it rounding near zero would count

GlobalMetric = LinearMetric | DiagonalMetric
CASES_AT_ONCE = 4096  # a longer product waits for threads that other programs may hold up
SHIFT_TERMS = 1  # the shift is one term more
Floats = NDArray[np.float32]


def relative_error(n_terms: int) -> float:
    """The part 4 g of the bound, by which the error grows with the distance."""
    return 4 * _error_of_terms(n_terms)


def absolute_errors(constants: Array, n_terms: int) -> NDArray[np.float32]:
    """The part 6 g c_i of the bound for cases with the constants c_i.

    What is added covers what float32 loses below its smallest normal number, times the farthest factor.
    """
    return (6 * _error_of_terms(n_terms) * constants + 1e-33 * n_terms).astype(np.float32)


def _error_of_terms(n_terms: int) -> float:
    return 1.05 * (n_terms + 8) * FLOAT32_ROUNDING


def list_length(k: int) -> int:
    """Return the length of a list of candidates: for the k nearest, and others that rounding may put before them."""
    return 2 * k + 64


class Everything:
    """No short list: every query is compared with all cases.

    An engine lists candidates ``found[n, :counts[n]]``; a count below zero or beyond the list means that there is none.
    """

    def __init__(self, n_cases: int) -> None:
        self.n_cases = n_cases

    def row_bytes(self, _k: int) -> int:
        """Return the memory of one row of distances."""
        return 8 * self.n_cases

    def candidates(self, queries: Array, k: int, _skipped: Indices) -> tuple[Indices, Indices]:
        """Return no list for any query."""
        return np.empty((len(queries), k), dtype=np.intp), np.full(len(queries), -1)


class Tree:
    """A k-d tree over the mapped coordinates of a global metric."""

    def __init__(self, metric: LinearMetric | DiagonalMetric, cases: Array, n_jobs: int | None) -> None:
        self.metric, self.n_jobs = metric, n_jobs
        self.centre = cases.mean(axis=0)
        mapped = metric.mapped(cases - self.centre)
        self.reach = float(np.abs(mapped).max(initial=0.0))
        self.tree = KDTree(mapped)

    def row_bytes(self, k: int) -> int:
        """Return the memory of a list of candidates and of the copies made while finding it."""
        return 64 * list_length(k) + 16 * self.metric.n_features

    def candidates(self, queries: Array, k: int, skipped: Indices) -> tuple[Indices, Indices]:
        """Return one case more than needed; if that one ties with the k-th, all cases within that distance."""
        mapped = self.metric.mapped(queries - self.centre)
        width = min(k + 2, len(self.tree.data))
        distances, found = np.empty((len(mapped), width)), np.full((len(mapped), list_length(k)), -1)

        def query(start: int, stop: int) -> None:
            distances[start:stop], found[start:stop, :width] = self.tree.query(mapped[start:stop], width)

        run_in_chunks(query, len(mapped), chunk=500, n_jobs=self.n_jobs)
        is_skipped = found[:, :width] == skipped[:, None]
        kth = np.sort(np.where(is_skipped, np.inf, distances), axis=1)[:, k - 1]
        radius = kth * (1 + TREE_SLACK) + TREE_SLACK * (self.reach + np.abs(mapped).max(axis=1))
        counts = np.full(len(mapped), width)
        if width < len(self.tree.data):
            for row in np.flatnonzero(distances[:, -1] <= radius):
                close = self.tree.query_radius(mapped[row : row + 1], radius[row])[0]
                counts[row] = len(close)
                if len(close) <= found.shape[1]:
                    found[row, : len(close)] = close
        return found, counts


class Products:
    """All distances of a block of queries as one float32 matrix product, with the bounded error of `rounding`."""

    def __init__(self, metric: LinearMetric | DiagonalMetric | LocalMetric, cases: Array, n_jobs: int | None) -> None:
        self.metric, self.n_jobs = metric, n_jobs
        self.centre = cases.mean(axis=0)
        centred = cases - self.centre
        if isinstance(metric, LocalMetric):
            self.unit = _largest(centred, axis=0)
            with np.errstate(over="ignore", invalid="ignore"):  # `nearest` refuses distances that overflow
                weights = metric.maps * np.square(self.unit)
                weights /= _largest(weights)
            anchors = centred / self.unit
            constants = np.einsum("id,id,id->i", weights, anchors, anchors)
            parts = [weights, -2 * weights * anchors, constants[:, None]]
        else:
            mapped = metric.mapped(centred)
            self.unit = _largest(mapped)
            mapped /= self.unit
            constants = np.einsum("ic,ic->i", mapped, mapped)
            parts = [-2 * mapped, np.ones((len(mapped), 1)), constants[:, None]]
        self.terms = np.hstack(parts).astype(np.float32)
        self.relative = relative_error(self.terms.shape[1])
        self.slack = absolute_errors(constants, self.terms.shape[1])

    def row_bytes(self, k: int) -> int:
        """Return the memory of a list of candidates and of the factors of its query."""
        return 12 * list_length(k) + 24 * self.terms.shape[1]

    def candidates(self, queries: Array, k: int, skipped: Indices) -> tuple[Indices, Indices]:
        """Return every case whose lower bound is at most the k-th smallest upper bound."""
        exact = self._factors(queries)
        beyond = ~(np.abs(exact).max(axis=1) <= FARTHEST_FACTOR)
        exact[beyond] = 0.0
        factors = exact.astype(np.float32)
        found = np.full((len(queries), list_length(k)), -1)
        counts = np.zeros(len(queries), dtype=np.intp)

        def scan(start: int, stop: int) -> None:
            rows = slice(start, stop)
            self._scan(factors[rows], k, skipped[rows], found[rows], counts[rows])

        share = -(-len(queries) // n_threads(self.n_jobs))
        chunk = max(1, min(QUERIES_AT_ONCE, share, 1 + SCORES_PER_CHUNK // len(self.terms)))
        with one_blas_thread():
            run_in_chunks(scan, len(queries), chunk=chunk, n_jobs=self.n_jobs)
        counts[beyond] = -1
        return found, counts

    def _scan(self, factors: Floats, k: int, skipped: Indices, found: Indices, counts: Indices) -> None:
        """List the candidates of some queries, comparing them with a part of the cases at a time."""
        n_cases = len(self.terms)
        width = min(n_cases, max(1, SCORES_AT_ONCE // len(factors)))
        scores = np.empty((len(factors), width), dtype=np.float32)
        uppers = np.full((len(factors), k), np.inf, dtype=np.float32)
        lowers = np.empty(found.shape, dtype=np.float32)
        for first in range(0, n_cases, width):
            part = slice(first, min(first + width, n_cases))
            these = scores if part.stop - first == width else scores.ravel()[: len(factors) * (part.stop - first)]
            these = these.reshape(len(factors), part.stop - first)
            np.matmul(factors, self.terms[part].T, out=these)
            scan_scores(these, self.slack[part], first, self.relative, skipped, uppers, found, lowers, counts)
        finish_lists(self.relative, uppers, found, lowers, counts)

    def _factors(self, queries: Array) -> Array:
        centred = queries - self.centre
        one = np.ones((len(centred), 1))
        if isinstance(self.metric, LocalMetric):
            scaled = centred / self.unit
            return np.hstack([np.square(scaled), scaled, one])
        mapped = self.metric.mapped(centred) / self.unit
        return np.hstack([mapped, np.einsum("nc,nc->n", mapped, mapped)[:, None], one])


Engine = Everything | Tree | Products


def _largest(values: Array, axis: int | None = None) -> Array:
    peak = np.abs(values).max(axis=axis)
    return np.where(peak > 0, peak, 1.0)


@dataclass(frozen=True, eq=False)
class CaseTerms:
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

    def joined(self, others: CaseTerms) -> CaseTerms:
        """Return these cases followed by others."""
        return CaseTerms(np.concatenate([self.terms, others.terms]), np.concatenate([self.slack, others.slack]))

    @classmethod
    def of(cls, terms: Array, constants: Array) -> CaseTerms:
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

    def products(self, metric: GlobalMetric, cases: NDArray[np.floating]) -> CaseTerms:
        """Return the terms (-2 m_i, c_i) of cases with the coordinates m_i."""
        mapped = coordinates(metric, cases - self.centre) / self.unit
        constants = np.einsum("ic,ic->i", mapped, mapped)
        return CaseTerms.of(np.hstack([-2 * mapped, constants[:, None]]), constants)

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

    def products(self, metric: LocalMetric, places: Indices) -> CaseTerms:
        """Return the terms (w_i, -2 w_i a_i, c_i) of the anchors with these numbers."""
        weights = metric.maps[places] * np.square(self.unit)
        weights /= float((metric.maps * np.square(self.unit)).max(initial=0.0)) or 1.0
        anchors = (metric.anchors[places] - self.centre) / self.unit
        constants = np.einsum("id,id,id->i", weights, anchors, anchors)
        return CaseTerms.of(np.hstack([weights, -2 * weights * anchors, constants[:, None]]), constants)

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
