"""The data sets as in the papers: columns, rows, classes and splits."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from whynear.datasets import bin_target, load
from whynear.utils.arrays import Array

Protocol = Literal["fifth", "tenfold"]
N_FOLDS = {"fifth": 5, "tenfold": 10}

# Training samples 34, 35 and 84, counted from 1, which published work leaves out.
OUTLIERS = {"wine_spectra": [33, 34, 83]}


class Split(NamedTuple):
    """Training rows and test rows."""

    X: Array
    y: NDArray[np.generic]
    X_test: Array
    y_test: NDArray[np.generic]

    def scaled(self) -> Split:
        """Both parts as z-scores, with the mean and the standard deviation of the training rows."""
        scaler = StandardScaler().fit(self.X)
        return self._replace(X=scaler.transform(self.X), X_test=scaler.transform(self.X_test))


def load_arrays(dataset: str) -> tuple[Array, NDArray[np.int64]]:
    """All rows of a data set, with the columns that the papers use, and their classes."""
    if dataset == "artificial":
        return make_classification(2000, random_state=0)
    data = load(dataset)
    return data.X[data.columns].to_numpy(dtype=float), np.asarray(data.y)


def fold(dataset: str, protocol: Protocol, number: int) -> Split:
    """One fold in z-scores: trained on a fifth and tested on the rest, or trained on nine tenths."""
    X, y = load_arrays(dataset)
    splits = StratifiedKFold(N_FOLDS[protocol], shuffle=True, random_state=0).split(X, y)
    train, test = list(splits)[number]
    if protocol == "fifth":
        train, test = test, train
    return Split(X[train], y[train], X[test], y[test]).scaled()


def spectra(dataset: str, n_bins: int | None = 3) -> Split:
    """Spectra with exchanged roles, as published: the few test samples are used for training.

    The classes are bins of equal size over all samples except outliers; with ``n_bins=None`` the target stays a number.
    """
    data = load(dataset)
    kept = np.delete(np.arange(len(data.y)), OUTLIERS.get(dataset, []))
    y = np.asarray(data.y)[kept]
    X, is_train = data.X.to_numpy(dtype=float)[kept], data.split[kept] == "test"
    labels = y if n_bins is None else bin_target(y, n_bins)
    return Split(X[is_train], labels[is_train], X[~is_train], labels[~is_train])
