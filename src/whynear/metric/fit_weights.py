"""Weights of rows, passed to the estimators that take them in ``fit``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter


def weights_for(method: Any, weights: ArrayLike | None) -> dict[str, Any]:
    """Return what passes weights to the steps of a Pipeline, or to a method, that take them; of others, nothing.

    Nothing either where all weights are one, so that they change no bit.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> weights_for(make_pipeline(StandardScaler(), KNeighborsClassifier()), [1.0, 2.0])
    {'standardscaler__sample_weight': array([1., 2.])}
    """
    if weights is None or ((numbers := np.asarray(weights, dtype=np.float64)) == 1).all():
        return {}
    steps = method.steps if isinstance(method, Pipeline) else [("", method)]
    taking = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
    return {f"{name}__sample_weight".removeprefix("__"): numbers for name in taking}
