"""The base class of the learners of ranking weights: comparisons of labels or triplets, prediction by neighbours."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from whynear.learn.inputs import fit_inputs, measurable_inputs, predict_inputs
from whynear.learn.mixins import CheckedWhenLoaded, MapsCases, VotingCases, WithMetric
from whynear.learn.slider.triples import (
    Comparisons,
    NearMatches,
    RankingTask,
    checked_triplets,
    compare_by_class,
    compare_by_triplets,
    held_out,
    spreads,
)
from whynear.learn.solvers import Callback, watcher
from whynear.metric import DiagonalMetric, Evidence, MinkowskiMetric
from whynear.search.exact import ExactSearch
from whynear.search.voting import cast_votes
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, check_parameters, choice, generator, number, whole
from whynear.utils.columns import check_finite, check_magnitudes, column_names, default_names

Matches = Literal["random", "near"]
FEWEST_TRIPLES, FEWEST_JUDGES = 10_000, 5_000  # drawn from small tables; larger ones give 2 n and n


class Weighting(NamedTuple):
    """The result of a search: shares of the distance, curve of nearer mismatches, number of steps, convergence."""

    shares: Array
    curve: list[float]
    n_iter: int
    converged: bool = True


class RankedNeighbors(CheckedWhenLoaded, VotingCases, WithMetric, MapsCases, ClassifierMixin, BaseEstimator):
    """A learner of one weight per feature, judged by the mean rank of matches among mismatches."""

    metric_: Any
    classes_: NDArray[Any]
    codes_: Indices
    cases_: Array
    row_names_: NDArray[Any] | None
    uniform_rank_: float
    mean_rank_: float
    loss_curve_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_neighbors: int = 1,
        p: int = 2,
        matches: Matches = "random",
        n_near: int = 10,
        n_triples: int | None = None,
        n_validation: int | None = None,
        validation_share: float = 0.5,
        n_mismatches: int = 20,
        n_mismatch_sets: int = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.p = p
        self.matches = matches
        self.n_near = n_near
        self.n_triples = n_triples
        self.n_validation = n_validation
        self.validation_share = validation_share
        self.n_mismatches = n_mismatches
        self.n_mismatch_sets = n_mismatch_sets
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state

    @abstractmethod
    def _search_shares(self, task: RankingTask, rng: np.random.Generator, watch: Callback) -> Weighting:
        """Find shares of the distance under which the judges rank matches first."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn weights under which cases of one class rank before others."""
        data = fit_inputs(self, X, y)
        self.check_settings()
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        units, everything = spreads(data.X, self.p, rng), np.arange(len(data.X))
        near = None
        if self.matches == "near":
            near = NearMatches(data.X / np.where(units > 0, units, 1.0), self.n_near)
        judging = held_out(data.codes, self.validation_share, rng)
        triples = Comparisons(everything[:0], everything[:0], everything[:0, None])
        wanted = self.n_triples or max(FEWEST_TRIPLES, 2 * len(data.X))
        for rows in (np.flatnonzero(~judging), everything):  # all rows where one part alone has no pairs
            if not len(triples):
                triples = compare_by_class(data.codes, rows, rows, wanted, 1, rng, near)
        judges = self._judges(data.codes, np.flatnonzero(judging), rng, near)
        if not len(judges):
            judges = self._judges(data.codes, everything, rng, near)
        if not len(triples):
            warnings.warn(
                "No class has two rows: there is nothing to compare, and all features weigh the same.", stacklevel=2
            )
        self._learn(data.X, data.feature_names, RankingTask.of(
            data.X, units, triples, judges, self.n_mismatches, self.p), rng)  # fmt: skip
        self.classes_, self.codes_, self.cases_ = data.classes, data.codes, data.X.copy()
        self.row_names_ = data.row_names
        return self

    def fit_triplets(self, X: ArrayLike, triplets: ArrayLike) -> Self:
        """Learn weights from comparisons alone, without classes; `transform` and ``metric_`` work then, not `predict`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The cases.
        triplets : array-like of shape (n_triplets, 3)
            Row numbers (instance, match, mismatch): the match should be nearer to the instance than the mismatch. The
            mismatches that judge an instance are drawn from all rows not given as its matches.
        """
        values = validate_data(self, X, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=3)
        names = column_names(X) or default_names(values.shape[1])
        check_finite(values, names)
        check_magnitudes(values, names, by_column=True)
        self.check_settings()
        given = checked_triplets(triplets, len(values))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        if self.n_triples is not None and self.n_triples < len(given):
            given = given[np.sort(rng.permutation(len(given))[: self.n_triples])]
        triples, judges = compare_by_triplets(
            given, len(values), self.validation_share, self.n_validation, self._n_drawn, rng
        )
        units = spreads(values, self.p, rng)
        self._learn(values, names, RankingTask.of(values, units, triples, judges, self.n_mismatches, self.p), rng)
        for name in ("classes_", "codes_", "cases_", "row_names_", "input_range_"):
            if hasattr(self, name):
                delattr(self, name)
        return self

    def mean_rank(self, X: ArrayLike, y: ArrayLike, random_state: Seed = 0) -> float:
        """The mean rank of a random match among ``n_mismatches`` random mismatches, both from the rows of X.

        Each row is an instance, in ``n_mismatch_sets`` sets of mismatches; equally near ones count half.
        """
        cases = predict_inputs(self, X)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        if len(codes) != len(cases) or len(classes) < 2:
            raise ValueError(f"y must hold a class for each of the {len(cases)} rows of X, and two classes at least.")
        rng, rows = generator(random_state), np.arange(len(cases))
        drawn = compare_by_class(codes, rows, rows, len(rows), self._n_drawn, rng)
        if not len(drawn):
            raise ValueError("No class has two rows in X: there is no match to rank.")
        to_match = self.metric_.sq_distances_at(cases[drawn.instances], cases, drawn.matches[:, None])
        to_others = self.metric_.sq_distances_at(cases[drawn.instances], cases, drawn.mismatches)
        nearer = np.mean((to_others < to_match) + 0.5 * (to_others == to_match))
        return 1.0 + self.n_mismatches * float(nearer)

    def evidence_of(self, cases: Array) -> Evidence:
        """The training cases that vote, nearest first, with one vote each; those at distance zero vote alone."""
        if not hasattr(self, "codes_"):
            raise AttributeError(
                f"This {type(self).__name__} was fitted on triplets, without classes to predict. Use fit(X, y), or its "
                "metric_ and transform."
            )
        search = self._kept_search(ExactSearch, self.metric_, self.cases_, n_jobs=self.n_jobs)
        return self._evidence(self.cases_, cast_votes(search, self.codes_, cases, self.n_neighbors, np.ones_like))

    def transform(self, X: ArrayLike) -> Array:
        """Map cases to the space in which all weights are one: each column times the p-th root of its weight."""
        return self.metric_.mapped(measurable_inputs(self, X))

    @property
    def _n_drawn(self) -> int:
        return self.n_mismatches * self.n_mismatch_sets

    def _judges(
        self, codes: NDArray[np.intp], rows: NDArray[np.intp], rng: np.random.Generator, near: NearMatches | None
    ) -> Comparisons:
        wanted = self.n_validation or max(FEWEST_JUDGES, len(codes))
        return compare_by_class(codes, rows, np.arange(len(codes)), wanted, self._n_drawn, rng, near)

    def _learn(self, X: Array, names: tuple[str, ...], task: RankingTask, rng: np.random.Generator) -> None:
        uniform = task.shares_of(np.ones(task.n_features))
        found = Weighting(uniform, [], 0)
        if len(task.triples) and len(task.judges) and task.varies.sum() > 1:
            found = self._search_shares(task, rng, watcher(type(self).__name__, self.verbose, self.callback))
        weights = task.weights_of(found.shares)
        metric = DiagonalMetric(weights, names) if self.p == 2 else MinkowskiMetric(weights, self.p, names)
        metric.measurable(X)  # refuses what this order cannot measure
        self.metric_ = metric
        self.uniform_rank_ = task.mean_rank(task.nearer(uniform))
        self.mean_rank_ = task.mean_rank(task.nearer(found.shares))
        self.loss_curve_ = [task.mean_rank(nearer) for nearer in found.curve]
        self.n_iter_ = max(1, found.n_iter)

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        check_parameters(self, whole, "n_neighbors", "n_near", "n_mismatches", "n_mismatch_sets")
        check_parameters(self, whole, "n_triples", "n_validation", optional=True)
        choice("p", self.p, (1, 2, 3))
        choice("matches", self.matches, ("random", "near"))
        number("validation_share", self.validation_share, above=0, below=1)
