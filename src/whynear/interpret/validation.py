"""Choices by the predictions of held-out rows: how many directions a metric needs, and by how much maps may differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from whynear.data.rows import TimeOrder, error_of_mean, groups_in, resampled_rows, split_rows
from whynear.interpret import programs
from whynear.interpret.intervals import relevance_intervals
from whynear.interpret.null_space import (
    maps_with_directions,
    quadratic_and_rows,
    rank_of,
    regularized_at,
    restated,
    restated_locally,
    row_problems,
)
from whynear.metric import LinearMetric, LocalMetric, Metric
from whynear.model.pipeline import FittedPipeline, weights_for
from whynear.search import NeighborSearch
from whynear.search.voting import Votes, vote_weights
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue
from whynear.utils.axes import LINE_COLORS, new_axes, tidy
from whynear.utils.checks import choice, number
from whynear.utils.columns import check_dense
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PredictBoth = Callable[[Metric], tuple[NDArray[Any], NDArray[Any]]]
CRITERIA = {
    "validation_error": "classification error",
    "mse": "mean squared error",
    "correlation": "correlation of prediction and target",
}
FOLDS = 5
N_NEIGHBORS = 5
MOST_DIMENSIONS = 40  # to try
TOLERANCES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
LEAST = 0.05  # a map learned again from other rows differs by about as much
RESAMPLES = 20


class Split(NamedTuple):
    """Training and validation rows, the learner fitted on the training rows, and the groups of validation rows."""

    X: Any
    y: NDArray[Any]
    X_val: Any
    y_val: NDArray[Any]
    model: FittedPipeline
    groups_val: NDArray[Any] | None = None

    def predictor(self) -> PredictBoth:
        """Return a function from a metric of the model to its predictions for training and validation rows.

        Learners with ``with_metric`` predict with that metric, also at the end of a Pipeline, whose other steps are
        applied once for all metrics. For all other learners the nearest training rows, in the columns of the metric,
        vote, weighted by their inverse distance; no row votes for itself.
        """
        last = self.model.learner
        if not self.takes_metrics:
            X, X_val, k = self.rows(), self.model.numbers(self.X_val), getattr(last, "n_neighbors", N_NEIGHBORS)
            return partial(_voted, X, X_val, np.asarray(self.y), k)
        seen = [self.model.seen(self.model.table(cases)) for cases in (self.X, self.X_val)]
        frames = isinstance(seen[0], pd.DataFrame)
        both = pd.concat(seen) if frames else np.concatenate([np.asarray(part) for part in seen])
        n_train = len(both) - len(np.asarray(seen[1]))

        def predict(metric: Metric) -> tuple[NDArray[Any], NDArray[Any]]:
            found = last.with_metric(self.model.as_seen(metric)).predict(both)
            return found[:n_train], found[n_train:]

        return predict

    def rows(self) -> Any:
        """Return the training rows in the columns of the metric, where the learner takes no other metric."""
        return self.X if self.takes_metrics else self.model.numbers(self.X)

    @property
    def takes_metrics(self) -> bool:
        """Whether the learner can predict with another metric."""
        return hasattr(self.model.learner, "with_metric")


def _voted(
    X: ArrayLike, X_val: ArrayLike, y: NDArray[Any], k: int, metric: Metric
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return votes of the nearest rows, each by its inverse squared distance; rows at distance zero vote alone."""
    search = NeighborSearch(metric, X)
    classes, codes = np.unique(y, return_inverse=True)

    def predict(cases: ArrayLike, exclude: NDArray[np.intp] | None) -> NDArray[Any]:
        sq, indices = search.nearest(cases, min(k, len(codes) - (exclude is not None)), exclude=exclude)
        return classes[Votes(sq, indices, vote_weights(sq)).by_class(codes, len(classes)).argmax(axis=1)]

    return predict(X, np.arange(len(codes))), predict(X_val, None)


def splits(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    X_val: Any = None,
    y_val: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
) -> Iterator[Split]:
    """Yield the given training and validation rows, or the folds of a cross-validation without validation rows.

    Rows of one group are in one fold; in a `TimeOrder` the rows learned from are the earlier ones. A fold that leaves a
    single class to learn from is left out. ``sample_weight`` counts when the learner is fitted.
    """
    if (X_val is None) != (y_val is None):
        raise ValueError("X_val and y_val belong together: give both or neither.")
    check_dense(X)
    y = np.asarray(y)
    if groups is not None:
        if X_val is not None:
            raise ValueError("groups belong to a cross-validation: give them, or X_val and y_val.")
        groups = groups if isinstance(groups, TimeOrder) else np.asarray(groups)
        if len(groups) != len(y):
            raise ValueError(f"groups must have as many rows as y, got {len(groups)} and {len(y)} instead.")
    if X_val is not None:
        try:
            check_is_fitted(learner)
            model = learner
        except NotFittedError:
            model = clone(learner).fit(X, y, **weights_for(learner, sample_weight))
        fitted = FittedPipeline.of(model)
        if hasattr(fitted.learner, "with_metric"):
            X, X_val = fitted.table(X), fitted.table(X_val)
        yield Split(X, y, X_val, np.asarray(y_val), fitted)
        return
    regression = is_regressor(learner)
    folds = FOLDS if regression else max(2, min(FOLDS, int(np.unique(y, return_counts=True)[1].max())))
    for train, test in split_rows(y, folds, 0, stratified=not regression, groups=groups):
        weights = None if sample_weight is None else np.asarray(sample_weight)[train]
        if weights is not None:
            train, weights = train[weights > 0], weights[weights > 0]
        if (groups is not None or weights is not None) and not regression and len(np.unique(y[train])) < 2:
            continue
        X_train, X_test = (
            X.iloc[part] if isinstance(X, pd.DataFrame) else np.asarray(X)[part] for part in (train, test)
        )
        held_out = None if groups_in(groups) is None else groups[test]
        model = clone(learner).fit(X_train, y[train], **weights_for(learner, weights))
        yield Split(X_train, y[train], X_test, y[test], FittedPipeline.of(model), held_out)


class _Choice(ByValue):
    """A curve of results on training and validation rows, and the choice that was made by one of them."""

    best: float
    curve: pd.DataFrame
    criterion: str

    def frame(self) -> pd.DataFrame:
        """Return a copy of the curve."""
        return self.curve.copy()

    @property
    def _shown(self) -> list[str]:
        """The column the choice was made by, and the same of training rows; a correlation stands alone."""
        others = [str(name) for name in self.curve if str(name).startswith("train")]
        return [self.criterion, *(others[:1] if self.criterion != "correlation" else ())]

    @property
    def _lines(self) -> dict[str, Array]:
        return {name.replace("_", " "): self.curve[name].to_numpy(dtype=np.float64) for name in self._shown}

    def _marked(self, ax: Axes, text: str, across: str) -> Axes:
        """Mark the choice in the curve, and label its axes."""
        ax.axvline(self.best, color="0.35", linestyle=":", linewidth=1)
        ax.annotate(text, (self.best, 0.03), xycoords=("data", "axes fraction"), color="0.35", fontsize="small")
        ax.set_xlabel(across)
        ax.set_ylabel(CRITERIA[self.criterion])
        tidy(ax, "y")
        ax.legend(frameon=False, fontsize="small")
        return ax


@dataclass(frozen=True, eq=False)
class EffectiveDimension(_Choice):
    """The curve of errors over the number of directions kept, and the best of them.

    Attributes
    ----------
    best : int
        The smallest number of directions (the largest null space) with the best validation result.
    curve : DataFrame
        Columns ``effective_dim``, ``train_error`` and ``validation_error``; for regression ``effective_dim``,
        ``train_mse``, ``mse`` and ``correlation``, the latter two on validation data.
    scheme : str
        "projection" or "extremes".
    criterion : str
        The column the choice was made by.
    """

    best: int
    curve: pd.DataFrame
    scheme: str
    criterion: str

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with the choice marked."""
        from matplotlib.ticker import MaxNLocator

        ax = ax or new_axes(6, 3.4)
        curve, kept = self.curve, self.curve["effective_dim"]
        for name, color, line, marker in zip(self._shown, LINE_COLORS, ("-", "--"), ("o", "s"), strict=False):
            ax.plot(kept, curve[name], line, color=color, marker=marker, markersize=4, label=name.replace("_", " "))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        return self._marked(ax, f" best: {self.best}", "effective dimension (directions of the data kept)")

    def _repr_html_(self) -> str:
        kept = self.curve["effective_dim"].to_numpy(dtype=np.float64)
        named, values = next(iter(self._lines.items()))
        best = float(values[kept == self.best][0])
        others = "" if self.best == kept[-1] else f" and {values[-1]:.3g} with {kept[-1]:g}"
        directions = counted(self.best, "direction")
        return html.block(
            html.heading(f"EffectiveDimension({directions} of the data)"),
            f"The {named} is {best:.3g} with {directions}{others}.",
            html.curve(self._lines, kept, self.best, f"{counted(int(kept[-1]), 'direction')} kept"),
        )


def effective_dimension(
    learner: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    candidates: Sequence[int] | None = None,
    scheme: Literal["projection", "extremes"] = "projection",
    scoring: Literal["error", "mse", "correlation"] | None = None,
    groups: ArrayLike | TimeOrder | None = None,
    sample_weight: ArrayLike | None = None,
) -> EffectiveDimension:
    """Choose how many directions of the data a metric may use, by its predictions on validation data.

    Parameters
    ----------
    learner : estimator
        A classifier or regressor with a metric, or a Pipeline ending in one. A fitted one is used unchanged if there is
        validation data; otherwise it is cloned and fitted, in cross-validation once per fold.
    X, y : array-like
        The training data.
    X_val, y_val : array-like, optional
        Validation data; five-fold cross-validation of X and y without them.
    candidates : sequence of int, optional
        Numbers of directions to try; all up to the rank of the data, thinned out to 40, without it.
    scheme : {"projection", "extremes"}
        Predict with the projected map (Strickert et al. 2013), or average the errors of the 2 d extreme maps of the
        relevance intervals (Schulz et al. 2015, section 5.1).
    scoring : {"error", "mse", "correlation"}, optional
        What decides: the error of a classifier; for a regressor the mean squared error, or the correlation of
        prediction and target.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        The group of each row, such as its patient: rows of one group are held out together in cross-validation.
        With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is fitted; each held-out row counts once.

    Returns
    -------
    EffectiveDimension

    Examples
    --------
    >>> from whynear import GMLVQ
    >>> from whynear.datasets import make_xor
    >>> data = make_xor(random_state=0)  # two coordinates decide, in six columns
    >>> effective_dimension(GMLVQ(n_prototypes=2, random_state=0), data.X, data.y, candidates=[1, 2, 3]).best
    3
    """
    choice("scheme", scheme, ("projection", "extremes"))
    regression = is_regressor(learner)
    criterion = _criterion(scoring, regression)
    held_out = list(splits(learner, X, y, X_val, y_val, groups, sample_weight))
    tried = _dimensions(candidates, min(rank_of(split.model, split.X) for split in held_out))
    rows = _scores(tried, held_out, scheme, regression)
    curve = pd.DataFrame(rows).assign(effective_dim=tried)
    curve = curve[["effective_dim", *curve.columns.drop("effective_dim")]]
    values = -curve[criterion] if criterion == "correlation" else curve[criterion]
    best = int(curve["effective_dim"][int(np.flatnonzero(values <= values.min() + 1e-12)[0])])
    return EffectiveDimension(best, curve, scheme, criterion)


def _criterion(scoring: str | None, regression: bool) -> str:
    allowed = {"mse": "mse", "correlation": "correlation"} if regression else {"error": "validation_error"}
    if scoring is None:
        return next(iter(allowed.values()))
    return allowed[choice("scoring", scoring, allowed, f"for a {'regressor' if regression else 'classifier'}")]


def _dimensions(candidates: Sequence[int] | None, rank: int) -> list[int]:
    if candidates is None:
        return sorted({round(K) for K in np.linspace(1, rank, min(rank, MOST_DIMENSIONS))})
    wrong = [K for K in candidates if not 1 <= K <= rank]
    if wrong or not len(candidates):
        raise ValueError(f"candidates must lie between 1 and the rank {rank} of the data, got {wrong or 'none'}.")
    return sorted({int(K) for K in candidates})


def _scores(tried: Sequence[int], held_out: Sequence[Split], scheme: str, regression: bool) -> list[dict[str, float]]:
    results: dict[int, list[dict[str, float]]] = {K: [] for K in tried}
    for split in held_out:
        predict = split.predictor()
        for K, metric in _metrics(split.model, split.rows(), tried, scheme):
            train, validation = predict(metric)
            if regression:
                results[K].append(
                    {
                        "train_mse": float(np.mean((train - split.y) ** 2)),
                        "mse": float(np.mean((validation - split.y_val) ** 2)),
                        "correlation": _correlation(validation, split.y_val),
                    }
                )
            else:
                wrong = float(np.mean(train != split.y)), float(np.mean(validation != split.y_val))
                results[K].append(dict(zip(("train_error", "validation_error"), wrong, strict=True)))
    return [{name: float(np.mean([one[name] for one in found])) for name in found[0]} for found in results.values()]


def _metrics(model: Any, X: ArrayLike, tried: Sequence[int], scheme: str) -> Iterator[tuple[int, Metric]]:
    if scheme == "projection":
        yield from zip(tried, regularized_at(model, X, tried), strict=True)
        return
    given, rows, _ = quadratic_and_rows(model, X)
    for K in tried:
        for metric in relevance_intervals(given, rows, K, extremes=True).extreme_metrics():
            yield K, metric


def _correlation(first: NDArray[Any], second: NDArray[Any]) -> float:
    """Return the correlation, or zero if one side is constant."""
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


@dataclass(frozen=True, eq=False)
class RelevanceTolerance(_Choice):
    """The curve of errors over the tolerance, and the largest tolerance that costs nothing.

    Attributes
    ----------
    best : float
        The largest tolerance whose map of least norm predicts as well as the learned map, within a standard error of
        the difference; at least 0.05.
    curve : DataFrame
        Columns ``tolerance``, ``train_error``, ``validation_error`` (for regression ``train_mse``, ``mse``), and
        ``excess`` over the learned map on validation rows with its ``standard_error``.
    criterion : str
        The column the choice was made by.
    resampled : tuple of float
        What twenty resamples of the held-out rows would choose.
    """

    best: float
    curve: pd.DataFrame
    criterion: str
    resampled: tuple[float, ...] = ()

    @property
    def stability(self) -> float:
        """Share of resamples that choose the same."""
        return float(np.mean(np.array(self.resampled) == self.best))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with the choice marked."""
        ax = ax or new_axes(6, 3.4)
        curve, (criterion, train) = self.curve, self._shown
        look: dict[str, Any] = {"color": LINE_COLORS[0], "marker": "o", "markersize": 4, "capsize": 2, "elinewidth": 1}
        label = criterion.replace("_", " ")
        ax.errorbar(curve["tolerance"], curve[criterion], curve["standard_error"], label=label, **look)
        look = {"color": LINE_COLORS[1], "marker": "s", "markersize": 4}
        ax.plot(curve["tolerance"], curve[train], "--", label=train.replace("_", " "), **look)
        return self._marked(ax, f" chosen: {self.best:g}", "tolerance (share of the effect of the map)")

    def _repr_html_(self) -> str:
        tried = self.curve["tolerance"].to_numpy(dtype=np.float64)
        chosen = float(self.curve[self.criterion][int(np.abs(tried - self.best).argmin())])
        return html.block(
            html.heading(f"RelevanceTolerance({self.best:g})"),
            f"The {self.criterion.replace('_', ' ')} is {chosen:.3g} at a tolerance of {self.best:g} and "
            f"{float(self.curve[self.criterion][0]):.3g} with the learned map.",
            html.curve(self._lines, tried, self.best, f"tolerance {tried[-1]:g}"),
        )


def relevance_tolerance(
    learner: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    X_val: ArrayLike | None = None,
    y_val: ArrayLike | None = None,
    candidates: Sequence[float] | None = None,
    groups: ArrayLike | TimeOrder | None = None,
    sample_weight: ArrayLike | None = None,
) -> RelevanceTolerance:
    """Choose by how much maps may differ in `relevance_intervals`, by their predictions on validation data.

    At each tolerance the map of least L1 norm takes the place of the learned one. The largest tolerance is chosen whose
    predictions are as good, within a standard error of the difference row by row.

    Parameters
    ----------
    learner, X, y, X_val, y_val, sample_weight
        As for `effective_dimension`.
    candidates : sequence of float, optional
        Tolerances to try, between 0 and 1; ten up to 0.3 without it. The learned map itself is always among them.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        The group of each row, such as its patient: rows of one group are held out together in cross-validation, and
        standard errors are those over groups. With a `TimeOrder`, rows are held out forward in time.

    Returns
    -------
    RelevanceTolerance

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from whynear import GRLVQ
    >>> X, y = load_iris(return_X_y=True)
    >>> 0.05 <= relevance_tolerance(GRLVQ(random_state=0), X, y, candidates=[0.05, 0.1, 0.2]).best <= 0.2
    True
    """
    tried = _tolerances(candidates)
    regression = is_regressor(learner)
    train = np.zeros(len(tried))
    losses, weights, places = [], [], []
    for split in splits(learner, X, y, X_val, y_val, groups, sample_weight):
        found = _losses(split, tried, regression)
        train += [float(ours.mean()) * len(split.y_val) for ours, _ in found]
        losses.append(np.array([held_out for _, held_out in found]))
        weights.append(len(split.y_val))
        places.append(split.groups_val)
    together = np.concatenate(losses, axis=1)
    excess = together - together[0]
    held_out = None if groups_in(groups) is None else np.concatenate([np.asarray(place) for place in places])
    criterion, seen = ("mse", "train_mse") if regression else ("validation_error", "train_error")
    curve = pd.DataFrame(
        {
            "tolerance": tried,
            seen: train / sum(weights),
            criterion: together.mean(axis=1),
            "excess": excess.mean(axis=1),
            "standard_error": error_of_mean(excess, held_out),
        }
    )
    rng = np.random.default_rng(0)
    drawn = [resampled_rows(excess.shape[1], held_out, rng) for _ in range(RESAMPLES)]
    parts = ((excess[:, rows], None if held_out is None else held_out[rows]) for rows in drawn)
    resampled = tuple(_largest(part, of_part, tried) for part, of_part in parts)
    return RelevanceTolerance(_largest(excess, held_out, tried), curve, criterion, resampled)


def _largest(excess: Array, groups: NDArray[Any] | None, tried: Sequence[float]) -> float:
    """Return the largest tolerance whose mean excess over held-out rows is at most its standard error."""
    as_good = excess.mean(axis=1) <= error_of_mean(excess, groups) + 1e-12
    return max(float(np.array(tried)[as_good].max()), LEAST)


def _tolerances(candidates: Sequence[float] | None) -> list[float]:
    if candidates is None:
        return list(TOLERANCES)
    if not len(candidates):
        raise ValueError("candidates must not be empty: give tolerances between 0 and 1, or None for the usual ones.")
    return sorted({0.0, *(number("candidates", tolerance, below=1.0) for tolerance in candidates)})


def _losses(split: Split, tried: Sequence[float], regression: bool) -> list[tuple[Array, Array]]:
    predict, found = split.predictor(), []
    for metric in least_norm_metrics(split.model, split.rows(), tried):
        both = zip(predict(metric), (split.y, split.y_val), strict=True)
        losses = [np.square(guess - true) if regression else (guess != true).astype(float) for guess, true in both]
        found.append((losses[0], losses[1]))
    return found


def least_norm_metrics(
    metric: Metric | BaseEstimator, X: ArrayLike, tolerances: Sequence[float]
) -> Iterator[LinearMetric | LocalMetric]:
    """Yield at each tolerance the metric of the maps of least norm; at zero the metric itself, on the data."""
    given, X, _ = quadratic_and_rows(metric, X)
    parts = list(maps_with_directions(given, X, None))
    for tolerance in tolerances:
        problems, _ = row_problems(parts, "eigen", tolerance)
        maps: dict[int | None, list[Array]] = {anchor: [] for _, _, _, anchor in parts}
        for problem in problems:
            row = problem.map
            if tolerance > 0:
                start = programs.least_norm(problem.U, problem.b, problem.t)
                row = np.zeros(len(problem.map))
                row[problem.live] = start.mu * start.weights
            maps[problem.anchor].append(row)
        found = {anchor: np.array(own).reshape(-1, given.n_features) for anchor, own in maps.items()}
        if isinstance(given, LocalMetric):  # anchors that serve fewer than two rows keep their maps
            learned = given.as_learned()
            own = (
                np.sqrt(learned.maps)[:, None] * np.eye(given.n_features) if learned.omegas is None else learned.omegas
            )
            yield restated_locally(given, [found.get(anchor, omega) for anchor, omega in enumerate(own)])
        else:
            omega = found[None] if len(found[None]) else np.zeros((1, given.n_features))
            yield restated(omega, given.feature_names, given.scale, given.units)
