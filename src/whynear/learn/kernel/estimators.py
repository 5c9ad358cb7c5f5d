"""RFM and RFMRegressor: kernel regression for classes and numbers under a distance that it learns itself."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from whynear.data.rows import RowSplit, TimeOrder, forward_splits, n_different, split_rows
from whynear.learn.blocks import HeldBlocks
from whynear.learn.inputs import (
    ClassWeight,
    Labelled,
    checked_weights,
    fit_inputs,
    forget_table,
    groups_that_count,
    measurable_inputs,
    range_of_columns,
    warn_of_constant_columns,
    weighed,
)
from whynear.learn.kernel.choosing import CANDIDATES, Candidate, choose, steps_that_help
from whynear.learn.kernel.learning import COLUMNS, SHAPES, Columns, Coordinates, Rows, Shape, order_of, steps
from whynear.learn.kernel.leaves import PREDICTION_BYTES, Each, Kernel, LeafModels, Leaves, fit_leaves
from whynear.learn.kernel.matrices import distances, kernel_of
from whynear.learn.lvq.prototypes import certainty
from whynear.learn.mixins import CheckedWhenLoaded, Predictions, WithEvidence, WithMetric
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback, Step, watcher
from whynear.metric import Evidence, LocalMetric
from whynear.model.files import register
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, choice, seed_of, whole
from whynear.utils.columns import (
    check_finite,
    check_magnitudes,
    check_plain,
    column_names,
    default_names,
    names_of_rows,
)
from whynear.utils.threads import row_blocks

CHOOSING_ROWS = 600  # at most, from which a shape is chosen
COMPARING_ROWS = 2_400  # from which, of a larger table, the shapes that are left are learned, and as many to compare
LEARNING_ROWS = 4_000  # at most, from which a distance is learned
GRADIENT_ROWS = 500  # at most, over which squared derivatives are averaged
FORWARD_FOLDS = 5
HOLDING_OUT = 5  # parts of the rows, of which one is held out to count steps


class LearnedKernel(CheckedWhenLoaded, WithEvidence, WithMetric):
    """What classes and numbers share: a kernel model of the training rows under a learned distance."""

    traits = Traits(FitCost(0.05, row=4e-4, entry=1e-5), partitions="leaves")
    classifies: ClassVar[bool]
    shape: str
    columns: str
    max_steps: int
    n_folds: int
    random_state: int | RandomState | None
    verbose: bool
    callback: Callback | None
    n_jobs: int | None
    metric_: Any
    cases_: Array
    coefficients_: Array
    constants_: Array
    members_: Indices
    leaves_: Indices
    cuts_: dict[str, Any]
    width_: float
    ridge_: float
    shape_: Shape
    columns_: Columns
    n_steps_: int
    row_names_: NDArray[Any] | None
    input_range_: Array
    search_results_: dict[str, list[Any]]

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        choice("shape", self.shape, ("auto", *SHAPES))
        choice("columns", self.columns, ("auto", *COLUMNS))
        check_parameters(self, whole, "max_steps", least=0)
        check_parameters(self, whole, "n_folds", least=2)

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        super().restore_fields()
        if hasattr(self, "metric_"):
            tree = Leaves(**self.cuts_)
            tree.check(self.metric_.n_features)
            for name, end in (("members_", len(self.cases_)), ("leaves_", tree.n_leaves)):
                array = getattr(self, name)
                if array.dtype.kind != "i" or array.min(initial=0) < 0 or array.max(initial=0) >= end:
                    raise ValueError(f"{name} has numbers of none")

    def _learn(self, data: Labelled, Y: Array, groups: Any, each: Each, unit: float = 1.0) -> Array:
        """Learn the metric and the model of checked rows; return the outputs for each of them, held out.

        Outputs are predicted in the ``unit`` given, which is that of the coefficients. The models of leaves are fitted
        by ``each``, a map over them.

        Copies of a row count as one row of their weight together, and are left out together. The order in which rows
        are taken depends only on the order of the values within columns, not on that of the table or on its units.
        """
        vars(self).pop("search_results_", None)  # of an earlier fit
        rng = np.random.default_rng(seed_of(self.random_state))
        first, copy_of = _distinct(data.X, Y, groups)
        of_copies = np.asarray(np.bincount(copy_of, weights=data.weights), dtype=np.float64)
        apart = None if groups is None else groups[first]
        origin = np.average(Y, axis=0, weights=data.weights)
        table = _Table(data.X[first], (Y[first] - origin) / unit, of_copies, data.codes[first], apart)
        some = _at_most(LEARNING_ROWS, len(first), rng)
        candidate, n_steps = self._chosen(table, some, rng)
        coordinates = Coordinates.of(table.X[some], of_copies[some], candidate.columns)
        rows = table.rows(some)._replace(X=coordinates.inside(table.X[some]))
        watch = watcher(type(self).__name__, self.verbose, self.callback)
        for step, fit in enumerate(steps(rows, candidate.shape, n_steps, _at_most(GRADIENT_ROWS, len(some), rng))):
            watch(Step(step + 1, fit.error))
        self.cases_, self.row_names_, self.input_range_ = data.X.copy(), data.row_names, range_of_columns(data.X)
        self.metric_ = coordinates.metric(fit.weights, candidate.shape, data.feature_names)
        self.shape_, self.columns_ = candidate.shape, candidate.columns
        self.width_, self.n_steps_ = fit.width, step
        sizes = fit.weights if fit.weights.ndim == 1 else np.linalg.norm(fit.weights, axis=1)
        leaves = Leaves.of(table.X, lambda X: np.std(coordinates.inside(X), axis=0) * sizes)
        placed, kernel = self.metric_.mapped(table.X), Kernel(order_of(self.shape_), self.width_, self.n_jobs)
        model = fit_leaves(
            leaves,
            table.X,
            lambda places: table.rows(places)._replace(X=placed[places]),
            kernel,
            fit.ridge,
            each,
        )
        self.cuts_, self.ridge_ = dict(vars(leaves)), model.ridge
        self.constants_ = unit * np.asarray(model.constant, dtype=np.float64) + origin
        self._keep_coefficients(model, copy_of, unit * data.weights / of_copies[copy_of])
        return np.asarray(unit * model.held_out[copy_of] + origin, dtype=np.float64)

    def _keep_coefficients(self, model: LeafModels, copy_of: Indices, factors: Array) -> None:
        """Set the rows of each leaf and their coefficients, of which each copy of a row has its part."""
        members, leaves, coefficients = [], [], []
        for leaf, (rows, alpha) in enumerate(zip(model.rows, model.alphas, strict=True)):
            place = np.full(copy_of.max() + 1, -1)
            place[rows] = np.arange(len(rows))
            own = np.flatnonzero(place[copy_of] >= 0)
            members.append(own)
            leaves.append(np.full(len(own), leaf))
            coefficients.append(factors[own, None] * np.asarray(alpha[place[copy_of[own]]], dtype=np.float64))
        self.members_, self.leaves_ = np.concatenate(members), np.concatenate(leaves)
        self.coefficients_ = np.concatenate(coefficients)

    def _chosen(self, table: _Table, learning: Indices, rng: np.random.Generator) -> tuple[Candidate, int]:
        """Return the shape and the number of steps, chosen in folds, the number of steps on as many rows as learn."""
        candidates = [
            one for one in CANDIDATES if self.shape in ("auto", one.shape) and self.columns in ("auto", one.columns)
        ]
        some = learning[_at_most(CHOOSING_ROWS, len(learning), rng)]
        parts = table.folds(some, self.n_folds, self.classifies, rng)
        if not parts:
            return candidates[0], 0

        def gradient_rows(n: int) -> Indices:
            return _at_most(GRADIENT_ROWS, n, np.random.default_rng(0))

        found = choose(
            table.X[some], lambda places: table.rows(some[places]), parts, candidates, self.max_steps, gradient_rows
        )
        self.search_results_ = {
            "shape": [one.shape for one in found.losses],
            "columns": [one.columns for one in found.losses],
            "loss": list(found.losses.values()),
        }
        if len(some) == len(learning):
            return found.candidate, found.n_steps
        many = len(table.X) > LEARNING_ROWS
        if many:
            learning = _at_most(2 * COMPARING_ROWS, len(table.X), rng)
        split = table.folds(learning, 2 if many else HOLDING_OUT, self.classifies, rng)[0]
        rows_of = lambda places: table.rows(learning[places])  # noqa: E731
        if many:
            near = [one for one in candidates if one in found.losses]
            found = choose(table.X[learning], rows_of, [split], near, self.max_steps, gradient_rows)
            return found.candidate, found.n_steps
        n_steps = steps_that_help(table.X[learning], rows_of, split, found.candidate, self.max_steps, gradient_rows)
        return found.candidate, n_steps

    def _kernel(self, cases: Array, known: Array) -> tuple[Array, Array]:
        """Return the distances of checked rows to some of the training rows, and the kernel of both."""
        metric = self.metric_
        D = distances(metric.mapped(cases), metric.mapped(known), order=order_of(self.shape_), n_jobs=self.n_jobs)
        return D, kernel_of(D.copy(), self.width_)

    def _outputs(self, X: ArrayLike) -> Array:
        """Return the outputs of the model for rows, in blocks of bounded memory."""
        cases = measurable_inputs(self, X)  # first: it refuses a model that is not fitted
        found = np.tile(self.constants_, (len(cases), 1))
        shares = Leaves(**self.cuts_).shares(cases)
        for leaf, of_leaf in enumerate(shares.T):
            own, new = np.flatnonzero(self.leaves_ == leaf), np.flatnonzero(of_leaf)
            known, coefficients = self.cases_[self.members_[own]], self.coefficients_[own]
            for block in row_blocks(len(new), row_bytes=24 * len(own), budget=PREDICTION_BYTES):
                rows = new[block]
                found[rows] += of_leaf[rows, None] * (self._kernel(cases[rows], known)[1] @ coefficients)
        return found

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that measures the distances to its training rows by another metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if isinstance(twin.metric_, LocalMetric):
            raise ValueError(
                f"{type(self).__name__} measures by one metric for all cases, and metric is local, with "
                f"{len(twin.metric_)} anchors. Use LANN for it."
            )
        twin.shape_ = "l1" if getattr(twin.metric_, "p", 2.0) == 1.0 else "map"
        return twin

    def evidence_of(self, cases: Array) -> Evidence:
        """All training rows, nearest first, with the signed share of each in every output; see `Evidence`.

        The shares and ``base`` add up to the outputs of the model. Of more than 20,000 rows, they are those of the
        leaves that predict any of the cases.
        """
        of_leaves = Leaves(**self.cuts_).shares(cases)
        counting = of_leaves.max(axis=0)[self.leaves_] > 0
        known, place = np.unique(self.members_[counting], return_inverse=True)
        D, K = self._kernel(cases, self.cases_[known])
        shares = np.zeros((*K.shape, len(self.constants_)))
        for leaf in np.unique(self.leaves_[counting]):
            own = np.flatnonzero(self.leaves_[counting] == leaf)
            of_leaf = K[:, place[own]] * of_leaves[:, [leaf]]
            shares[:, place[own]] += of_leaf[:, :, None] * self.coefficients_[counting][own]
        nearest = np.argsort(D, axis=1, kind="stable")
        along, order = np.take_along_axis(D, nearest, axis=1), known[nearest]
        shares = np.take_along_axis(shares, nearest[:, :, None], axis=1)
        return self._evidence(order, along if order_of(self.shape_) == 1 else np.square(along), shares)

    def _evidence(self, order: Indices, sq: Array, shares: Array) -> Evidence:
        raise NotImplementedError


class _Table(NamedTuple):
    """Different training rows: targets, weights and classes, and the groups or times by which they are held out."""

    X: Array
    Y: Array
    weights: Array
    strata: Indices
    groups: Indices | TimeOrder | None

    def rows(self, places: Indices) -> Rows:
        """Return some of the rows, as they are held out."""
        groups = None if self.groups is None else self.groups[places]
        rows = Rows(self.X[places], self.Y[places], self.weights[places])
        if groups is None or n_different(groups) < 2:
            return rows
        if isinstance(groups, TimeOrder):
            return rows._replace(forward=forward_splits(groups, FORWARD_FOLDS) or None)
        return rows._replace(groups=groups)

    def folds(self, places: Indices, n_folds: int, classes: bool, rng: np.random.Generator) -> list[RowSplit]:
        """Return folds of some rows that leave two classes to learn from; none where there are none."""
        strata, groups = self.strata[places], None if self.groups is None else self.groups[places]
        n_folds = min(n_folds, int(np.bincount(strata).max()) if classes else len(places) // 2)
        if n_folds < 2:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of classes with fewer rows than folds
            parts = split_rows(strata, n_folds, int(rng.integers(2**31)), stratified=classes, groups=groups)
        return [part for part in parts if len(part[0]) > 1 and (not classes or len(np.unique(strata[part[0]])) > 1)]


def _distinct(X: Array, Y: Array, groups: Indices | TimeOrder | None) -> tuple[Indices, Indices]:
    """Return a place of each different row, and which of them each row is.

    They are in an order that depends on the order of values within columns alone.
    """
    apart = [] if groups is None else [groups.times if isinstance(groups, TimeOrder) else groups]
    columns = [np.unique(column, return_inverse=True)[1] for column in (*X.T, *Y.T, *apart)]
    keys = pd.util.hash_pandas_object(pd.DataFrame(dict(enumerate(columns))), index=False).to_numpy()
    _, first, copy_of = np.unique(keys, return_index=True, return_inverse=True)
    return first, copy_of


def _at_most(most: int, n: int, rng: np.random.Generator) -> Indices:
    """Return all of n places, or so many that are drawn."""
    return np.arange(n) if n <= most else np.sort(rng.permutation(n)[:most])


@register
class RFM(LearnedKernel, ClassifierMixin, BaseEstimator):
    r"""Recursive feature machine: classes by kernel regression under a distance that it learns from its own gradients.

    Every training row has a share in every prediction, which is larger the nearer it is. The distance comes from the
    model itself: a column weighs as much as the predictions change along it. Both are fitted in turn.

    Parameters
    ----------
    shape : {"auto", "l1", "diagonal", "map"}, default="auto"
        The distance D: ``"l1"`` is :math:`\sum_j w_j |x_j - z_j|`, ``"diagonal"`` the root of
        :math:`\sum_j w_j^2 (x_j - z_j)^2`, ``"map"`` that of :math:`\|\Omega (x - z)\|^2`. ``"auto"`` takes the
        simplest within a standard error of the best, in folds in which the distance is learned too.
    columns : {"auto", "values", "ranks"}, default="auto"
        Whether columns are taken as they are or as ranks, which keep the order of values only.
    max_steps : int, default=10
        Most steps of learning the distance. As many are made as lower the error of rows held out from the learning.
    n_folds : int, default=3
        Number of folds in which shape and steps are chosen.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of the rows that stand for all where there are many.
    verbose : bool, default=False
        Whether to print each step.
    callback : callable, default=None
        Called with a `Step` after each step; an exception ends the fit.
    n_jobs : int, default=None
        Number of threads that measure distances, all cores for None or -1.
    class_weight : {"balanced"} or mapping, default=None
        How much the rows of each class count, times their own weights; classes that a mapping does not name count once.

    Attributes
    ----------
    metric_ : MinkowskiMetric, DiagonalMetric, LinearMetric or MonotoneMetric
        The distance learned: of order one or two, or a map; of ranks behind a monotone map of each column.
    classes_ : ndarray of shape (n_classes,)
        The labels.
    cases_, codes_ : ndarrays of shape (n_samples, n_features), (n_samples,)
        The training rows, and the places of their labels in ``classes_``.
    coefficients_, constants_ : ndarrays of shape (n_members, n_classes), (n_classes,)
        The scores of a row x are ``constants_`` plus the sum of the coefficients times the kernel exp(-D(x, z) / width)
        of the training rows z. They sum to one.
    members_, leaves_, cuts_ : ndarrays of shape (n_members,), and a dict of ndarrays
        Which training row each coefficient is of, and in which leaf, a part of the space; and the cuts between leaves.
        Up to 20,000 different rows there is one leaf, of all rows.
    held_out_ : ndarray of shape (n_samples, n_classes)
        The probabilities of each training row by the model without it, exactly, under the same distance. Copies of a
        row, and rows of its group, are left out with it; by a time order, all later rows.
    certainty_ : float
        Probabilities are the softmax of the scores times this number, which fits the scores of held-out rows best.
    shape_, columns_, n_steps_ : str, str, int
        What was chosen, or given, and the number of steps.
    width_, ridge_ : float, float
        Of the kernel and of the penalty, by the least squared error of rows left out.
    search_results_ : dict of lists
        Each shape that was tried in all folds, with its mean squared error there at its best number of steps.
    row_names_ : ndarray of shape (n_samples,) or None
        The index of X, or else of y, by which explanations name the training rows; None if neither has one.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.

    Notes
    -----
    A step sets :math:`w_j^2` to the mean square of the derivative along column j over the training rows, or
    :math:`\Omega^T \Omega` to the mean product of all derivatives (average gradient outer product in the paper).
    Such weights say where this model changes, and not what would be lost without a column: see `verdicts`.

    Columns are taken to a mean of zero and a deviation of one, or to ranks, so that their units change nothing. Of more
    than 4,000 rows the distance is learned from as many, and the last model, in which all rows take part, has single
    precision. Time O(n^3), memory O(n^2).

    More than 20,000 different rows are divided into leaves of about 10,000, by cuts at values of the columns along
    which they are farthest apart; the rows near a cut belong to both sides. All leaves share the distance. A prediction
    comes from the rows of one leaf, or near a cut from those of both. Leaves are fitted one after the other.

    References
    ----------
    Radhakrishnan, Beaglehole, Pandit, Belkin: Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models, Science 383, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RFM(random_state=0).fit(X, y)
    >>> bool((model.classes_[model.held_out_.argmax(axis=1)] == y).mean() > 0.94)
    True
    """

    classifies = True
    classes_: NDArray[Any]
    codes_: Indices
    certainty_: float
    held_out_: Array

    def __init__(
        self,
        shape: Literal["auto", "l1", "diagonal", "map"] = "auto",
        columns: Literal["auto", "values", "ranks"] = "auto",
        max_steps: int = 10,
        n_folds: int = 3,
        random_state: int | RandomState | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        self.shape = shape
        self.columns = columns
        self.max_steps = max_steps
        self.n_folds = n_folds
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.n_jobs = n_jobs
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: Any = None) -> Self:
        """Learn the distance and the model."""
        self.check_settings()
        data = weighed(fit_inputs(self, X, y, sample_weight), self.class_weight)
        return self.fit_labelled(data, groups_that_count(groups, len(np.asarray(y)), sample_weight))

    def fit_labelled(self, data: Labelled, groups: Any = None, each: Each = map) -> Self:
        """Learn from a checked training set of weighed rows; ``each`` maps the leaves of many rows to their models."""
        held_out = self._learn(data, np.eye(len(data.classes))[data.codes], groups, each)
        self.classes_, self.codes_ = data.classes, data.codes
        scores = Labelled(held_out, data.codes, data.classes, tuple(map(str, data.classes)), data.weights)
        self.certainty_ = certainty(HeldBlocks.of(scores.distinct()))
        self.held_out_ = self._probabilities(held_out)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """The scores of the classes, which sum to one; of two classes that of the second less that of the first."""
        scores = self._outputs(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of the largest score."""
        scores = self._outputs(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes: softmax of the scores times ``certainty_``, which held-out rows determine."""
        return self._probabilities(self._outputs(X))

    def predictions_from(self, evidence: Evidence) -> Predictions:
        """Return what `predict` and `predict_proba` return for the cases of this `evidence`."""
        scores = evidence.support()
        return Predictions(self.classes_[scores.argmax(axis=1)], self._probabilities(scores))

    def _evidence(self, order: Indices, sq: Array, shares: Array) -> Evidence:
        votes = np.take_along_axis(shares, self.codes_[order][:, :, None], axis=2)[:, :, 0]
        names, labels = getattr(self, "row_names_", None), self.classes_[self.codes_]
        return Evidence(
            self.cases_, labels, order, sq, votes, self.classes_, names, shares=shares, base=self.constants_
        )

    def _probabilities(self, scores: Array) -> Array:
        probabilities: Array = softmax(self.certainty_ * scores, axis=1)
        return probabilities


@register
class RFMRegressor(LearnedKernel, RegressorMixin, BaseEstimator):
    r"""Recursive feature machine: numbers by kernel regression under a distance that it learns from its own gradients.

    Predictions are never beyond the range of the training targets. See `RFM` for the method.

    Parameters
    ----------
    shape : {"auto", "l1", "diagonal", "map"}, default="auto"
        The distance D: ``"l1"`` is :math:`\sum_j w_j |x_j - z_j|`, ``"diagonal"`` the root of
        :math:`\sum_j w_j^2 (x_j - z_j)^2`, ``"map"`` that of :math:`\|\Omega (x - z)\|^2`. ``"auto"`` takes the
        simplest within a standard error of the best, in folds in which the distance is learned too.
    columns : {"auto", "values", "ranks"}, default="auto"
        Whether columns are taken as they are or as ranks, which keep the order of values only.
    max_steps : int, default=10
        Most steps of learning the distance. As many are made as lower the error of rows held out from the learning.
    n_folds : int, default=3
        Number of folds in which shape and steps are chosen.
    random_state : int, RandomState or None, default=None
        Seed of the folds, and of the rows that stand for all where there are many.
    verbose : bool, default=False
        Whether to print each step.
    callback : callable, default=None
        Called with a `Step` after each step; an exception ends the fit.
    n_jobs : int, default=None
        Number of threads that measure distances, all cores for None or -1.

    Attributes
    ----------
    metric_ : MinkowskiMetric, DiagonalMetric, LinearMetric or MonotoneMetric
        The distance learned: of order one or two, or a map; of ranks behind a monotone map of each column.
    cases_, targets_ : ndarrays of shape (n_samples, n_features), (n_samples,)
        The training rows and their targets.
    coefficients_, constants_ : ndarrays of shape (n_members, 1), (1,)
        The prediction for a row x is ``constants_`` plus the sum of the coefficients times the kernel
        exp(-D(x, z) / width) of the training rows z, cut to the range of the training targets.
    held_out_ : ndarray of shape (n_samples,)
        The prediction of each training row by the model without it; see `RFM`.
    shape_, columns_, n_steps_, width_, ridge_, search_results_, row_names_, input_range_,
    members_, leaves_, cuts_
        As for `RFM`.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.metrics import r2_score
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RFMRegressor(random_state=0).fit(X, y)
    >>> bool(r2_score(y, model.held_out_) > 0.45)
    True
    """

    classifies = False
    targets_: Array
    held_out_: Array

    def __init__(
        self,
        shape: Literal["auto", "l1", "diagonal", "map"] = "auto",
        columns: Literal["auto", "values", "ranks"] = "auto",
        max_steps: int = 10,
        n_folds: int = 3,
        random_state: int | RandomState | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.shape = shape
        self.columns = columns
        self.max_steps = max_steps
        self.n_folds = n_folds
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: Any = None) -> Self:
        """Learn the distance and the model."""
        self.check_settings()
        check_plain(X)
        values, target = validate_data(
            self, X, y, dtype=np.float64, y_numeric=True, ensure_all_finite=False, ensure_min_samples=2
        )
        names = column_names(X) or default_names(values.shape[1])
        check_finite(values, names)
        check_magnitudes(values, names, by_column=True)
        check_finite(target[:, None], ["y"], "y")
        weights = checked_weights(sample_weight, len(values), X)
        counting, rows = weights > 0, names_of_rows(X, y)
        apart = groups_that_count(groups, len(values), sample_weight)
        values, target, weights = values[counting], target[counting].astype(np.float64), weights[counting]
        rows = None if rows is None else rows[counting]
        forget_table(self)
        data = Labelled(values, np.zeros(len(values), dtype=np.intp), np.array([]), tuple(names), weights, rows)
        warn_of_constant_columns(names, data.varying)
        return self.fit_numbers(data, target, apart)

    def fit_numbers(self, data: Labelled, target: Array, groups: Any = None, each: Each = map) -> Self:
        """Learn from checked rows and their targets; ``each`` maps the leaves of many rows to their models."""
        self.targets_ = target
        held_out = self._learn(data, target[:, None], groups, each, unit=float(np.std(target)) or 1.0)
        self.held_out_ = self._within_reach(held_out[:, 0])
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the target, never beyond the range of the training targets."""
        return self._within_reach(self._outputs(X)[:, 0])

    def _within_reach(self, outputs: Array) -> Array:
        return np.clip(outputs, self.targets_.min(), self.targets_.max())

    def _evidence(self, order: Indices, sq: Array, shares: Array) -> Evidence:
        """Shares are made smaller where their sum is beyond the range of the training targets, so that they add up."""
        base = self.constants_
        sums = shares.sum(axis=1)
        wanted = self._within_reach(base + sums) - base
        shares = shares * np.divide(wanted, sums, out=np.ones_like(sums), where=sums != wanted)[:, None, :]
        names = getattr(self, "row_names_", None)
        none = np.array([])
        return Evidence(self.cases_, self.targets_, order, sq, shares[:, :, 0], none, names, shares=shares, base=base)
