"""Small learners: one that does everything right, to be broken in one place at a time, and one that holds a metric."""

import numpy as np
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin

from whynear import DiagonalMetric, LinearMetric
from whynear.learn import WithMetric, fit_inputs, predict_inputs
from whynear.model.files import register

# Checks of scikit-learn that learners whose training cases vote cannot pass, and why.
FAILED_BY_VOTING = {
    "check_sample_weight_equivalence_on_dense_data": "copies of a case are neighbours of each other, weights are not",
    "check_class_weight_classifiers": "weights count for the metric, and every case has one vote",
}


@register
class NearestClassMean(WithMetric, ClassifierMixin, BaseEstimator):
    """Predict the class whose mean is nearest, columns weighted by the inverse variance within classes.

    Parameters
    ----------
    shrinkage : float, default=0.1
        Share of the variance of the whole table that is added to the variance within classes.
    random_state : int, default=None
        Seed of a jitter of the weights that changes only their last digits.
    """

    def __init__(self, shrinkage=0.1, random_state=None):
        self.shrinkage = shrinkage
        self.random_state = random_state

    def fit(self, X, y):
        data = fit_inputs(self, X, y)
        self.classes_ = data.classes
        self.means_ = np.array([data.X[data.codes == c].mean(axis=0) for c in range(len(data.classes))])
        variances = (data.X - self.means_[data.codes]).var(axis=0) + self.shrinkage * data.X.var(axis=0)
        weights = np.divide(1.0, variances, out=np.zeros_like(variances), where=variances > 0)
        jitter = np.random.default_rng(self.random_state).random(len(weights))
        self.metric_ = DiagonalMetric(weights * (1 + 1e-9 * jitter), data.feature_names)
        return self

    def predict_proba(self, X):
        cases = predict_inputs(self, X)
        return softmax(-self.metric_.sq_distances(cases, self.means_), axis=1)

    def predict(self, X):
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


class Holder(BaseEstimator):
    """A learner whose metric is the one given, or a random one for the columns of X."""

    def __init__(self, metric=None):
        self.metric = metric

    def fit(self, X, y=None):
        self.metric_ = self.metric
        if self.metric is None:
            self.metric_ = LinearMetric(np.random.default_rng(1).standard_normal((3, np.shape(X)[1])))
        return self
