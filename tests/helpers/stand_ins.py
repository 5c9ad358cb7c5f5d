"""What stands in for others in quick tests.

pynndescent and UMAP compile for a minute when they are first used; drawing takes half the time of a small study.
"""

import numpy as np
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors


class NNDescent:
    """Finds what pynndescent would find if it missed nothing."""

    def __init__(self, data, *, n_neighbors, random_state, compressed, n_jobs):
        self.search = NearestNeighbors(algorithm="brute").fit(data)

    def query(self, data, k):
        distances, indices = self.search.kneighbors(data, k)
        return indices.astype(np.int32), distances.astype(np.float32)


class UMAP:
    """Shows cases on their principal plane."""

    def __init__(self, *, n_neighbors, min_dist, precomputed_knn, random_state, n_jobs):
        self.n_neighbors = n_neighbors

    def fit_transform(self, X):
        return PCA(2).fit_transform(np.pad(X, [(0, 0), (0, 1)]))


def savefig(_figure, file, **_options):
    """Write a figure without anything on it, in the place of matplotlib's."""
    file.write("<svg></svg>")
