"""Kernel ridge regression of classes and of numbers, whose predictions are sums of signed shares of training rows."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import validate_data

from whynear.learn.mixins import Predictions, WithEvidence
from whynear.metric import DiagonalMetric, Evidence
from whynear.utils.columns import names_of_rows


class KernelRidge(WithEvidence, BaseEstimator):
    """Solves (K + r I) alpha = Y - mean with K = exp(-d), under a metric that weighs the first feature most."""

    def __init__(self, ridge=0.1):
        self.ridge = ridge

    def fit(self, X, y):
        rows = names_of_rows(X, y)
        X, y = validate_data(self, X, y, dtype=float)
        weights = np.r_[1.0, np.full(X.shape[1] - 1, 0.3)]
        self.metric_ = DiagonalMetric(weights, feature_names=getattr(self, "feature_names_in_", None))
        self.cases_, self.row_names_ = X, rows
        outputs = self.outputs_of(y)
        self.base_ = outputs.mean(axis=0)
        kernel = np.exp(-np.sqrt(self.metric_.sq_distances(X, X)))
        self.alpha_ = np.linalg.solve(kernel + self.ridge * np.eye(len(X)), outputs - self.base_)
        return self

    def evidence_of(self, cases):
        sq = self.metric_.sq_distances(cases, self.cases_)
        order = np.argsort(sq, axis=1, kind="stable")
        sq = np.take_along_axis(sq, order, axis=1)
        shares = np.exp(-np.sqrt(sq))[:, :, None] * self.alpha_[order]
        return Evidence(
            cases=self.cases_,
            labels=self.labels_,
            indices=order,
            sq_distances=sq,
            votes=np.take_along_axis(shares, self.codes_[order][:, :, None], axis=2)[:, :, 0],
            classes=getattr(self, "classes_", np.empty(0)),
            row_names=self.row_names_,
            shares=shares,
            base=self.base_,
        )


class KernelClasses(ClassifierMixin, KernelRidge):
    """Predicts the class of largest score."""

    def outputs_of(self, y):
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        self.labels_ = y
        return (self.codes_[:, None] == np.arange(len(self.classes_))).astype(float)

    def predictions_from(self, evidence):
        scores = np.exp(3 * evidence.support())
        return Predictions(self.classes_[scores.argmax(axis=1)], scores / scores.sum(axis=1, keepdims=True))

    def predict(self, X):
        return self.predictions_from(self.evidence(X)).classes

    def predict_proba(self, X):
        return self.predictions_from(self.evidence(X)).probabilities


class KernelNumbers(RegressorMixin, KernelRidge):
    """Predicts the sum itself."""

    def outputs_of(self, y):
        self.targets_ = self.labels_ = y.astype(float)
        self.codes_ = np.zeros(len(y), dtype=int)
        return self.labels_[:, None]

    def predict(self, X):
        return self.evidence(X).support()[:, 0]
