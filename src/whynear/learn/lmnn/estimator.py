"""LMNN, the large margin nearest neighbour learner."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import ParameterGrid, StratifiedKFold

from whynear.data.rows import RowSplit
from whynear.learn.inputs import ClassWeight, Labelled, fit_inputs, weighed
from whynear.learn.lmnn.large_margin import PairSearch, Settings, Start, learn_map
from whynear.learn.mixins import CheckedWhenLoaded, MapsCases, VotingCases, WithMetric
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback, warn_unless_converged, watcher
from whynear.metric import Evidence, LinearMetric, LocalMetric
from whynear.model.files import register
from whynear.search.exact import ExactSearch
from whynear.search.voting import neighbor_votes
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import choice, number, whole
from whynear.utils.text import counted


def inner_search(
    learner: Any, data: Labelled, grid: Mapping[str, Sequence[Any]]
) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """Return the parameters of the grid with the best mean accuracy, and a table of all: one list per column.

    ``learner`` has the parameters ``tune``, ``cv``, ``random_state``, ``class_weight``, ``verbose`` and ``callback``.
    Held-out rows count by their weights and those of their classes. Of equally accurate ones the first is best.
    """
    counting = weighed(data, learner.class_weight).weights
    folds = _folds(data, learner.cv, learner.random_state)
    tried = list(ParameterGrid({name: list(values) for name, values in grid.items()}))
    means = []
    for params in tried:
        of_rows = weighed(data, params.get("class_weight", learner.class_weight))
        alone = {**params, "tune": False, "verbose": False, "callback": None, "class_weight": None}
        candidate = clone(learner).set_params(**alone)
        means.append(float(np.mean([_accuracy(candidate, of_rows, counting, *fold) for fold in folds])))
        if learner.verbose:
            print(f"[{type(learner).__name__}] {params}: accuracy {means[-1]:.4f}", flush=True)
    results = {name: [params[name] for params in tried] for name in tried[0]}
    return dict(tried[int(np.argmax(means))]), {**results, "mean_accuracy": means}


def _accuracy(
    candidate: Any, data: Labelled, counting: Array, train: NDArray[np.intp], test: NDArray[np.intp]
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the final fit warns of small classes and slow descents
        model = clone(candidate).fit(data.X[train], data.codes[train], data.weights[train])
    return float(np.average(model.predict(data.X[test]) == data.codes[test], weights=counting[test]))


def _folds(data: Labelled, cv: int, random_state: Any) -> list[RowSplit]:
    """Stratified folds, as many as the largest class has rows at most, each leaving two classes to learn from."""
    n_splits = min(cv, int(np.bincount(data.codes).max()))
    if n_splits < 2:
        raise ValueError(
            f"An inner search needs cv >= 2 and a class of at least two rows, got cv={cv!r} and classes of at most "
            f"{counted(np.bincount(data.codes).max(), 'row')}. Leave tune=False."
        )
    splitter = StratifiedKFold(n_splits, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes with fewer rows than folds
        folds = [fold for fold in splitter.split(data.X, data.codes) if len(np.unique(data.codes[fold[0]])) > 1]
    if not folds:
        raise ValueError("No inner fold leaves two classes to learn from. Leave tune=False.")
    return folds


@register
class LMNN(CheckedWhenLoaded, VotingCases, WithMetric, MapsCases, ClassifierMixin, BaseEstimator):
    r"""Large margin nearest neighbours: the linear map that draws cases of one class near and pushes others away.

    Each case is to be nearer to its target neighbours, the nearest of its own class, than to any case of another class,
    by a margin. Cases inside the margin are impostors. All of them count at the map that is returned: pairs that cannot
    be impostors are left out while the map moves little, and searched for again when it has moved.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of target neighbours, and of the neighbours that vote. A class with fewer other rows has fewer targets; a
        class of one row has none and serves as impostor only.
    n_components : int, default=None
        Rows of the map. None takes as many as there are features, or as directions in which the data vary where there
        are more features than rows.
    init : {"auto", "pca", "identity"}, default="auto"
        Where the descent starts. "auto" is the identity for a full map and principal directions otherwise.
    push_weight : float, default=0.5
        Weight of pushing impostors away, between 0 and 1. Drawing targets near weighs the rest.
    margin : float, default=1.0
        The gap in squared distance. It sets the unit of the learned distances and changes nothing else.
    n_passes : int, default=1
        How often the map is learned. From the second time on, target neighbours are those under the map learned before,
        which helps where there are many cases and can overfit where there are few.
    max_iter : int, default=300
        Most iterations of all passes together.
    tol : float, default=0.001
        The descent ends when an iteration lowers the loss by less than this share of it.
    tune : bool or dict, default=False
        Whether to choose ``n_neighbors``, ``n_components`` and ``push_weight`` by an inner cross-validation; or a dict
        of the values to try for any parameters. Held-out rows count by their weights.
    cv : int, default=3
        Number of inner folds, fewer if the classes are small.
    random_state : int, RandomState or None, default=None
        Seed of the inner folds. The descent itself is deterministic.
    verbose : bool, default=False
        Whether to print each iteration.
    callback : callable, default=None
        Called with a `Step` after each iteration; an exception ends the fit.
    n_jobs : int, default=None
        Threads of the neighbour search, all cores for None or -1.
    class_weight : {"balanced"} or mapping, default=None
        How much the rows of each class count for the map, times their own weights; classes that a mapping does not
        name count once. "balanced" gives all classes the same weight together. The votes of cases stay as they are.

    Attributes
    ----------
    metric_ : LinearMetric
        The learned metric.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.
    cases_, codes_ : ndarrays of shape (n_samples, n_features), (n_samples,)
        The training cases, which vote, and the places of their labels in ``classes_``.
    row_names_ : ndarray of shape (n_samples,) or None
        The index of X, or else of y, by which explanations name the training cases; None if neither has one.
    loss_curve_ : list of float
        Loss after each iteration, per target neighbour and in units of the margin.
    n_iter_ : int
        Number of iterations.
    best_params_, search_results_ : dict, dict of lists
        With ``tune``: the parameters chosen, and everything tried with its mean accuracy.

    Notes
    -----
    Columns of different units should be scaled first. The loss is Weinberger and Saul's, with
    :math:`d_{ij} = \|\Omega(x_i - x_j)\|^2`, targets j and cases l of other classes:

    .. math:: \sum_{i,j} w_i ( (1-\mu) d_{ij} + \mu \sum_l [m + d_{ij} - d_{il}]_+ ) .

    The weight :math:`w_i` of a case, one unless weights are given, counts for its own targets and impostors. As target,
    as impostor and when it votes, a case counts once whatever its weight, so that a case of weight two is not the same
    as two copies of it, which would be each other's targets.

    Memory is O(n d): no array has n x n entries, nor d x d where features outnumber rows.

    References
    ----------
    Weinberger, Saul: Distance metric learning for large margin nearest neighbor classification, JMLR 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LMNN(n_neighbors=3).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    >>> model.transform(X).shape
    (150, 4)
    """

    traits = Traits(FitCost(0.02, column=3e-5, entry=2.4e-6, spectral=2.0), most_rows=20_000, partitions="pairs")
    metric_: Any
    classes_: NDArray[Any]
    codes_: Indices
    cases_: Array
    row_names_: NDArray[Any] | None
    n_votes_: int
    best_params_: dict[str, Any]
    search_results_: dict[str, list[Any]]
    loss_curve_: list[float]
    n_iter_: int

    def __init__(
        self,
        n_neighbors: int = 5,
        n_components: int | None = None,
        init: Literal["auto", "pca", "identity"] = "auto",
        push_weight: float = 0.5,
        margin: float = 1.0,
        n_passes: int = 1,
        max_iter: int = 300,
        tol: float = 1e-3,
        tune: bool | Mapping[str, Sequence[Any]] = False,
        cv: int = 3,
        random_state: int | RandomState | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.init = init
        self.push_weight = push_weight
        self.margin = margin
        self.n_passes = n_passes
        self.max_iter = max_iter
        self.tol = tol
        self.tune = tune
        self.cv = cv
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.n_jobs = n_jobs
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the map. Time O(n^2 c) for each search for impostors and O(n d c) for each iteration.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : array-like of shape (n_samples,)
            Their classes.
        sample_weight : array-like of shape (n_samples,), optional
            How much the targets and impostors of each case count, relative to the others; see Notes. A case of weight
            zero is left out.
        """
        return self.fit_labelled(fit_inputs(self, X, y, sample_weight))

    def fit_labelled(self, data: Labelled, search: PairSearch | None = None) -> Self:
        """Learn from a checked training set, with the searches of `fit` or others."""
        chosen: dict[str, Any] = {}
        for name in ("best_params_", "search_results_"):  # from an earlier fit
            self.__dict__.pop(name, None)
        if self.tune:
            chosen, self.search_results_ = inner_search(self, data, self._grid(data.X.shape))
            self.best_params_ = chosen
        params = {**self.get_params(deep=False), **chosen}
        settings, weights = self._settings(data, params), weighed(data, params["class_weight"]).weights
        watch = watcher(type(self).__name__, self.verbose, self.callback)
        omega, solution = learn_map(data.X, data.codes, weights, settings, watch, search)
        self.metric_ = LinearMetric(np.where(data.varying, omega, 0.0), data.feature_names)
        self.classes_, self.codes_, self.cases_ = data.classes, data.codes, data.X.copy()
        self.row_names_ = data.row_names
        self.n_votes_ = min(settings.n_neighbors, len(data.X))
        self.loss_curve_, self.n_iter_ = solution.loss_curve, max(1, solution.n_iter)
        warn_unless_converged(solution, self, stacklevel=4)
        return self

    def evidence_of(self, cases: Array) -> Evidence:
        """The training cases that vote, nearest first, each by the inverse of its distance, all votes summing to one.

        If many cases are copies of a query, some vote for all of them.
        """
        search = self._kept_search(ExactSearch, self.metric_, self.cases_, n_jobs=self.n_jobs)
        return self._evidence(self.cases_, neighbor_votes(search, self.codes_, cases, k=self.n_votes_))

    def _probabilities(self, _evidence: Evidence, support: Array) -> Array:
        """The share of each class: the votes sum to one."""
        return support

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that measures the distances to its cases by another metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if isinstance(twin.metric_, LocalMetric):
            raise ValueError(
                f"LMNN measures by one metric for all cases, and metric is local, with {len(twin.metric_)} anchors. "
                "Use LANN for it."
            )
        return twin

    def _grid(self, shape: tuple[int, int]) -> Mapping[str, Sequence[Any]]:
        """The values an inner search tries."""
        if isinstance(self.tune, Mapping):
            for name, values in self.tune.items():
                if isinstance(values, str) or not np.iterable(values) or not len(list(values)):
                    raise TypeError(f"tune must give a list of values to try for {name}, got {values!r} instead.")
            return self.tune
        ranks = sorted({rank for rank in (2, 5, 10, 25) if rank < min(shape)})
        return {"n_neighbors": (1, 3, 5, 9), "n_components": (None, *ranks), "push_weight": (0.1, 0.5, 0.9)}

    def _settings(self, data: Labelled, params: dict[str, Any]) -> Settings:
        """The parameters, checked against each other and the data."""
        n, d = data.X.shape
        self.check_settings(params)
        rows, init = params["n_components"], params["init"]
        full = rows in (None, d) and d <= n
        start: Start = init if init != "auto" else "identity" if full else "pca"
        if start == "identity" and rows is None and d > n:
            rows = n
        self._warn_of_small_classes(data, params["n_neighbors"])
        names = ("n_neighbors", "push_weight", "margin", "n_passes", "max_iter", "tol", "n_jobs")
        return Settings(n_components=rows, init=start, **{name: params[name] for name in names})

    def check_settings(self, params: dict[str, Any] | None = None) -> None:
        """Refuse parameters, those of the learner or others, that cannot be used, by name and value."""
        params = self.get_params(deep=False) if params is None else params
        rows, d = params["n_components"], self.n_features_in_
        for name in ("n_neighbors", "n_passes", "max_iter"):
            whole(name, params[name])
        for name, below in (("push_weight", 1.0), ("margin", np.inf), ("tol", 1.0)):
            number(name, params[name], above=0, below=below)
        choice("init", params["init"], ("auto", "pca", "identity"))
        if rows is not None and not (isinstance(rows, int | np.integer) and 1 <= rows <= d):
            raise ValueError(
                f"n_components={rows!r} is not a number of directions of the {d} features. "
                f"Use 1 <= n_components <= {d}, or None for all."
            )

    def _warn_of_small_classes(self, data: Labelled, n_neighbors: int) -> None:
        counts = np.bincount(data.codes)
        small = np.flatnonzero(counts <= n_neighbors)
        if len(small):
            named = ", ".join(f"{data.classes.tolist()[c]!r} ({counted(counts[c], 'row')})" for c in small[:5])
            warnings.warn(
                f"n_neighbors={n_neighbors} is more than some classes have other rows: {named}"
                f"{', ...' if len(small) > 5 else ''}. Their cases get as many target neighbours as there are.",
                stacklevel=4,
            )
