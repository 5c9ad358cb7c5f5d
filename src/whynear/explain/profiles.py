"""The mean local relevance of each feature in each class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.metric import Evidence, LocalMetric, as_metric
from whynear.metric.pipeline import FittedPipeline, class_codes
from whynear.utils.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        weights = _votes(model.learner.evidence(seen), codes, len(classes))
    elif y is not None:
        raise ValueError("y without X has no meaning: give X, the cases of these classes, or neither.")
    else:
        labels = _anchor_labels(model.learner) if isinstance(metric, LocalMetric) else model.learner.classes_
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
    from whynear.explain.drawing import draw_profiles

    return draw_profiles(profiles, ax, most)


def _anchor_labels(learner: Any) -> NDArray[Any]:
    """Return the classes of the anchors of a local metric."""
    case: Any = learner.metric_.anchors[:1]
    if hasattr(learner, "feature_names_in_"):
        case = pd.DataFrame(case, columns=learner.feature_names_in_)
    return learner.evidence(case).labels


def _votes(evidence: Evidence, codes: NDArray[np.intp], n_classes: int) -> Array:
    """Return the votes of each training case, summed by class of the predicted cases, which have equal weight."""
    votes = evidence.votes / np.maximum(evidence.votes.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    totals = np.zeros((n_classes, len(evidence.cases)))
    np.add.at(totals, (codes[:, None], evidence.indices), votes)
    return totals
