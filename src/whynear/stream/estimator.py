"""The self-adjusting memory: a nearest-neighbour classifier for streams whose concept drifts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from whynear.learn.inputs import fit_inputs, forget_table, predict_inputs, range_of_columns, table_and_labels
from whynear.learn.mixins import Predictions, VotingCases
from whynear.metric import DiagonalMetric, Evidence, LocalMetric
from whynear.model.files import register
from whynear.stream.history import StreamHistory
from whynear.stream.kernels import PLAIN, Rule
from whynear.stream.memory import Compression
from whynear.stream.state import METRIC_NAMES, Settings, StreamState, joined_classes, packed, recode, unpacked
from whynear.utils.arrays import Array
from whynear.utils.checks import check_parameters, choice, number, seed_of, whole
from whynear.utils.columns import check_magnitudes

Metrics = Literal["guarded", "plain", "raw", "z-scores"]


@register
class SelfAdjustingMemory(VotingCases, ClassifierMixin, BaseEstimator):
    r"""Nearest neighbours with a self-adjusting memory, for streams whose concept drifts (SAM-kNN).

    The short-term memory holds the latest cases. After every case its size is chosen among its halves, by the error of
    predicting each case of a window by the earlier ones in it. What falls out of it and does not contradict it moves to
    the long-term memory, which is compressed to half when it is full. Predictions are made by whichever of the
    short-term memory, the long-term memory and both together was right most often over the short-term memory.

    The metric learns along: memories with a plain metric, with weights learned from the columns, and with weights
    learned from running z-scores work side by side, and the one with the best faded accuracy predicts.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of cases that vote.
    max_size : int, default=5000
        The most cases in both memories together, for each metric.
    random_state : int, RandomState or Generator, default=None
        Seed of k-means, if that compresses.
    metric : {"guarded", "plain", "raw", "z-scores"}, default="guarded"
        All three metrics and the guard, or one of them alone.
    min_size : int, default=50
        The smallest window that the short-term memory shrinks to.
    long_share : float, default=0.4
        The share of ``max_size`` at which the long-term memory is full.
    votes : {"squared", "inverse"}, default="squared"
        The vote of a neighbour at distance d: 1 / d^2, or 1 / d as in the paper.
    shrink : {"both", "error"}, default="both"
        When the short-term memory shrinks: when a shorter window has a smaller error, as in the paper, or also when one
        clearly beats the whole on its latest half.
    compression : {"pairs", "k-means"}, default="pairs"
        How the long-term memory is compressed: by joining nearest pairs, or by k-means as in the paper.
    step : float, default=1.0
        The size of a step of the weights.
    decay : float, default=0.01
        The share of the way back to equal weights that they go at each case whose nearest case is of another class.
    half_life : float, default=1000.0
        After so many cases the outcome of a prediction counts half for the guard.
    case_weights : bool, default=False
        Whether each remembered case also has weights of its own, which multiply the learned ones in distances to it.
        They are learned when it is the nearest of its class, or of the other classes, to a new case. The plain metric
        has none. Slower, for errors that hardly differ: a case is removed before its weights change much.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes so far, sorted.
    metric_ : DiagonalMetric or LocalMetric
        The metric of the memory that predicts now; local if its cases have weights, with these cases as anchors.
    n_seen_ : int
        The number of cases so far.
    memory_sizes_ : dict
        The number of cases in the short-term and the long-term memory for the metric in use now.
    chosen_metric_, chosen_memory_ : str
        Which metric is in use now, and which memory: "short-term", "long-term" or "both".
    history : StreamHistory
        Accuracy, memories, metrics and relevances over time, with ``frame()``, ``plot()`` and ``sentences()``.
    n_features_in_ : int
        The number of features so far.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest value of each feature so far.

    Notes
    -----
    Time O(n d) for a case and n remembered ones, memory O(n d). The choice of the window is exact: no error is
    estimated. Classes may be new in any case. `learn_one` and `predict_one` take dicts as in river: a feature
    that a case lacks takes its running mean, and a new one has the same value in all earlier cases.

    The paper's method is ``SelfAdjustingMemory(metric="plain", votes="inverse", shrink="error",
    compression="k-means")``.

    References
    ----------
    V. Losing, B. Hammer, H. Wersing (2016): KNN classifier with self adjusting memory for heterogeneous concept drift.
    ICDM.

    Examples
    --------
    >>> X = np.random.default_rng(1).standard_normal((3000, 4))
    >>> y = np.where(np.arange(3000) < 1500, X[:, 1] > 0, X[:, 2] > 0)  # the concept drifts
    >>> model = SelfAdjustingMemory()
    >>> right = model.prequential(X, y) == y  # each case is predicted before it is learned
    >>> bool(right[500:1500].mean() > 0.9), bool(right[2000:].mean() > 0.9)
    (True, True)
    >>> model.history.sentences()
    ["From case 1,700 on, 'x2' replaces 'x1'."]

    Case by case, as in river:

    >>> model = SelfAdjustingMemory()
    >>> model.predict_one({"width": 1.0}) is None
    True
    >>> model.learn_one({"width": 1.0}, "cat")
    >>> model.learn_one({"width": 7.0, "height": 2.0}, "dog")
    >>> model.predict_one({"width": 6.0})
    'dog'
    """

    classes_: NDArray[Any]
    n_seen_: int
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    input_range_: Array

    def __init__(
        self,
        n_neighbors: int = 5,
        max_size: int = 5000,
        random_state: int | np.random.RandomState | np.random.Generator | None = None,
        metric: Metrics = "guarded",
        min_size: int = 50,
        long_share: float = 0.4,
        votes: Literal["squared", "inverse"] = "squared",
        shrink: Literal["both", "error"] = "both",
        compression: Literal["pairs", "k-means"] = "pairs",
        step: float = 1.0,
        decay: float = 0.01,
        half_life: float = 1000.0,
        case_weights: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.max_size = max_size
        self.random_state = random_state
        self.metric = metric
        self.min_size = min_size
        self.long_share = long_share
        self.votes = votes
        self.shrink = shrink
        self.compression = compression
        self.step = step
        self.decay = decay
        self.half_life = half_life
        self.case_weights = case_weights

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Remove everything, and learn the cases of a table one after the other.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The cases, in the order of time.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        data = fit_inputs(self, X, y)
        self._begin(data.feature_names)
        self._learn(data.X, data.classes[data.codes])
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn a part of a stream, case by case; however it is cut into parts, the result is the same.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : array-like, optional
            Classes that may occur; others may occur too.
        """
        self.prequential(X, y, classes)
        return self

    def prequential(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> NDArray[Any]:
        """Predict each case of a part of a stream before it is learned.

        Parameters
        ----------
        X, y, classes
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predictions. Before the first case ever learned there is none: it is the first class.
        """
        first = not hasattr(self, "n_seen_")
        values, labels, names = table_and_labels(self, X, y, reset=first, least=1)
        check_magnitudes(values, names)
        if first:
            self._begin(names)
        self._widen_range(values)
        known = None if classes is None else np.asarray(classes)
        codes = self._learn(values, labels, known)
        return self.classes_[np.maximum(codes, 0)]

    def learn_one(self, x: Mapping[Any, Any], y: Any) -> None:
        """Learn one case.

        Parameters
        ----------
        x : mapping
            The values of its features; features may be new, or missing.
        y : object
            Its class.
        """
        if not hasattr(self, "n_seen_"):
            self._begin(())
        row = self._state.learned_row(x)
        self._set_features()
        self._widen_range(row[None])
        self._learn(row[None], np.array([y]))

    def predict_one(self, x: Mapping[Any, Any]) -> Any:
        """Return the class of one case, given as for `learn_one`; None before any case was learned."""
        if getattr(self, "n_seen_", 0) == 0:
            return None
        found = self._predictions(self._state.row_of(x)[None]).classes[0]
        return found.item() if isinstance(found, np.generic) else found

    def predict_proba_one(self, x: Mapping[Any, Any]) -> dict[Any, float]:
        """Return the probability of each class for one case; an empty dict before any case was learned."""
        if getattr(self, "n_seen_", 0) == 0:
            return {}
        found = self._predictions(self._state.row_of(x)[None]).probabilities[0]
        return dict(zip(self.classes_.tolist(), found.tolist(), strict=True))

    def evidence(self, X: ArrayLike) -> Evidence:
        """The remembered cases that vote, nearest first, by name: their memory and their number in the stream.

        A case of the long-term memory may be the mean of several, and has the number of the latest of them.
        """
        return self.evidence_of(predict_inputs(self, X))

    def evidence_of(self, cases: Array) -> Evidence:
        """The evidence of checked cases."""
        self._check_any_case()
        return self._state.evidence(cases, self.classes_)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest support; of equal ones the first."""
        return self._predictions(predict_inputs(self, X)).classes

    def predict_proba(self, X: ArrayLike) -> Array:
        """The share of each class in the votes."""
        return self._predictions(predict_inputs(self, X)).probabilities

    def _check_any_case(self) -> None:
        if self.n_seen_ == 0:
            raise NotFittedError("No case was learned yet. Call partial_fit or learn_one first.")

    def _predictions(self, rows: Array) -> Predictions:
        self._check_any_case()
        return self.predictions_from(self._state.evidence(rows, self.classes_, named=False))

    @property
    def metric_(self) -> DiagonalMetric | LocalMetric:
        """The metric in use now."""
        check_is_fitted(self)
        return self._state.metric()

    @property
    def chosen_metric_(self) -> str:
        """Which metric is in use now."""
        check_is_fitted(self)
        return self._state.metric_name

    @property
    def chosen_memory_(self) -> str:
        """Which memory is in use now."""
        check_is_fitted(self)
        return self._state.memory_name

    @property
    def memory_sizes_(self) -> dict[str, int]:
        """The number of cases in the memories in use now."""
        check_is_fitted(self)
        return self._state.sizes()

    @property
    def history(self) -> StreamHistory:
        """The history of the stream so far."""
        check_is_fitted(self)
        return self._state.history()

    def note(self, text: str, case: int | None = None) -> None:
        """Note something for the history, at a case by its number, from 1, or at the next one."""
        check_is_fitted(self)
        self._state.record.note(self.n_seen_ if case is None else whole("case", case) - 1, text)

    def begin(self, features: Sequence[str]) -> Self:
        """Remove all cases and classes; the next part of a stream must have these features.

        Parameters
        ----------
        features : sequence of str
            The features from the beginning; `learn_one` may add more.
        """
        if hasattr(self, "input_range_"):
            del self.input_range_
        self._begin(features)
        self._set_features()
        return self

    def _begin(self, features: Sequence[str]) -> None:
        if hasattr(self, "classes_"):
            del self.classes_
        self._state = StreamState(self._settings(seed_of(self.random_state)), features)
        self.n_seen_ = 0

    def _learn(self, X: Array, labels: NDArray[Any], classes: NDArray[Any] | None = None) -> NDArray[np.intp]:
        """Predict and then learn checked cases; return the codes of the predictions in ``classes_``."""
        before: NDArray[Any] | None = getattr(self, "classes_", None)
        after = joined_classes(before, labels if classes is None else np.concatenate([classes, labels]))
        codes = np.searchsorted(after, labels)
        declared = set() if classes is None else set(classes.tolist())
        if before is None:
            self._state.note_new_classes(codes, after.tolist(), declared)
        elif len(after) > len(before):
            recode(self._state.memories, before, after)
            self._state.note_new_classes(codes, after.tolist(), declared.union(before.tolist()))
        self.classes_ = after
        found = self._state.learn(np.ascontiguousarray(X), codes, len(after))
        self.n_seen_ = self._state.n_seen
        return found

    def _set_features(self) -> None:
        """Set the attributes for features, after a case with new ones."""
        features = self._state.features
        self.n_features_in_ = len(features)
        self.feature_names_in_ = np.array(features, dtype=object)

    def _widen_range(self, rows: Array) -> None:
        forget_table(self)
        known: Array = getattr(self, "input_range_", rows[:0])
        if known.shape[1] < rows.shape[1]:
            known = np.hstack([known, np.repeat(rows[:1, known.shape[1] :], len(known), axis=0)])
        self.input_range_ = range_of_columns(np.vstack([known, rows]))

    def _settings(self, seed: int) -> Settings:
        choice("metric", self.metric, ("guarded", *METRIC_NAMES))
        choice("votes", self.votes, ("squared", "inverse"))
        choice("shrink", self.shrink, ("both", "error"))
        choice("case_weights", self.case_weights, (False, True))
        choice("compression", self.compression, ("pairs", "k-means"))
        check_parameters(self, whole, "n_neighbors", "max_size")
        whole("min_size", self.min_size, self.n_neighbors + 1, "more than n_neighbors")
        whole("max_size", self.max_size, self.min_size, "at least min_size")
        number("long_share", self.long_share, below=1)
        check_parameters(self, number, "step", "decay", most=1)
        number("half_life", self.half_life, above=0)
        kinds = range(len(METRIC_NAMES)) if self.metric == "guarded" else [METRIC_NAMES.index(self.metric)]
        max_long = int(self.long_share * self.max_size)
        fixed = (self.n_neighbors, self.min_size, self.max_size, max_long, self.votes == "squared")
        learning = float(self.step), float(self.decay)
        rules = (
            Rule(*fixed, self.shrink == "both", kind, *learning, bool(self.case_weights) and kind != PLAIN)
            for kind in kinds
        )
        return Settings(tuple(rules), Compression(self.compression, seed), 0.5 ** (1.0 / self.half_life))

    def saved_fields(self) -> dict[str, Any]:
        """Return the attributes for `whynear.save`, as plain values."""
        fields = dict(vars(self))
        return {**fields, "_state": packed(fields["_state"])} if "_state" in fields else fields

    def restore_fields(self) -> None:
        """Make the state from the plain values that `whynear.load` set, after checking them."""
        if not hasattr(self, "_state"):
            if hasattr(self, "n_seen_") or hasattr(self, "classes_"):
                raise ValueError("the stream has no memories")
            return
        fields: Any = self._state
        classes = getattr(self, "classes_", np.empty(0))
        if not isinstance(classes, np.ndarray) or len(np.unique(classes)) != len(classes):
            raise ValueError("the classes of the stream are not an array of different ones")
        self._state = unpacked(fields, self._settings(0), len(classes))
        if self._state.n_seen != self.n_seen_ or len(self._state.features) != self.n_features_in_:
            raise ValueError("the stream has another number of cases or features than stated")
        names, known = getattr(self, "feature_names_in_", self._state.features), getattr(self, "input_range_", None)
        if list(names) != self._state.features or (known is not None and np.shape(known) != (2, self.n_features_in_)):
            raise ValueError("the stream has other features than stated")
