"""The mean local relevance of each feature in each class, and its figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from whynear.explain.case_explanation import legend_above, no_formulas
from whynear.metric import LocalMetric
from whynear.model.as_metric import as_metric
from whynear.model.pipeline import FittedPipeline, class_codes
from whynear.utils.axes import new_axes, short_name, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# All readers can distinguish the colours; marker and line style distinguish them in grey print.
COLORS = ("#1f5f8b", "#e08a1e", "#2e8b57", "#b03060", "#6a5acd", "#5b4636")
MARKERS = ("s", "o", "^", "D", "v", "X")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))


def class_profiles(learner: Any, X: ArrayLike | pd.DataFrame | None = None, y: ArrayLike | None = None) -> pd.DataFrame:
    """Return the mean relevance of each feature in each class.

    Parameters
    ----------
    learner : fitted classifier or Pipeline
        A classifier of this library, or a Pipeline ending in one.
    X : array-like of shape (n_samples, n_features), optional
        Cases to average over instead of the training cases or prototypes: for each the relevances of the neighbours
        behind its prediction, weighted by their votes.
    y : array-like of shape (n_samples,), optional
        The classes of these cases; without it the predicted ones.

    Returns
    -------
    DataFrame
        A row per feature, in the columns the learner or the Pipeline takes, and a column per class; each column sums to
        one. Relevances are those of the columns after scaling: behind a StandardScaler, per standard deviation. The
        columns that a `TableEncoder`, or a OneHotEncoder in a ColumnTransformer, makes of one column are summed. Under
        a global metric all classes have the same profile. Classes without a case are left out.

    References
    ----------
    Göpfert, Wersing, Hammer: Interpretable locally adaptive nearest neighbors, 2021, Fig. 1.

    Examples
    --------
    >>> from whynear import LGRLVQ
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> profiles = class_profiles(LGRLVQ(random_state=0).fit(X, y))
    >>> profiles.shape
    (4, 3)
    >>> profiles.sum().round(6).tolist()
    [1.0, 1.0, 1.0]
    """
    model = FittedPipeline.of_classifier(learner)
    metric = as_metric(model).as_learned()
    if X is not None:
        seen = model.seen(model.table(X))
        labels = model.learner.predict(seen) if y is None else y
        classes, codes = class_codes(labels, len(seen))
        evidence = model.learner.evidence(seen)
        # The votes of each training case, summed by class of the predicted cases, which have equal weight.
        votes = np.abs(evidence.votes)
        votes = votes / np.maximum(votes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        weights = np.zeros((len(classes), len(evidence.cases)))
        np.add.at(weights, (codes[:, None], evidence.indices), votes)
    elif y is not None:
        raise ValueError("y without X has no meaning: give X, the cases of these classes, or neither.")
    else:
        labels = model.learner.classes_
        if isinstance(metric, LocalMetric):  # those of the anchors
            case: Any = model.learner.metric_.anchors[:1]
            if hasattr(model.learner, "feature_names_in_"):
                case = pd.DataFrame(case, columns=model.learner.feature_names_in_)
            labels = model.learner.evidence(case).labels
        classes, codes = class_codes(labels, len(labels))
        weights = np.equal.outer(np.arange(len(classes)), codes).astype(np.float64)
    if not isinstance(metric, LocalMetric):
        weights = weights.sum(axis=1, keepdims=True)
    profiles = metric.mean_shares(weights)
    features, columns = pd.Index(model.columns, name="feature"), pd.Index(classes, name="class")
    return pd.DataFrame(model.sums(profiles).T, features, columns)


def plot_class_profiles(profiles: pd.DataFrame, ax: Axes | None = None, most: int = 40) -> Axes:
    """Draw what `class_profiles` returns.

    Up to ``most`` features are shown below each other, the most relevant first; more are shown along an axis. Up to six
    classes have different marks or lines; more are columns of a heat map.

    Examples
    --------
    >>> profiles = pd.DataFrame({"cat": [0.7, 0.3], "dog": [0.2, 0.8]}, index=["width", "height"])
    >>> ax = plot_class_profiles(profiles)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['height', 'width']
    """
    if profiles.shape[1] > len(COLORS):
        return _draw_map(profiles, ax, most)
    return _draw_along(profiles, ax) if len(profiles) > most else _draw_marks(profiles, ax)


def _draw_marks(profiles: pd.DataFrame, ax: Axes | None) -> Axes:
    ranked = _ranked(profiles)
    if (ranked.nunique(axis=1) == 1).all():
        ranked = ranked.iloc[:, :1].set_axis(["all alike"], axis=1)
    values, places = ranked.to_numpy(), np.arange(len(ranked))
    ax = ax or new_axes(6.5, 1.6 + 0.26 * len(ranked))
    ax.hlines(places, values.min(axis=1), values.max(axis=1), color="0.75", linewidth=1.2)
    for k, label in enumerate(ranked.columns):
        look: dict[str, Any] = {"color": COLORS[k], "markerfacecolor": "none" if k % 2 else COLORS[k], "markersize": 6}
        ax.plot(values[:, k], places, MARKERS[k], clip_on=False, label=short_name(str(label)), **look)
    ax.set_yticks(places, [short_name(str(name)) for name in ranked.index])
    no_formulas(*ax.get_yticklabels())
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("mean relevance (share)")
    tidy(ax, "both")
    legend_above(ax, ncols=3, title=_axis_name(profiles))
    return ax


def _draw_along(profiles: pd.DataFrame, ax: Axes | None) -> Axes:
    ax = ax or new_axes(8, 3.4)
    places = np.arange(1, len(profiles) + 1)
    for k, label in enumerate(profiles.columns):
        look = {"color": COLORS[k], "linestyle": LINES[k]}
        ax.plot(places, profiles.iloc[:, k], linewidth=1.2, label=short_name(str(label)), **look)
    ax.set_xlim(1, len(places))
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("feature, in the order of the table")
    ax.set_ylabel("mean relevance (share)")
    tidy(ax, "y")
    legend_above(ax, ncols=3, title=_axis_name(profiles))
    return ax


def _draw_map(profiles: pd.DataFrame, ax: Axes | None, most: int) -> Axes:
    """Draw a heat map, dark where a feature matters; its single hue is readable in grey print."""
    named = len(profiles) <= most
    shown = _ranked(profiles) if named else profiles
    labels = [short_name(str(label)) for label in shown.columns]
    long = max(map(len, labels)) > 3
    if ax is None:
        height = 1.4 + 0.24 * len(shown) if named else 5.0
        ax = new_axes(min(3.4 + 0.28 * len(labels), 12), height + (0.08 * max(map(len, labels)) if long else 0.0))
    extent = (-0.5, len(labels) - 0.5, len(shown) + 0.5, 0.5)  # features are counted from one
    image = ax.imshow(shown.to_numpy(), aspect="auto", cmap="Blues", vmin=0.0, interpolation="nearest", extent=extent)
    ax.set_xticks(np.arange(len(labels)), labels, rotation=90 if long else 0)
    ax.set_xlabel(_axis_name(profiles))
    if named:
        ax.set_yticks(np.arange(1, len(shown) + 1), [short_name(str(name)) for name in shown.index])
    else:
        ax.set_ylabel("feature, in the order of the table")
    no_formulas(*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label)
    ax.figure.colorbar(image, ax=ax, label="mean relevance (share)")
    return ax


def _ranked(profiles: pd.DataFrame) -> pd.DataFrame:
    return profiles.iloc[np.argsort(-profiles.to_numpy().mean(axis=1), kind="stable")]


def _axis_name(profiles: pd.DataFrame) -> str:
    return str(profiles.columns.name or "class")
