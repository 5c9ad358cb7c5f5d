"""Data, fitted learners of every kind, and a stand-in whose neighbours each have a map of their own."""

from functools import cache

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import validate_data

from whynear import GMLVQ, GRLVQ, LGMLVQ, LGRLVQ, LMNN, LocalMetric
from whynear.metric import Evidence


class LocalVote(ClassifierMixin, BaseEstimator):
    """The vote of the k nearest training cases by 1 / (d + 0.1), each measured by its own random diagonal."""

    def __init__(self, k=3):
        self.k = k

    def fit(self, X, y):
        X, self.y_ = validate_data(self, X, y, dtype=float)
        self.classes_ = np.unique(self.y_)
        weights = np.random.default_rng(0).random(X.shape)
        self.metric_ = LocalMetric(X, weights, feature_names=getattr(self, "feature_names_in_", None))
        return self

    def evidence(self, X):
        sq = self.metric_.sq_distances(validate_data(self, X, dtype=float, reset=False))
        indices = np.argsort(sq, axis=1, kind="stable")[:, : self.k]
        near = np.take_along_axis(sq, indices, axis=1)
        return Evidence(self.metric_.anchors, self.y_, indices, near, 1 / (near + 0.1), self.classes_)

    def predict_proba(self, X):
        support = self.evidence(X).support()
        return support / support.sum(axis=1, keepdims=True)

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


LEARNERS = {
    "GMLVQ": GMLVQ(random_state=0),
    "GRLVQ": GRLVQ(random_state=0),
    "LGMLVQ": LGMLVQ(n_prototypes=2, random_state=0),
    "LGRLVQ": LGRLVQ(random_state=0),
    "LMNN": LMNN(),
    "LocalVote": LocalVote(),
}


@cache
def table(name="iris"):
    data = {"iris": load_iris, "breast_cancer": load_breast_cancer}[name](as_frame=True)
    return data.data, data.target_names[data.target]


@cache
def fitted(learner, scaled=True, name="iris"):
    """A fitted learner by its name, alone or behind a scaler; it is cached and must not be changed."""
    model = make_pipeline(StandardScaler(), LEARNERS[learner]) if scaled else LEARNERS[learner]
    return clone(model).fit(*table(name))
