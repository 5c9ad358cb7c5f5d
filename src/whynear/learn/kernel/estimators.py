"""RFM and RFMRegressor: kernel regression for classes and numbers under a distance that it learns itself."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.data.rows import TimeOrder
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
    warn_of_constant_columns,
    weighed,
)
from whynear.learn.kernel.base import LearnedKernel
from whynear.learn.kernel.choosing import Candidate
from whynear.learn.kernel.intervals import Intervals, intervals_of
from whynear.learn.kernel.leaves import PREDICTION_BYTES, Each
from whynear.learn.lvq.prototypes import certainty
from whynear.learn.mixins import Predictions
from whynear.learn.solvers import Callback
from whynear.metric import Evidence
from whynear.model.files import register
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import number
from whynear.utils.columns import (
    check_finite,
    check_magnitudes,
    check_plain,
    column_names,
    default_names,
    names_of_rows,
)
from whynear.utils.threads import row_blocks


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
        simplest within a standard error of the best, in folds in which the distance is learned too; of more than 4,000
        rows, the best.
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
    shape, columns, max_steps, n_folds : as for `RFM`
    random_state, verbose, callback, n_jobs : as for `RFM`

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
            intervals_of,
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
