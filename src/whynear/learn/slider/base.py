"""What the learners of ranking weights share: comparisons of rows, the task that they make, and their base class."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from whynear.learn.inputs import fit_inputs, measurable_inputs, predict_inputs, table_inputs
from whynear.learn.mixins import CheckedWhenLoaded, MapsCases, VotingCases, WithMetric
from whynear.learn.slider import objective as slider
from whynear.learn.solvers import Callback, watcher
from whynear.metric import DiagonalMetric, Evidence, MinkowskiMetric
from whynear.search.exact import ExactSearch
from whynear.search.voting import cast_votes
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, check_parameters, choice, generator, number, whole
from whynear.utils.columns import check_magnitudes

Matches = Literal["random", "near"]
FEWEST_TRIPLES, FEWEST_JUDGES = 10_000, 5_000  # drawn from small tables; larger ones give 2 n and n


MISMATCH_DRAWS = 50  # attempts to draw a mismatch that is none of the given matches


class Comparisons(NamedTuple):
    """Row numbers: instances and matches of shape (v,), mismatches of shape (v, m)."""

    instances: Indices
    matches: Indices
    mismatches: Indices

    def __len__(self) -> int:
        return len(self.instances)

    def some(self, chosen: Indices | slice) -> Self:
        """A part of the comparisons."""
        return type(self)(*(rows[chosen] for rows in self))


def held_out(codes: Indices, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which rows are held out, this share of each class up to rounding."""
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    turn = np.floor((np.arange(len(codes)) + 1) * share) > np.floor(np.arange(len(codes)) * share)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[order[turn]] = True
    return chosen


def compare_by_class(
    codes: Indices,
    instances: Indices,
    pool: Indices,
    n: int,
    n_mismatches: int,
    rng: np.random.Generator,
    near: NearMatches | None = None,
) -> Comparisons:
    """Draw n comparisons: instances in turn, matches of their class and mismatches of others from the pool.

    Instances without another row of their class, or without one of another class, in the pool are left out.
    """
    pool = pool[np.argsort(codes[pool], kind="stable")]
    counts = np.bincount(codes[pool], minlength=codes.max() + 1)
    starts = np.cumsum(counts) - counts
    own = codes[instances]
    others = counts[own] - np.isin(instances, pool)
    instances = instances[(others > 0) & (counts[own] < len(pool))]
    if not len(instances):
        return Comparisons(instances, instances, np.empty((0, n_mismatches), dtype=np.intp))
    chosen = np.resize(rng.permutation(instances), n)
    own = codes[chosen]
    matches = chosen.copy()
    while (same := np.flatnonzero(matches == chosen)).size:
        matches[same] = pool[starts[own[same]] + rng.integers(counts[own[same]])]
    if near is not None:
        matches = near.draw(chosen, pool, starts, counts, own, rng)
    place = rng.integers((len(pool) - counts[own])[:, None], size=(n, n_mismatches))
    mismatches = pool[np.where(place < starts[own][:, None], place, place + counts[own][:, None])]
    return Comparisons(chosen, matches, mismatches)


class NearMatches(NamedTuple):
    """Draws matches among the nearest rows of the same class."""

    cases: Array
    n_near: int

    def draw(
        self, chosen: Indices, pool: Indices, starts: Indices, counts: Indices, own: Indices, rng: np.random.Generator
    ) -> Indices:
        """One of the nearest others of its class for each chosen row."""
        matches = np.empty_like(chosen)
        for code in np.unique(own):
            members, asking = pool[starts[code] : starts[code] + counts[code]], np.flatnonzero(own == code)
            search = ExactSearch(DiagonalMetric(np.ones(self.cases.shape[1])), self.cases[members])
            rows, back = np.unique(chosen[asking], return_inverse=True)
            exclude = np.where(np.isin(rows, members), np.searchsorted(members, rows), -1)
            k = min(self.n_near, len(members) - int((exclude >= 0).any()))
            nearest = members[search.find(self.cases[rows], k, exclude)[1]]
            matches[asking] = nearest[back, rng.integers(k, size=len(asking))]
        return matches


def checked_triplets(triplets: ArrayLike, n_rows: int) -> Indices:
    """Triplets (instance, match, mismatch) of three different rows each."""
    given = np.asarray(triplets)
    if given.ndim != 2 or given.shape[1:] != (3,) or not len(given) or given.dtype.kind not in "iu":
        raise ValueError(
            "triplets must be a table of whole numbers with the three columns instance, match and mismatch, "
            f"got shape {given.shape} of {given.dtype} instead."
        )
    if given.min() < 0 or given.max() >= n_rows:
        raise ValueError(f"triplets must hold row numbers from 0 to {n_rows - 1}, got {given.min()} to {given.max()}.")
    x, y, z = given.T
    if (wrong := np.flatnonzero((x == y) | (x == z) | (y == z))).size:
        raise ValueError(
            f"triplets must name three different rows, but triplet {wrong[0]} is {given[wrong[0]].tolist()}. Drop it."
        )
    return given.astype(np.intp)


def compare_by_triplets(
    triplets: Indices, n_rows: int, share: float, n: int | None, n_mismatches: int, rng: np.random.Generator
) -> tuple[Comparisons, Comparisons]:
    """The triplets to learn from, and comparisons to judge by: the other instances, each with random mismatches.

    These are drawn from the rows not given as matches of their instance; where all are, the given mismatch stays.
    """
    instances = rng.permutation(np.unique(triplets[:, 0]))
    judging = np.isin(triplets[:, 0], instances[: max(1, round(share * len(instances)))])
    if judging.all():
        judging = rng.permutation(len(triplets)) < max(1, share * len(triplets))
    x, y, z = triplets[judging].T
    picked = np.resize(rng.permutation(len(x)), n or len(x))
    x, y, mismatches = x[picked], y[picked], np.repeat(z[picked][:, None], n_mismatches, axis=1)
    taken = np.unique(triplets[:, 0] * n_rows + triplets[:, 1])
    missing = np.ones(mismatches.shape, dtype=bool)
    for _ in range(MISMATCH_DRAWS):
        drawn = rng.integers(n_rows, size=mismatches.shape)
        missing_here = np.isin(x[:, None] * n_rows + drawn, taken) | (drawn == x[:, None])
        mismatches = np.where(missing & ~missing_here, drawn, mismatches)
        missing &= missing_here
        if not missing.any():
            break
    learning = triplets if judging.all() else triplets[~judging]
    return Comparisons(learning[:, 0], learning[:, 1], learning[:, 2:]), Comparisons(x, y, mismatches)


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
    """The data of a search for weights: columns are divided by their units, and weights become shares of a distance."""

    columns: Array  # of shape (n_features, n_rows), in their units
    log_units: Array  # the logarithms of |unit|^p, minus infinity for constant columns
    triples: Comparisons  # what proposes weights
    judges: Comparisons  # what decides between them
    n_mismatches: int  # the size of one set: ranks go from one to it plus one
    p: int  # the order of the distance

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
        values, names = table_inputs(self, X, ensure_min_samples=3)
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
