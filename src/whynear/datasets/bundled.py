"""The four data sets of the papers that are bundled with scikit-learn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn import datasets
from sklearn.utils import Bunch

LOADERS: dict[str, Callable[..., Bunch]] = {
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def bundled(name: str) -> Bunch:
    """Return one of scikit-learn's bundled sets in the form of `load`."""
    found = LOADERS[name](as_frame=True)
    X = found.data.astype(float)
    return Bunch(
        X=X,
        y=found.target.to_numpy(dtype=np.int64),
        feature_names=list(X.columns),
        target_names=[str(label) for label in found.target_names],
        split=None,
        columns=list(X.columns),
        source=f"Bundled with scikit-learn (sklearn.datasets.load_{name}).",
        name=name,
    )
