"""Weights of a map under the usual shrinkage methods: lasso, elastic net and ridge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.linear_model import enet_path, lasso_path

from whynear.interpret.null_space import quadratic_and_rows, regularize
from whynear.metric import LinearMetric, LocalMetric, Metric
from whynear.utils.arrays import Array, ByValue
from whynear.utils.axes import LINE_COLORS, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

METHODS = ("lasso", "elastic net", "ridge")


@dataclass(frozen=True, eq=False)
class RegularizationPaths(ByValue):
    """Weights over the strength of shrinkage.

    Attributes
    ----------
    feature_names : tuple of str
        The features.
    alphas : dict of str to ndarray
        For each method the penalties, strongest first.
    weights : dict of str to ndarray of shape (n_alphas, n_features)
        For each method the weights at each penalty.
    units : str
        What a weight refers to.
    """

    feature_names: tuple[str, ...]
    alphas: dict[str, Array]
    weights: dict[str, Array]
    units: str

    def frame(self) -> pd.DataFrame:
        """One row per method, penalty and feature."""
        parts = []
        for method, weights in self.weights.items():
            table = pd.DataFrame(weights, columns=list(self.feature_names)).assign(alpha=self.alphas[method])
            part = table.melt(id_vars="alpha", var_name="feature", value_name="weight")
            parts.append(part.assign(method=method))
        return pd.concat(parts, ignore_index=True)[["method", "alpha", "feature", "weight"]]

    def plot(self, axes: list[Axes] | None = None) -> list[Axes]:
        """Draw one panel per method; the features with the largest weights have colours and names. Returns the axes."""
        if axes is None:
            from matplotlib import pyplot as plt

            axes = list(plt.subplots(1, len(self.weights), figsize=(9, 3.2), sharey=True, layout="constrained")[1])
        largest = np.max([np.abs(weights).max(axis=0) for weights in self.weights.values()], axis=0)
        named = np.argsort(-largest, kind="stable")[: len(LINE_COLORS)]
        for ax, (method, weights) in zip(axes, self.weights.items(), strict=True):
            ax.plot(self.alphas[method], np.delete(weights, named, axis=1), color="0.8", linewidth=0.7)
            for j, color, line in zip(named, LINE_COLORS, ("-", "--", "-.", ":", "-", "--"), strict=False):
                label = short_name(self.feature_names[j])
                ax.plot(self.alphas[method], weights[:, j], line, color=color, linewidth=1.5, label=label)
            ax.set_xscale("log")
            ax.invert_xaxis()
            ax.set_title(method)
            ax.set_xlabel("penalty")
            tidy(ax, "y")
        axes[0].set_ylabel(f"weight ({self.units})")
        for text in axes[-1].legend(frameon=False, fontsize="small").get_texts():
            text.set_parse_math(False)
        return axes


def regularization_paths(metric: Metric | BaseEstimator, X: ArrayLike, row: int = 0) -> RegularizationPaths:
    r"""Regress what a row of the map does to the data on the data, with lasso, elastic net and ridge.

    A comparison with `relevance_intervals`: of features with the same information lasso keeps one, ridge spreads the
    weight over all, and neither shows that they can replace each other (Schulz et al. 2015, Fig. 4).

    Parameters
    ----------
    metric : LinearMetric, DiagonalMetric, fitted learner or Pipeline
        The metric, in the coordinates of its learner.
    X : array-like of shape (n_samples, n_features)
        The data.
    row : int
        Which row: eigenvectors of :math:`\Psi \Lambda \Psi` times the root of their eigenvalue, largest first.

    Returns
    -------
    RegularizationPaths

    Examples
    --------
    >>> X = np.array([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0], [2.0, 2.0, 2.0], [4.0, 4.0, 1.0]])  # two equal columns
    >>> paths = regularization_paths(LinearMetric([[1.0, 0.0, 1.0]]), X)
    >>> paths.weights["ridge"][-1].round(2).tolist()  # half of the weight on each copy
    [0.5, 0.5, 1.0]
    """
    given, X, _ = quadratic_and_rows(metric, X)
    if isinstance(given, LocalMetric):
        raise TypeError("A local metric has one map per anchor: call regularization_paths(metric[i], X_near).")
    data = given.learned_coordinates(X)
    data = data - data.mean(axis=0)
    smooth = regularize(given, X).as_learned()
    assert isinstance(smooth, LinearMetric)
    left, scales, directions = np.linalg.svd(smooth.omega, full_matrices=False)
    if not 0 <= row < np.count_nonzero(scales > 1e-6 * scales.max(initial=0.0)):
        raise ValueError(f"row={row} is not among the rows of the map that matter on the data.")
    sign = np.sign(left[np.abs(left[:, row]).argmax(), row])  # that of the row of the map it is most like
    outcome = data @ (sign * scales[row] * directions[row])
    alphas, weights = {}, {}
    alphas["lasso"], weights["lasso"], _ = lasso_path(data, outcome, tol=1e-8)
    alphas["elastic net"], weights["elastic net"], _ = enet_path(data, outcome, l1_ratio=0.5, tol=1e-8)
    alphas["ridge"], weights["ridge"] = _ridge(data, outcome)
    return RegularizationPaths(given.feature_names, alphas, {name: w.T for name, w in weights.items()}, given.units)


def _ridge(data: Array, outcome: Array) -> tuple[Array, Array]:
    """Ridge weights at falling penalties, from one decomposition: V diag(s / (s^2 + n alpha)) U^T y."""
    left, scales, right = np.linalg.svd(data, full_matrices=False)
    alphas = np.logspace(2, -5, 100) * float(scales.max()) ** 2 / len(data)
    shrunk = scales[:, None] / (np.square(scales)[:, None] + len(data) * alphas)
    return alphas, right.T @ (shrunk * (left.T @ outcome)[:, None])
