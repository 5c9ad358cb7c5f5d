"""RFM and RFMRegressor: kernel regression for classes and numbers under a distance that it learns itself."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
import pandas as pd
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.data.rows import RowSplit, TimeOrder, forward_splits, n_different, split_rows
from whynear.learn.blocks import HeldBlocks
from whynear.learn.inputs import (
    ClassWeight,
    FarRowsWarning,
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
from whynear.learn.kernel.choosing import CANDIDATES, Candidate, Choice, choose
from whynear.learn.kernel.intervals import Intervals, LeftOut, predictions_in_folds, reach_of
from whynear.learn.kernel.learning import COLUMNS, SHAPES, Columns, Coordinates, Rows, Shape, order_of, steps
from whynear.learn.kernel.leaves import PREDICTION_BYTES, Each, Kernel, LeafModels, Leaves, fit_leaf, fit_leaves
from whynear.learn.kernel.matrices import distances, kernel_of
from whynear.learn.kernel.ridge import mean_squares
from whynear.learn.lvq.prototypes import certainty
from whynear.learn.mixins import CheckedWhenLoaded, Predictions, WithEvidence, WithMetric
from whynear.learn.registry import FitCost, Traits
from whynear.learn.solvers import Callback, Step, watcher
from whynear.metric import Evidence, LocalMetric
from whynear.metric.base import rebuild
from whynear.model.files import register
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import check_parameters, choice, number, seed_of, whole
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
SCALING_ROWS = 500  # of which distances are compared
WEAK = 0.9  # of the variance is left by the best shape: so few rows then say little about any of them
ERROR_FOLDS = 5  # in which errors are measured for intervals
HOLDING_OUT = 5  # parts of the rows, of which one is held out to count steps


class LearnedKernel(CheckedWhenLoaded, WithEvidence, WithMetric):
    """What classes and numbers share: a kernel model of the training rows under a learned distance."""

    traits = Traits(FitCost(0.1, row=2e-3, entry=1e-5), most_rows=20_000, partitions="leaves", settled=0.15)
    classifies: ClassVar[bool]
    shape: str
    columns: str
    max_steps: int
    n_folds: int | None
    random_state: int | RandomState | None
    verbose: bool
    callback: Callback | None
    n_jobs: int | None
    metric_: Any
    cases_: Array
    weights_: Array
    coefficients_: Array
    constants_: Array
    members_: Indices
    leaves_: Indices
    cuts_: dict[str, Any]
    width_: float
    ridge_: float
    reach_: float
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
        check_parameters(self, whole, "n_folds", least=2, optional=True)
        if self.n_folds is None and "auto" in (self.shape, self.columns):
            raise ValueError(
                f"n_folds=None chooses nothing, and shape={self.shape!r} and columns={self.columns!r} leave a choice. "
                "Give both, or a number of folds."
            )

    def chosen_settings(self) -> dict[str, Any]:
        """Return the parameters that were chosen: a fit with them to other rows of the table makes no choice again."""
        return {"shape": self.shape_, "columns": self.columns_, "max_steps": self.n_steps_, "n_folds": None}

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
        self.weights_ = data.weights
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
        self.reach_ = reach_of(placed, order_of(self.shape_), self.n_jobs)
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
        if self.n_folds is None:
            return candidates[0], self.max_steps
        some = learning[_at_most(CHOOSING_ROWS, len(learning), rng)]
        parts = table.folds(some, self.n_folds, self.classifies, rng)
        if not parts:
            return candidates[0], 0

        def gradient_rows(n: int) -> Indices:
            return _at_most(GRADIENT_ROWS, n, np.random.default_rng(0))

        def chosen_from(places: Indices, splits: Sequence[RowSplit], tried: Sequence[Candidate]) -> Choice:
            def rows_of(own: Indices) -> Rows:
                return table.rows(places[own])

            found = choose(table.X[places], rows_of, splits, tried, self.max_steps, gradient_rows)
            if len(tried) > 1 or not hasattr(self, "search_results_"):
                self.search_results_ = {
                    "shape": [one.shape for one in found.losses],
                    "columns": [one.columns for one in found.losses],
                    "loss": list(found.losses.values()),
                }
            return found

        found = chosen_from(some, parts, candidates)
        if len(some) == len(learning):
            return found.candidate, found.n_steps
        many = len(table.X) > LEARNING_ROWS
        if many:
            learning = _at_most(2 * COMPARING_ROWS, len(table.X), rng)
        split = table.folds(learning, 2 if many else HOLDING_OUT, self.classifies, rng)[0]
        if min(found.losses.values()) > WEAK * table.variance(some):
            near = candidates
        else:
            near = [one for one in candidates if one in found.losses] if many else [found.candidate]
        found = chosen_from(learning, [split], near)
        return found.candidate, found.n_steps

    def _kernel(self, cases: Array, known: Array) -> tuple[Array, Array]:
        """Return the distances of checked rows to some of the training rows, and the kernel of both."""
        metric = self.metric_
        D = distances(metric.mapped(cases), metric.mapped(known), order=order_of(self.shape_), n_jobs=self.n_jobs)
        return D, kernel_of(D.copy(), self.width_)

    def _outputs(self, X: ArrayLike) -> Array:
        """Return the outputs of the model for rows."""
        return self._outputs_and_nearness(X)[0]

    def _outputs_and_nearness(self, X: ArrayLike) -> tuple[Array, Array]:
        """Return outputs, and the kernel of each row with its nearest training row, in blocks of bounded memory."""
        cases = measurable_inputs(self, X)  # first: it refuses a model that is not fitted
        found, nearness = np.tile(self.constants_, (len(cases), 1)), np.zeros(len(cases))
        shares = Leaves(**self.cuts_).shares(cases)
        for leaf, of_leaf in enumerate(shares.T):
            own, new = np.flatnonzero(self.leaves_ == leaf), np.flatnonzero(of_leaf)
            known, coefficients = self.cases_[self.members_[own]], self.coefficients_[own]
            for block in row_blocks(len(new), row_bytes=24 * len(own), budget=PREDICTION_BYTES):
                rows = new[block]
                K = self._kernel(cases[rows], known)[1]
                found[rows] += of_leaf[rows, None] * (K @ coefficients)
                nearness[rows] = np.maximum(nearness[rows], K.max(axis=1))
        return found, nearness

    def with_metric(self, metric: Any) -> Self:
        """Return a copy that measures the distances to its training rows by another metric; see `WithMetric`."""
        twin = super().with_metric(metric)
        if isinstance(twin.metric_, LocalMetric):
            raise ValueError(
                f"{type(self).__name__} measures by one metric for all cases, and metric is local, with "
                f"{len(twin.metric_)} anchors. Use LANN for it."
            )
        if (order := getattr(twin.metric_, "p", 2.0)) not in (1.0, 2.0):
            raise ValueError(f"metric has the order {order:g}, and kernels are those of distances of order 1 or 2.")
        twin.shape_ = "l1" if order == 1.0 else "map"
        twin.reach_ = reach_of(twin.metric_.mapped(twin.cases_), order_of(twin.shape_), twin.n_jobs)
        return twin

    def without(self, features: Sequence[int]) -> Self:
        """Return a copy that predicts without some columns: the weights of others stay, coefficients are fitted again.

        The width shrinks with the distances. A fit without these columns could also move their weights to others, and
        so lose less. ``held_out_`` and ``certainty_`` stay those of the model with all columns.
        """
        if (n_cuts := len(self.cuts_["columns"])) > 0:
            raise ValueError(f"The model has {n_cuts + 1} leaves. Fit one without these columns instead.")
        arrays = dict(self.metric_.arrays())
        maps = arrays[name := "omega" if "omega" in arrays else "weights"].copy()
        maps[..., features] = 0.0
        twin = copy.copy(self)
        twin.metric_ = rebuild(
            type(self.metric_), self.metric_.feature_names, {**arrays, name: maps}, self.metric_.units
        )
        order, (before, after) = order_of(self.shape_), (one.metric_.mapped(self.cases_) for one in (self, twin))
        now, then = (float(distances(rows[:SCALING_ROWS], order=order).mean()) for rows in (after, before))
        twin.width_ = self.width_ * now / then if now > 0 else self.width_
        Y = self._targets()
        model, twin.ridge_ = fit_leaf((Rows(after, Y, self.weights_), Kernel(order, twin.width_), self.ridge_))
        twin.coefficients_, twin.constants_ = (
            np.asarray(one, dtype=np.float64) for one in (model.alpha, model.constant)
        )
        twin.members_, twin.leaves_ = np.arange(len(Y)), np.zeros(len(Y), dtype=np.intp)
        twin.reach_ = reach_of(after, order, self.n_jobs)
        return twin

    def _targets(self) -> Array:
        """Return what the outputs are fitted to."""
        raise NotImplementedError

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

    def variance(self, places: Indices) -> float:
        """Return the mean squared error of some rows if their mean is predicted."""
        Y, weights = self.Y[places], self.weights[places]
        return mean_squares(Y - np.average(Y, axis=0, weights=weights), weights)

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


def _intervals(
    metric: Any,
    cases: Array,
    targets: Array,
    weights: Array,
    groups: Indices | None,
    times: Indices | None,
    held_out: Array,
    *,
    candidate: Candidate,
    n_steps: int,
    width: float,
    ridge: float,
) -> Intervals:
    """Return what intervals are made of; of many rows only their errors, as a single one hardly changes the model."""
    apart = groups if times is None else TimeOrder(times)
    first, copy_of = _distinct(cases, targets[:, None], apart)
    of_copies = np.asarray(np.bincount(copy_of, weights=weights), dtype=np.float64)
    new = min(1.0, float(weights.mean())) if groups is None else float(weights.sum() / len(np.unique(groups)))
    X, known, few, counting = cases[first], targets[first], len(first) <= LEARNING_ROWS, of_copies.copy()
    table = _Table(X, known[:, None], of_copies, np.zeros(len(first), np.intp), None if apart is None else apart[first])
    if isinstance(table.groups, TimeOrder):
        parts = forward_splits(table.groups, FORWARD_FOLDS)
        if parts:
            counting[parts[0][0]] = 0.0  # they are never held out
    else:
        parts = table.folds(np.arange(len(first)), ERROR_FOLDS, False, np.random.default_rng(0))
    predicted = held_out[first]
    if few:
        rng = np.random.default_rng(0)
        found = predictions_in_folds(
            X,
            table.rows,
            parts,
            candidate,
            n_steps,
            lambda n: _at_most(CHOOSING_ROWS, n, rng),
            lambda n: _at_most(GRADIENT_ROWS, n, rng),
        )
        predicted = np.where(np.isnan(found), predicted, np.clip(found, known.min(), known.max()))
    errors = np.abs(targets - predicted[copy_of])
    left_out = None
    if few and times is None:
        K = kernel_of(distances(metric.mapped(X), order=order_of(candidate.shape)), width)
        left_out = LeftOut.of(K, known, ridge, of_copies, None if groups is None else groups[first])
    return Intervals(first, errors, counting, new, left_out)


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
    n_folds : int or None, default=3
        Number of folds in which shape and steps are chosen. None chooses nothing: ``shape`` and ``columns`` must be
        given, and ``max_steps`` steps are taken.
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
    reach_ : float
        Twice the distance to their nearest other row that 99% of the training rows do not exceed.
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

    Beaglehole, Holzmüller, Radhakrishnan, Belkin: xRFM: Accurate, scalable, and interpretable feature learning models
    for tabular data, arXiv 2508.10053, 2025.

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
        n_folds: int | None = 3,
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

    def _targets(self) -> Array:
        return np.eye(len(self.classes_))[self.codes_]

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
    n_folds : int or None, default=3
        Number of folds in which shape and steps are chosen. None chooses nothing: ``shape`` and ``columns`` must be
        given, and ``max_steps`` steps are taken.
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
    cases_, targets_, weights_ : ndarrays of shape (n_samples, n_features), (n_samples,), (n_samples,)
        The training rows, their targets and their weights.
    groups_, times_ : ndarray of shape (n_samples,) or None
        The group of each training row, or the place of its time in their order.
    coefficients_, constants_ : ndarrays of shape (n_members, 1), (1,)
        The prediction for a row x is ``constants_`` plus the sum of the coefficients times the kernel
        exp(-D(x, z) / width) of the training rows z, cut to the range of the training targets.
    held_out_ : ndarray of shape (n_samples,)
        The prediction of each training row by the model without it; see `RFM`.
    shape_, columns_, n_steps_, width_, ridge_, reach_, search_results_, row_names_, input_range_,
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
    weights_: Array
    groups_: Indices | None
    times_: Indices | None

    def __init__(
        self,
        shape: Literal["auto", "l1", "diagonal", "map"] = "auto",
        columns: Literal["auto", "values", "ranks"] = "auto",
        max_steps: int = 10,
        n_folds: int | None = 3,
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
        self.groups_ = None if isinstance(groups, TimeOrder) else groups
        self.times_ = np.unique(groups.times, return_inverse=True)[1] if isinstance(groups, TimeOrder) else None
        held_out = self._learn(data, target[:, None], groups, each, unit=float(np.std(target)) or 1.0)
        self.held_out_ = self._within_reach(held_out[:, 0])
        return self

    def predict(self, X: ArrayLike) -> Array:
        """Predict the target, never beyond the range of the training targets.

        Rows that are far from all training rows are named in a `FarRowsWarning`: farther than twice the distance that
        99% of the training rows have to their nearest other one. Their predictions approach ``constants_``, a mean of
        the training targets, as the distance grows.
        """
        outputs, nearness = self._outputs_and_nearness(X)
        far = nearness < np.exp(-self.reach_ / self.width_)
        if far.any():
            warnings.warn(FarRowsWarning(far, float(self.constants_[0]), X), stacklevel=2)
        return self._within_reach(outputs[:, 0])

    def predict_interval(self, X: ArrayLike, coverage: float = 0.9) -> Array:
        r"""Return the lower and upper ends of intervals in which new targets lie, of shape (n_samples, 2).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            The share of new rows of the same kind whose targets lie within their intervals.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            The ends, which may lie beyond the range of the training targets, where targets may lie too, and also beyond
            what is possible: below zero for a price.

        Notes
        -----
        Intervals by the jackknife+: the model without each training row, in closed form, plus and minus the size of an
        error of that row. The errors are those of `errors_in_folds`, because leave-one-out errors under a distance that
        was learned from all rows are too small. At least ``1 - 2 (1 - coverage)`` of new targets are covered if these
        errors are not smaller than those of new rows, and about ``coverage`` of them in measurements. Rows of a group
        are left out together, so that new rows are those of new groups. By a time order, and for more than 4,000 rows,
        intervals are the prediction plus and minus such a size, and in the latter case that of a leave-one-out error.

        Where there are too few rows, the widest interval known is returned, with a warning. The first call takes the
        time of five fits.

        References
        ----------
        Barber, Candès, Ramdas, Tibshirani: Predictive inference with the jackknife+, Annals of Statistics 49, 2021.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RFMRegressor("l1", "values", random_state=0).fit(X[:300], y[:300])
        >>> low, high = model.predict_interval(X[300:]).T
        >>> bool(0.84 < ((low <= y[300:]) & (y[300:] <= high)).mean() < 0.96)
        True
        """
        coverage = number("coverage", coverage, above=0.0, below=1.0)
        cases, parts = measurable_inputs(self, X), self._intervals()
        if not parts.covers(coverage):
            units, needed = "rows" if self.groups_ is None else "groups", int(np.ceil(coverage / (1 - coverage) - 1e-9))
            warnings.warn(
                f"An interval of coverage={coverage:g} needs at least {needed:,} {units} that were held out, and there "
                "are fewer. The widest interval known is returned.",
                UserWarning,
                stacklevel=2,
            )
        ends, predicted = np.empty((len(cases), 2)), self._outputs(X)[:, 0]
        for block in row_blocks(len(cases), row_bytes=64 * len(self.cases_), budget=PREDICTION_BYTES):
            K = np.empty((0, 0)) if parts.left_out is None else self._kernel(cases[block], self.cases_[parts.rows])[1]
            ends[block] = parts.around(predicted[block], K, coverage, self._within_reach)
        return ends

    def errors_in_folds(self) -> Array:
        """Return the size of the error of each training row, predicted in five folds in which the distance is learned.

        Leave-one-out under a distance that was learned from all rows gives smaller errors than new rows have. Shape,
        columns and number of steps are those chosen; of more than 600 rows of a fold the distance is learned from as
        many. Rows of a group are held out together, and later rows after earlier ones; a row that is never held out has
        its leave-one-out error, as all rows have of more than 4,000.
        """
        check_is_fitted(self)
        return self._intervals().errors.copy()

    def _intervals(self) -> Intervals:
        """Return what intervals are made of, made once."""
        return self._kept(
            _intervals,
            *(self.metric_, self.cases_, self.targets_, self.weights_, self.groups_, self.times_, self.held_out_),
            candidate=Candidate(self.columns_, self.shape_),
            n_steps=self.n_steps_,
            width=self.width_,
            ridge=self.ridge_,
        )

    def _targets(self) -> Array:
        return self.targets_[:, None]

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
