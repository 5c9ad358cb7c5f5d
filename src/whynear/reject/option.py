"""The reject option of a learner."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from whynear.data.rows import TimeOrder, rows_of, split_rows
from whynear.metric.steps import estimators_of
from whynear.model.files import register
from whynear.reject.calibration import (
    Calibration,
    Thresholds,
    calibrated,
    fewest_for_sets,
    strangeness,
    strangest_accepted,
)
from whynear.reject.nearness import MEASURES, Measure, Nearness, nearness_of, seen_by
from whynear.reject.outcome import Decisions, Promise, RejectCurve, curve_of, reasons_for
from whynear.utils.arrays import Array
from whynear.utils.checks import Seed, choice, number, seed_of, whole

STREAM_METHODS = ("learn_one", "prequential")


def check_learner(learner: Any) -> None:
    """Refuse what is no classifier with probabilities, and learners of streams."""
    if isinstance(learner, type) or not hasattr(learner, "fit"):
        kind = learner if isinstance(learner, type) else type(learner)
        raise TypeError(f"learner must be a classifier such as GMLVQ(), got {kind.__name__} instead.")
    last = next(reversed(estimators_of(learner)), learner)
    if any(hasattr(last, name) for name in STREAM_METHODS):
        raise TypeError(
            f"learner={type(last).__name__}() learns from a stream, for which nothing can be promised: the promise "
            "holds for cases of the same distribution as the calibration cases, and under drift that changes. Use a "
            "classifier that is fitted to a table."
        )
    if not hasattr(learner, "predict_proba"):
        raise TypeError(
            f"learner={type(last).__name__}() has no predict_proba. Use a classifier with probabilities, or wrap it in "
            "sklearn.calibration.CalibratedClassifierCV."
        )


def checked_groups(groups: ArrayLike | TimeOrder | None, n_cases: int) -> NDArray[Any] | None:
    """Return the groups as an array; refuse times, under which a promise would not hold."""
    if groups is None:
        return None
    if isinstance(groups, TimeOrder):
        raise ValueError(
            f"groups holds times ({groups.name!r}), and nothing can be promised for later cases: their distribution "
            "may have changed. Give groups, or None."
        )
    found = np.asarray(groups)
    if found.shape != (n_cases,):
        raise ValueError(
            f"groups must hold one value for each of the {n_cases} cases, got shape {found.shape} instead."
        )
    return found


def checked_target(X: Any, y: ArrayLike | None) -> NDArray[Any]:
    """Return the classes of the cases as an array of one dimension."""
    if y is None:
        raise ValueError("RejectOption requires y to be passed, but the target y is None. Give the classes.")
    labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    if not len(labels):
        raise ValueError("At least one case is needed, got 0 samples.")
    return labels


def held_out_nearness(
    learner: Any,
    X: Any,
    labels: NDArray[Any],
    classes: NDArray[Any],
    n_folds: int,
    seed: int,
    groups: NDArray[Any] | None = None,
) -> Nearness:
    """Return the output of clones of a learner for the cases of each fold, fitted to the other folds."""
    n_folds = max(2, min(n_folds, int(np.unique(labels, return_counts=True)[1].max())))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        folds = split_rows(labels, n_folds, seed, stratified=True, groups=groups)
    tests = [test for _, test in folds]
    parts = [
        nearness_of(clone(learner).fit(rows_of(X, train), labels[train]), rows_of(X, test), classes)
        for train, test in folds
    ]
    return joined(parts).rows(np.argsort(np.concatenate(tests), kind="stable"))


def joined(parts: list[Nearness]) -> Nearness:
    """Return the output for the cases of all parts, one after the other; distances only if all parts have them."""

    def together(name: str) -> Any:
        tables = [getattr(part, name) for part in parts]
        return None if any(table is None for table in tables) else np.concatenate(tables)

    return Nearness(*(together(name) for name in ("predicted", "probabilities", "sq_by_class", "near_shares")))


@register
class RejectOption(ClassifierMixin, BaseEstimator):
    """A classifier with a reject option: it accepts as many cases as the required accuracy of the accepted ones allows.

    The certainty of a prediction is the probability that it is right, a logistic function of several measures that is
    fitted to two fifths of the held-out cases. Cases above a threshold of it are accepted. The other held-out cases
    choose the threshold, such that, with the given confidence, at least the given share of the accepted cases is right;
    if they do not allow that promise, every case is rejected, and `promise` says how many cases are needed.

    Parameters
    ----------
    learner : classifier
        A classifier of this library, one of scikit-learn with ``predict_proba``, or a Pipeline ending in one. It must
        be fitted for `calibrate`, and need not be for `fit`, which fits a clone.
    accuracy : float, default=0.99
        The least share of the accepted cases that is right.
    confidence : float, default=0.9
        The probability that the promise holds, over the choice of the calibration cases.
    thresholds : {"global", "class"}, default="global"
        One threshold of the certainty, or one for each predicted class.
    certainty : {"auto", "relative_distance", "nearest_distance", "probability", "near_share", "margin"}, default="auto"
        What the certainty of a prediction is a function of: one measure, or all that suit the learner; see Notes.
    cv : int, default=5
        Number of folds by which `fit` predicts held-out cases.
    random_state : int, RandomState or Generator, default=None
        Seed of the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        Number of columns of the learner.

    Notes
    -----
    The measures are the relative distance (d' - d) / (d' + d) of the nearest case or prototype of the predicted class
    and the nearest other one, the log of the distance to the nearest, the log-odds of the probability, the share of the
    predicted class among the 25 nearest cases, and the margin of the probabilities; for classifiers without distances
    the log-odds and the margin. The 25 nearest cases are training cases of learners that predict by these; for
    prototypes they are the held-out cases that fit the certainty, which are kept, in standardised columns. Every
    predicted class has an intercept of its own, shrunken to the common one.

    The cases that bound the accuracy take no part in choosing certainty and thresholds. So the promise of `calibrate`
    is a theorem for independent cases. That of `fit` takes for granted that a learner fitted to all cases is as good
    as those of the folds, which were fitted to fewer.

    Thresholds for each class (Fischer, Hammer, Wersing 2016) fit the calibration cases better, and often new cases
    worse; the intercepts serve the same end.

    A promise holds for new cases of the same distribution as the calibration cases. It is refused for streams, which
    drift. `accuracy` and `confidence` may be changed after calibration, by ``set_params``.

    References
    ----------
    Fischer, Hammer, Wersing: Efficient rejection strategies for prototype-based classification, 2015.
    Fischer, Hammer, Wersing: Optimal local rejection for classifiers, 2016.

    Examples
    --------
    >>> import whynear as wn
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(2000, centers=4, cluster_std=1.6, random_state=1)
    >>> option = wn.RejectOption(wn.GMLVQ(random_state=0), accuracy=0.95, random_state=0)
    >>> option = option.fit(X[:1500], y[:1500])
    >>> option.promise.given
    True
    >>> predicted = option.predict(X[1500:])  # rejected cases are masked
    >>> bool((predicted == y[1500:]).mean() > 0.95)
    True
    >>> sorted(set(option.reasons(X[1500:]).tolist()))
    ['', 'ambiguous', 'outlier']
    >>> sets = option.predict_set(X[1500:], coverage=0.95)
    >>> bool(sets[range(500), y[1500:]].mean() > 0.93)
    True
    """

    classes_: NDArray[Any]

    def __init__(
        self,
        learner: Any,
        accuracy: float = 0.99,
        confidence: float = 0.9,
        thresholds: Thresholds = "global",
        certainty: Measure | Literal["auto"] = "auto",
        cv: int = 5,
        random_state: Seed = None,
    ) -> None:
        self.learner = learner
        self.accuracy = accuracy
        self.confidence = confidence
        self.thresholds = thresholds
        self.certainty = certainty
        self.cv = cv
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit a clone of the learner to all cases, and calibrate it by predictions of held-out folds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The training cases.
        y : array-like of shape (n_samples,)
            Their classes.
        groups : array-like of shape (n_samples,), optional
            Cases of one group, such as those of one patient, are held out together, and one of each group counts for
            the promise, which then needs as many groups as otherwise cases.
        """
        check_learner(self.learner)
        self._check_settings()
        labels = checked_target(X, y)
        separate = checked_groups(groups, len(labels))
        seed = seed_of(self.random_state)
        fitted = clone(self.learner).fit(X, y)
        found = held_out_nearness(self.learner, X, labels, fitted.classes_, self.cv, seed, separate)
        self._fitted_learner = fitted
        return self._calibrated(replace(found, seen=seen_by(fitted, X)), labels, separate, seed)

    def calibrate(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Calibrate the learner, which is fitted, by cases that it was not fitted to.

        Parameters
        ----------
        X, y, groups
            As for `fit`; X and y are cases that the learner has not seen.
        """
        check_learner(self.learner)
        check_is_fitted(self.learner)
        self._check_settings()
        labels = checked_target(X, y)
        separate = checked_groups(groups, len(labels))
        self.__dict__.pop("_fitted_learner", None)
        found = nearness_of(self.learner, X, np.asarray(self.learner.classes_))
        return self._calibrated(found, labels, separate, seed_of(self.random_state))

    def predict(self, X: ArrayLike) -> np.ma.MaskedArray[Any, Any]:
        """Return the predicted classes as a masked array: rejected cases are masked.

        ``predicted.mask`` is true for rejected cases, ``predicted.compressed()`` are the accepted ones,
        ``(predicted == y).mean()`` is their accuracy, and ``predicted.data`` are the predictions for all cases.
        """
        return self.decide(X).masked()

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities of the classes by the learner, for rejected cases too."""
        check_is_fitted(self)
        return self.learner_.predict_proba(X)

    def decide(self, X: ArrayLike) -> Decisions:
        """Return for each case the predicted class, whether it is accepted, its certainty, and why it is rejected."""
        nearness = self._nearness(X)
        calibration, promise = self._calibration, self.promise
        certainty = calibration.rule.certainty_of(nearness)
        accepted = certainty > promise.threshold
        reason = reasons_for(accepted, calibration.is_outlier(nearness), promised=promise.given)
        return Decisions(self.classes_[nearness.predicted], accepted, certainty, reason)

    def certainties(self, X: ArrayLike) -> Array:
        """Return the probability that each prediction is right."""
        return self._calibration.rule.certainty_of(self._nearness(X))

    def reasons(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return why each case is rejected, "ambiguous", "outlier" or "no promise"; empty for accepted cases.

        An outlier is farther from the nearest prototype or training case than 95% of the calibration cases.
        """
        return self.decide(X).reason

    def predict_set(self, X: ArrayLike, coverage: float = 0.99) -> NDArray[np.bool_]:
        """Return for each case the classes of a set that contains the right one with a given probability.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The cases.
        coverage : float, default=0.99
            The least probability that the set contains the right class, over calibration cases and new cases.

        Returns
        -------
        ndarray of bool of shape (n_samples, n_classes)
            Which classes are in the set of each case, in the order of ``classes_``. It may be empty: no class is as
            near as those of most cases are.
        """
        nearness = self._nearness(X)
        number("coverage", coverage, above=0, below=1)
        of_true = self._calibration.strangeness
        if len(of_true) < (fewest := fewest_for_sets(coverage)):
            warnings.warn(
                f"coverage={coverage} needs {fewest} calibration cases, and there are {len(of_true)}: the sets hold "
                "every class.",
                stacklevel=2,
            )
        return strangeness(nearness) <= strangest_accepted(of_true, coverage)

    def curve(self, X: ArrayLike | None = None, y: ArrayLike | None = None) -> RejectCurve:
        """Return the accuracy-reject curve of the calibration cases, or of given cases."""
        if X is None:
            return curve_of(self._calibration.certainty, self._calibration.right)
        nearness = self._nearness(X)
        right = self.classes_[nearness.predicted] == checked_target(X, y)
        return curve_of(self._calibration.rule.certainty_of(nearness), right)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the share of accepted cases that is right; NaN, with a warning, if none is accepted."""
        decided = self.decide(X)
        right = (decided.predicted == checked_target(X, y))[decided.accepted]
        if not len(right):
            warnings.warn(f"No case is accepted, so that there is no accuracy. {self.promise}", stacklevel=2)
            return float("nan")
        return float(right.mean())

    @property
    def promise(self) -> Promise:
        """What is promised for the accepted cases, or why nothing is."""
        self._check_settings()
        return self._calibration.promise(self.accuracy, self.confidence)

    @property
    def learner_(self) -> Any:
        """The fitted learner."""
        return self.__dict__.get("_fitted_learner", self.learner)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self.learner).input_tags.sparse
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_held_out" in vars(self)

    @property
    def _calibration(self) -> Calibration:
        check_is_fitted(self)
        return Calibration.from_dict(self._held_out)

    def _calibrated(self, found: Nearness, labels: NDArray[Any], groups: NDArray[Any] | None, seed: int) -> Self:
        settings: Any = {"certainty": self.certainty, "thresholds": self.thresholds, "groups": groups, "seed": seed}
        self.settle(calibrated(found, labels, np.asarray(self.learner_.classes_), **settings)[0])
        if not (promise := self.promise).given:
            warnings.warn(f"{promise} All cases are rejected.", stacklevel=3)
        return self

    def settle(self, calibration: Calibration) -> Self:
        """Take a calibration of the fitted learner that was made before."""
        self.classes_ = calibration.classes
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.learner_, name):
                setattr(self, name, getattr(self.learner_, name))
        self._held_out = calibration.to_dict()
        return self

    def _nearness(self, X: ArrayLike) -> Nearness:
        check_is_fitted(self)
        return nearness_of(self.learner_, X, self.classes_)

    def restore_fields(self) -> None:
        """Check what `whynear.load` set."""
        if hasattr(self, "_held_out"):
            self._check_settings()
            if not np.array_equal(self._calibration.classes, self.learner_.classes_):
                raise ValueError("_held_out is of other classes than the learner")
            if not np.array_equal(self.classes_, self.learner_.classes_):
                raise ValueError("classes_ are others than those of the learner")

    def _check_settings(self) -> None:
        for name in ("accuracy", "confidence"):
            number(name, getattr(self, name), above=0, below=1, why="a share: 0.99 is 99%")
        choice("certainty", self.certainty, ("auto", *MEASURES))
        choice("thresholds", self.thresholds, ("global", "class"))
        whole("cv", self.cv, least=2)
