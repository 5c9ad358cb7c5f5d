"""Locally adaptive nearest neighbours: every training case has its own metric for the distances to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from numbers import Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state

from whynear.data.rows import TimeOrder
from whynear.learn.inputs import (
    ClassWeight,
    Labelled,
    check_for_stream,
    fit_inputs,
    groups_that_count,
    measurable_inputs,
    stream_inputs,
    weighed,
)
from whynear.learn.lann import objective as lann
from whynear.learn.lann.fitting import FitSettings, FittedMetrics, fit_local_metrics
from whynear.learn.lann.training import Schedule, StepRule, local_metric, train_stream
from whynear.learn.mixins import CheckedWhenLoaded, VotingCases, WithMetric, measured_to
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback, watcher
from whynear.metric import Evidence, LocalMetric
from whynear.model.files import register
from whynear.search import CandidateSearch
from whynear.search.exact import ExactSearch
from whynear.search.voting import Votes, cast_votes, vote_weights
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, choice, number, whole

FitMetrics = Callable[..., FittedMetrics]

STREAM_SCHEDULE = Schedule(1, 0.1, 0.3, 0.003)  # used without held-out cases to choose by
EXACT_SEARCH_CASES = 200_000  # up to which "auto" searches among all of them
ZERO_SQ_DISTANCE = 1e-20  # and below: rounding, where a k-th neighbour is at about one


@register
class LANN(CheckedWhenLoaded, VotingCases, WithMetric, ClassifierMixin, BaseEstimator):
    r"""Locally adaptive nearest neighbours: classification by the k nearest cases, each with its own metric.

    A class is supported by its cases among the k nearest, each by the inverse of its squared distance under its own
    metric. Learning first weighs the columns alike for all cases, then weights of its own for every case:
    each training case in turn moves the metrics of its neighbours so that its own class gets more support. A case never
    votes for itself.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbours that vote.
    n_components : int, default=None
        Rows of a map for each case, which starts at the map of `LMNN`; None learns a weight per column instead, which
        is enough for most tables.
    step, beta, decay, epochs : float and int, default=None
        How cases learn their own metrics: size of a step, steepness of the probabilities, share of the way back to the
        common weights after each step, and passes over the cases; no pass leaves the common weights. None is chosen
        inside `fit`; see Notes.
    shared_step, shared_epochs : float and int, default=None
        Size of a step and passes while the weights are common to all cases. None is chosen inside `fit`.
    constraint : {"box", "trace", "determinant"}, default="box"
        What keeps a metric from growing or vanishing: bounds of every weight's root, a fixed sum of the weights (the
        squares of a map's entries), or a fixed product. Only the box lets a case choose the size of its neighbourhood.
    bounds : tuple of float, default=(0.01, 10.0)
        The box, relative to the common weights.
    n_candidates : int, default=64
        How many near cases may become neighbours of a training case while it learns.
    max_anchors : int, default=None
        The most cases that `partial_fit` keeps: the oldest are removed.
    search : {"auto", "exact", "candidates"}, default="auto"
        How predictions find neighbours: among all cases, or among lists of candidates. `search_recall` measures
        what lists miss; with lists, not all contradicting copies of a case vote. "auto" is exact up to 200,000 cases,
        and every search is up to ``n_candidates``.
    n_jobs : int, default=None
        Number of threads; all cores for None.
    verbose : bool, default=False
        Whether to print the loss after every epoch.
    callback : callable, default=None
        Called after every epoch with a step that has ``n_iter`` and ``loss``; what it raises ends the fit.
    random_state : int or RandomState, default=None
        Seed of the order of cases and of the inner splits.
    class_weight : {"balanced"} or mapping, default=None
        How much the rows of each class count for the metrics, times their own weights; classes that a mapping does not
        name count once. "balanced" gives all classes the same weight together. The votes of cases stay as they are.

    Attributes
    ----------
    metric_ : LocalMetric
        One metric per training case, in units of the typical distance to a k-th neighbour.
    codes_ : ndarray of shape (n_cases,)
        The class of each case, as its place in ``classes_``.
    row_names_ : ndarray of shape (n_cases,) or None
        The index of X, or else of y, by which explanations name the cases; None if neither has one.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.
    shared_, local_ : dict
        The settings that were used for the common weights and for each case's own: epochs, step, beta, decay. Zero
        epochs where learning did not help.
    candidate_recall_ : float
        Share of the true neighbours under the learned metrics that stand in the lists of candidates.
    loss_curve_ : list of float
        The mean loss of every epoch.
    n_iter_ : int
        Number of epochs.

    Notes
    -----
    What is not given is chosen on held-out cases: splits (five folds, repeated for small tables; one or two splits for
    large ones) are learned by several settings of step, beta and decay, and their held-out cases predicted after 1, 2,
    4, 8, 14 and 20 epochs. The setting with most of them correct is taken if it beats no training by a standard error
    of the difference, first for the common weights, then for each case's own, which must also hold when every case may
    be a neighbour and not those of its list alone. Where rows, candidates, columns and epochs make that more than about
    2e9 products, there are fewer splits, then fewer settings. So the default is plain weighted neighbours on tables
    where learning makes predictions worse.

    The weight of a case multiplies its loss, and it counts by its weight when it is held out to choose a setting. When
    it votes, a case counts once whatever its weight, so that a case of weight two is not the same as two copies of it.

    Probabilities are the softmax of the support of the classes over beta; where neighbours are at distance zero, their
    shares.

    References
    ----------
    Goepfert, Wersing, Hammer: Interpretable locally adaptive nearest neighbors, 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LANN(epochs=5, step=0.1, beta=0.3, decay=0.0, shared_step=0.01, shared_epochs=5, random_state=0)
    >>> model.fit(X, y).metric_
    LocalMetric(150 anchors, 4 features: x0, x1, x2, ...)
    """

    traits = Traits(FitCost(0.3, row=6e-4, spectral=1.5), partitions="regions")
    metric_: LocalMetric
    classes_: NDArray[Any]
    codes_: Indices
    row_names_: NDArray[Any] | None
    shared_: dict[str, Any]
    local_: dict[str, Any]
    candidate_recall_: float
    loss_curve_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_neighbors: int = 5,
        n_components: int | None = None,
        step: float | None = None,
        beta: float | None = None,
        decay: float | None = None,
        epochs: int | None = None,
        shared_step: float | None = None,
        shared_epochs: int | None = None,
        constraint: Literal["box", "trace", "determinant"] = "box",
        bounds: tuple[float, float] = (0.01, 10.0),
        n_candidates: int = 64,
        max_anchors: int | None = None,
        search: Literal["auto", "exact", "candidates"] = "auto",
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.step = step
        self.beta = beta
        self.decay = decay
        self.epochs = epochs
        self.shared_step = shared_step
        self.shared_epochs = shared_epochs
        self.constraint = constraint
        self.bounds = bounds
        self.n_candidates = n_candidates
        self.max_anchors = max_anchors
        self.search = search
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.callback = callback
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        groups: ArrayLike | TimeOrder | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn a metric for every case; time O(n m d) an epoch for m candidates, memory O(n (m + d)).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : array-like of shape (n_samples,)
            Their classes.
        groups : array-like of shape (n_samples,) or TimeOrder, optional
            Cases of one group, such as those of one patient, are held out together when parameters are chosen; with a
            `TimeOrder`, later cases are held out.
        sample_weight : array-like of shape (n_samples,), optional
            How much the loss of each case counts, relative to the others; see Notes. A case of weight zero is left out.
        """
        data = weighed(fit_inputs(self, X, y, sample_weight), self.class_weight)
        held_together = groups_that_count(groups, len(np.asarray(y)), sample_weight)
        return self.fit_labelled(data, partial(fit_local_metrics, groups=held_together))

    def fit_labelled(self, data: Labelled, fit_metrics: FitMetrics = fit_local_metrics) -> Self:
        """Learn from a checked training set of weighed rows, by the training of `fit` or another."""
        settings = self._settings(len(data.classes), len(data.X))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        watch = watcher(type(self).__name__, self.verbose, self.callback)
        fitted = fit_metrics(data.X, data.codes, data.weights, settings, seed=seed, watch=watch, n_jobs=self.n_jobs)
        self.classes_, self.codes_, self.row_names_ = data.classes, data.codes, data.row_names
        self.shared_, self.local_ = asdict(fitted.shared), asdict(fitted.local)
        self.candidate_recall_ = fitted.recall
        self.loss_curve_, self.n_iter_ = fitted.loss_curve, len(fitted.loss_curve)
        self._factors, self._start = np.where(data.varying, fitted.factors, 0.0), fitted.start
        self.metric_ = local_metric(data.X, fitted.lam * self._factors, data.feature_names)
        return self

    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a part of a stream, case by case: each moves its neighbours' metrics, then becomes a case itself.

        However the stream is cut into parts, the result is the same. Without a `fit` before it, columns must be
        scaled (StandardScaler), and parameters that are None get fixed values. With no epochs, given or chosen
        by `fit`, cases are only kept.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array-like, optional
            All classes that may occur; needed on the first call, unless `fit` came before.
        sample_weight : array-like of shape (n_samples,), optional
            What the loss of each case is multiplied by. A case of weight zero is left out.
        """
        check_for_stream(self.class_weight)
        data = weighed(stream_inputs(self, X, y, classes, sample_weight, least=1), self.class_weight)
        self.check_settings()
        if not hasattr(self, "metric_"):
            self._begin_stream(data.classes, data.X.shape[1])
            anchors, codes, lam = np.empty((0, data.X.shape[1])), np.empty(0, dtype=np.intp), self._start[None][:0]
            names = data.row_names
        else:
            roots = np.sqrt(self.metric_.maps) if self.metric_.omegas is None else self.metric_.maps
            counting = self._factors > 0
            lam = np.where(counting, roots / np.where(counting, self._factors, 1.0), self._start)
            anchors, codes = self.metric_.anchors, self.codes_
            known_names, names = getattr(self, "row_names_", None), data.row_names
            names = None if known_names is None or names is None else np.concatenate([known_names, names])
        known, window = len(anchors), self.max_anchors or np.iinfo(np.intp).max
        rows, codes = np.vstack([anchors, data.X]), np.concatenate([codes, data.codes])
        lam = np.concatenate([lam, np.repeat(self._start[None], len(data.X), axis=0)])
        weights = np.concatenate([np.ones(known), data.weights])
        schedule = Schedule(**self.local_)
        if schedule.epochs == 0:  # nothing is learned: new cases only become anchors
            schedule = replace(schedule, step=0.0, decay=0.0)
        rule = schedule.applied_to(self._settings(len(self.classes_), len(rows) + 1).rule)
        mapped = rows * self._factors
        total = train_stream(mapped, codes, weights, lam, self._start, known, window, rule, self.n_neighbors)
        kept = slice(max(0, len(rows) - window), None)
        self.codes_, self.loss_curve_ = codes[kept], [*self.loss_curve_, total / data.weights.sum()]
        self.row_names_ = None if names is None else names[kept]
        self.n_iter_ = len(self.loss_curve_)
        self.metric_ = local_metric(rows[kept], lam[kept] * self._factors, data.feature_names)
        return self

    def evidence_of(self, cases: Array) -> Evidence:
        """The training cases that vote, nearest first: each by its inverse squared distance, those at zero alone.

        If many cases are copies of a query, some vote for all of them in an exact search; lists find only their own.
        """
        search, k = self._search(), self._n_votes
        if isinstance(search, ExactSearch):
            votes = cast_votes(search, self.codes_, cases, k, np.reciprocal, ZERO_SQ_DISTANCE)
        else:
            sq, indices = search.find(cases, k)
            votes = Votes(sq, indices, vote_weights(sq, np.reciprocal, ZERO_SQ_DISTANCE))
        return self._evidence(self.metric_.anchors, votes)

    def search_recall(self, X: ArrayLike) -> float:
        """The share of the true neighbours of these cases that predictions find: one for an exact search."""
        queries, search = measurable_inputs(self, X), self._search()
        return 1.0 if isinstance(search, ExactSearch) else search.recall(queries, self._n_votes)

    def _probabilities(self, evidence: Evidence, support: Array) -> Array:
        """Softmax of the support of the classes over beta; where neighbours are at distance zero, their shares."""
        probabilities: Array = softmax(support / self.local_["beta"], axis=1)
        certain = evidence.sq_distances[:, 0] <= ZERO_SQ_DISTANCE
        probabilities[certain] = support[certain] / support[certain].sum(axis=1, keepdims=True)
        return probabilities

    @property
    def _n_votes(self) -> int:
        return min(self.n_neighbors, len(self.metric_))

    def _search(self) -> ExactSearch | CandidateSearch:
        limits = {"exact": np.inf, "auto": EXACT_SEARCH_CASES, "candidates": 0}
        # Lists that hold every case find the same neighbours.
        if len(self.metric_) <= max(limits[self.search], self.n_candidates):
            return self._kept_search(ExactSearch, self.metric_, self.metric_.anchors, n_jobs=self.n_jobs)
        return self._kept_search(CandidateSearch, self.metric_, n_candidates=self.n_candidates, n_jobs=self.n_jobs)

    def with_metric(self, metric: Any) -> Self:
        """Return a copy whose cases measure by another local metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if not isinstance(twin.metric_, LocalMetric):
            raise ValueError(f"metric must be local, got a {type(twin.metric_).__name__} instead.")
        twin.metric_ = measured_to(twin.metric_, self.metric_.anchors, "training cases")
        return twin

    def _begin_stream(self, classes: NDArray[Any], n_features: int) -> None:
        given = {"epochs": 0 if self.epochs == 0 else 1, "step": self.step, "beta": self.beta, "decay": self.decay}
        self.local_ = asdict(STREAM_SCHEDULE) | {name: value for name, value in given.items() if value is not None}
        self.shared_ = {**self.local_, "epochs": 0}
        self.classes_, self.loss_curve_ = classes, []
        self._factors = np.full(n_features, 1.0 / np.sqrt(n_features))
        self._start = np.ones(n_features) if self.n_components is None else np.eye(self.n_components, n_features)

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        super().restore_fields()
        for name in ("shared_", "local_"):
            if hasattr(self, name):
                number(f"beta of {name}", Schedule(**getattr(self, name)).beta, above=0)

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        choice("constraint", self.constraint, [name.lower() for name in lann.Constraint.__members__])
        choice("search", self.search, ("auto", "exact", "candidates"))
        check_parameters(self, whole, "n_neighbors", "n_candidates")
        check_parameters(self, whole, "n_components", "max_anchors", optional=True)
        check_parameters(self, whole, "epochs", "shared_epochs", least=0, optional=True)
        check_parameters(self, number, "step", "shared_step", optional=True)
        check_parameters(self, number, "beta", above=0, optional=True)
        check_parameters(self, number, "decay", most=1, optional=True)
        if self.n_candidates < self.n_neighbors:
            raise ValueError(f"n_neighbors={self.n_neighbors} must be at most n_candidates={self.n_candidates}.")
        if (self.n_components or 0) > self.n_features_in_:
            raise ValueError(
                f"n_components={self.n_components} asks for more directions than X has features "
                f"({self.n_features_in_}). Use 1 <= n_components <= {self.n_features_in_}, or None."
            )
        if self.n_components is not None and self.constraint == "determinant":
            raise ValueError("constraint='determinant' is for weights: use n_components=None, or another constraint.")
        bounds = np.asarray(self.bounds, dtype=object)
        numbers = bounds.shape == (2,) and all(isinstance(bound, Real) for bound in bounds)
        if not (numbers and 0 < bounds[0] < 1 < bounds[1] < np.inf):
            raise ValueError(f"bounds={self.bounds!r} must be two positive numbers, on both sides of one.")

    def _settings(self, n_classes: int, n_rows: int) -> FitSettings:
        self.check_settings()
        low, high = map(float, self.bounds)
        constraint = lann.Constraint[self.constraint.upper()]
        rule = StepRule(min(self.n_neighbors, n_rows - 1), n_classes, 1.0, 0.0, 0.0, constraint, low, high)
        shared = {"epochs": self.shared_epochs, "step": self.shared_step, "beta": self.beta}
        local = {"epochs": self.epochs, "step": self.step, "beta": self.beta, "decay": self.decay}
        return FitSettings(rule, shared, local, self.n_components, self.n_candidates)
