"""The tolerance of relevance intervals: by how much maps may differ and still predict as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor

from whynear.data.rows import TimeOrder, error_of_mean, groups_in, resampled_rows
from whynear.interpret import programs
from whynear.interpret.null_space import (
    maps_with_directions,
    quadratic_and_rows,
    restated,
    restated_locally,
    row_problems,
)
from whynear.interpret.validation import Split, mark_choice, splits
from whynear.metric import LinearMetric, LocalMetric, Metric
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue
from whynear.utils.axes import LINE_COLORS, new_axes
from whynear.utils.checks import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CANDIDATES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3)
LEAST = 0.05  # a map learned again from other rows differs by about as much
RESAMPLES = 20


@dataclass(frozen=True, eq=False)
class RelevanceTolerance(ByValue):
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

    def frame(self) -> pd.DataFrame:
        """Return a copy of the curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with the choice marked."""
        ax = ax or new_axes(6, 3.4)
        curve = self.curve
        train = next(name for name in curve if str(name).startswith("train"))
        named = self.criterion.replace("_", " ")
        look: dict[str, Any] = {"color": LINE_COLORS[0], "marker": "o", "markersize": 4, "capsize": 2, "elinewidth": 1}
        ax.errorbar(curve["tolerance"], curve[self.criterion], curve["standard_error"], label=named, **look)
        look = {"color": LINE_COLORS[1], "marker": "s", "markersize": 4}
        ax.plot(curve["tolerance"], curve[train], "--", label=str(train).replace("_", " "), **look)
        across = "tolerance (share of the effect of the map)"
        return mark_choice(ax, self.best, f" chosen: {self.best:g}", across, self.criterion)

    def _repr_html_(self) -> str:
        tried = self.curve["tolerance"].to_numpy(dtype=np.float64)
        train = next(str(name) for name in self.curve if str(name).startswith("train"))
        lines = {name.replace("_", " "): self.curve[name].to_numpy(float) for name in (self.criterion, train)}
        chosen = float(self.curve[self.criterion][int(np.abs(tried - self.best).argmin())])
        return html.block(
            html.heading(f"RelevanceTolerance({self.best:g})"),
            f"The {self.criterion.replace('_', ' ')} is {chosen:.3g} at a tolerance of {self.best:g} and "
            f"{float(self.curve[self.criterion][0]):.3g} with the learned map.",
            html.curve(lines, tried, self.best, f"tolerance {tried[-1]:g}"),
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
    learner : estimator
        A classifier or regressor with a metric, or a Pipeline ending in one. A fitted one is used unchanged if there is
        validation data; otherwise it is cloned and fitted, in cross-validation once per fold.
    X, y : array-like
        The training data.
    X_val, y_val : array-like, optional
        Validation data; five-fold cross-validation of X and y without them.
    candidates : sequence of float, optional
        Tolerances to try, between 0 and 1; ten up to 0.3 without it. The learned map itself is always among them.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        The group of each row, such as its patient: rows of one group are held out together in cross-validation, and
        standard errors are those over groups. With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is fitted; each held-out row counts once.

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
    tried = _candidates(candidates)
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


def _candidates(candidates: Sequence[float] | None) -> list[float]:
    if candidates is None:
        return list(CANDIDATES)
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
