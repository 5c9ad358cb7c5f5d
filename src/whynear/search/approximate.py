"""Approximate neighbours for large tables: lists of candidates, with exact distances and a measured recall."""

from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from whynear.metric.base import Metric
from whynear.metric.local import LocalMetric
from whynear.search.exact import (
    AnyMetric,
    ExactSearch,
    check_k,
    checked_exclude,
    nearest_listed,
    searchable,
    searched_cases,
)
from whynear.search.near_lists import near_lists
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, seed_of
from whynear.utils.threads import n_threads

INDEX_LOCK = Lock()  # pynndescent makes and searches an index on all cores, for one caller at a time


class CandidateSearch:
    """The nearest of given cases among lists of candidates: fast for large tables, approximate.

    Candidates are the nearest cases in the mapped coordinates of a global metric; for a local one in columns weighted
    by the mean relevances of the anchors, each scaled to sum to one. Their distances are those of the metric itself.
    ``recall`` measures what is missed.

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric.
    Y : array-like of shape (n_cases, n_features), optional
        The cases to search among; the anchors of a local metric.
    n_candidates : int
        Length of the lists.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the search for candidates.
    n_jobs : int, optional
        Number of threads; all cores without it.

    Attributes
    ----------
    lists : ndarray of shape (n_cases, n_candidates)
        The candidates of each case, without the case itself.

    Examples
    --------
    >>> import numpy as np
    >>> from whynear import DiagonalMetric
    >>> cases = np.random.default_rng(0).normal(size=(500, 2))
    >>> search = CandidateSearch(DiagonalMetric([1.0, 4.0]), cases, n_candidates=20)
    >>> search.lists.shape  # ``nearest`` and ``recall`` take new cases; the first call compiles for most of a minute
    (500, 20)
    """

    metric: AnyMetric
    cases: Array
    lists: Indices

    def __init__(
        self,
        metric: Metric | BaseEstimator,
        Y: ArrayLike | None = None,
        *,
        n_candidates: int = 64,
        random_state: Seed = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.metric = searchable(metric)
        self.cases = searched_cases(self.metric, Y)
        check_k(n_candidates, len(self.cases), excluding=True)
        self.n_candidates = n_candidates
        self._centre = self.cases.mean(axis=0)
        self._unit = float(np.abs(self._mapped(self.cases)).max()) or 1.0
        self._seed, self._n_jobs = seed_of(random_state), n_jobs
        self.lists = near_lists(self._coordinates(self.cases), n_candidates, self._seed, n_jobs)

    @cached_property
    def _index(self) -> Any:
        """The index for new cases; made on first use, because the first import of pynndescent compiles for long."""
        from pynndescent import NNDescent

        coordinates = self._coordinates(self.cases)
        n_jobs = n_threads(self._n_jobs)
        return NNDescent(
            coordinates, n_neighbors=self.n_candidates + 1, random_state=self._seed, compressed=False, n_jobs=n_jobs
        )

    def nearest(self, X: ArrayLike, k: int, *, exclude: ArrayLike | None = None) -> tuple[Array, Indices]:
        """Find the k nearest cases among the candidates of each row of X; see `NeighborSearch.nearest`."""
        return self.find(*self._checked(X, k, exclude))

    def find(self, queries: Array, k: int, skipped: Indices | None = None) -> tuple[Array, Indices]:
        """Return the same for queries that `Metric.table` returned, which are not checked again."""
        skipped = np.full(len(queries), -1) if skipped is None else skipped
        with INDEX_LOCK:
            found, _ = self._index.query(self._coordinates(queries), k=self.n_candidates)
        counts = np.full(len(queries), self.n_candidates)
        return nearest_listed(self.metric, queries, self.cases, k, found.astype(np.intp), counts, skipped)

    def recall(self, X: ArrayLike, k: int, *, exclude: ArrayLike | None = None) -> float:
        """Return the share of the true k nearest cases of the rows of X that this search finds, by an exact search."""
        checked = self._checked(X, k, exclude)
        _, found = self.find(*checked)
        sq, _ = ExactSearch(self.metric, self.cases).find(*checked)
        reached = self.metric.sq_distances_at(checked[0], self.cases, found)
        return float(np.mean(reached <= sq[:, -1:] * (1 + 1e-9)))

    def _checked(self, X: ArrayLike, k: int, exclude: ArrayLike | None) -> tuple[Array, int, Indices]:
        queries = self.metric.table(X)
        skipped = checked_exclude(exclude, len(queries), len(self.cases))
        check_k(k, self.n_candidates, excluding=bool((skipped >= 0).any()))
        return queries, k, skipped

    def _coordinates(self, X: Array) -> NDArray[np.float32]:
        return (self._mapped(X) / self._unit).astype(np.float32)

    def _mapped(self, X: Array) -> Array:
        centred = X - self._centre
        if not isinstance(self.metric, LocalMetric):
            return self.metric.mapped(centred)
        return centred * np.sqrt(self.metric.mean_shares())
