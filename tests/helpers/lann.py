"""Small tables for LANN, and settings that leave it nothing to choose."""

from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

GIVEN = {"epochs": 5, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 5, "shared_step": 0.01}


def rows(n=300, d=6, seed=0, n_classes=2):
    X, y = make_classification(
        n, d, n_informative=3, n_redundant=0, n_classes=n_classes, n_clusters_per_class=1, random_state=seed
    )
    return StandardScaler().fit_transform(X), y
