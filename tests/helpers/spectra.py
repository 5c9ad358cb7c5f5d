"""The wine spectra in the roles of the paper."""

import numpy as np

import whynear as wn


def spectra(real_data):
    """Learning and test roles switched, three outliers left out, as in the paper."""
    data = wn.datasets.load("wine_spectra", real_data)
    X, y = data.X.to_numpy(), data.y
    learning, test = np.flatnonzero(data.split == "train"), np.flatnonzero(data.split == "test")
    learning = np.delete(learning, [33, 34, 83])
    return X[test], y[test], X[learning], y[learning]
