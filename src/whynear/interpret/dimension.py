"""The effective dimension: how many directions of the data a metric needs to predict as well as it can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, is_regressor

from whynear.data.rows import TimeOrder
from whynear.interpret.intervals import relevance_intervals
from whynear.interpret.null_space import quadratic_and_rows, rank_of, regularized_at
from whynear.interpret.validation import Split, mark_choice, splits
from whynear.metric import Metric
from whynear.utils import html
from whynear.utils.arrays import ByValue
from whynear.utils.axes import LINE_COLORS, new_axes
from whynear.utils.checks import choice
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CANDIDATES = 40


@dataclass(frozen=True, eq=False)
class EffectiveDimension(ByValue):
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

    def frame(self) -> pd.DataFrame:
        """Return a copy of the curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curve with the choice marked."""
        from matplotlib.ticker import MaxNLocator

        ax = ax or new_axes(6, 3.4)
        curve, kept = self.curve, self.curve["effective_dim"]
        train = next(name for name in curve if str(name).startswith("train"))
        shown = [self.criterion] if self.criterion == "correlation" else [train, self.criterion]
        for name, color, line, marker in zip(shown[::-1], LINE_COLORS, ("-", "--"), ("o", "s"), strict=False):
            label = str(name).replace("_", " ")
            ax.plot(kept, curve[name], line, color=color, marker=marker, markersize=4, label=label)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        across = "effective dimension (directions of the data kept)"
        return mark_choice(ax, self.best, f" best: {self.best}", across, self.criterion)

    def _repr_html_(self) -> str:
        kept = self.curve["effective_dim"].to_numpy(dtype=np.float64)
        train = next(str(name) for name in self.curve if str(name).startswith("train"))
        shown = [self.criterion] if self.criterion == "correlation" else [self.criterion, train]
        lines = {name.replace("_", " "): self.curve[name].to_numpy(dtype=np.float64) for name in shown}
        named, values = next(iter(lines.items()))
        best = float(values[kept == self.best][0])
        others = "" if self.best == kept[-1] else f" and {values[-1]:.3g} with {kept[-1]:g}"
        directions = counted(self.best, "direction")
        return html.block(
            html.heading(f"EffectiveDimension({directions} of the data)"),
            f"The {named} is {best:.3g} with {directions}{others}.",
            html.curve(lines, kept, self.best, f"{counted(int(kept[-1]), 'direction')} kept"),
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
    tried = _candidates(candidates, min(rank_of(split.model, split.X) for split in held_out))
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


def _candidates(candidates: Sequence[int] | None, rank: int) -> list[int]:
    if candidates is None:
        return sorted({round(K) for K in np.linspace(1, rank, min(rank, MOST_CANDIDATES))})
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
