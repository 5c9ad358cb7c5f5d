"""What stands in for others in quick tests.

pynndescent and UMAP compile for a minute when they are first used; drawing takes half the time of a small study.
"""

import numpy as np


class NNDescent:
    """Finds what pynndescent would find if it missed nothing."""

    def __init__(self, data, *, n_neighbors, random_state, compressed, n_jobs):
        self.data = data

    def query(self, data, k):
        distances = np.linalg.norm(data[:, None] - self.data, axis=2)
        nearest = np.argsort(distances, axis=1)[:, :k]
        return nearest.astype(np.int32), np.take_along_axis(distances, nearest, axis=1)


class UMAP:
    """Shows cases on their principal plane."""

    def __init__(self, *, n_neighbors, min_dist, precomputed_knn, random_state, n_jobs):
        self.n_neighbors = n_neighbors

    def fit_transform(self, X):
        centred = np.pad(X - X.mean(axis=0), [(0, 0), (0, 1)])
        return centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T


def savefig(_figure, file, **_options):
    """Write a figure without anything on it, in the place of matplotlib's."""
    file.write("<svg></svg>")
