import numpy as np
import pytest
from sklearn.base import TransformerMixin
from sklearn.utils.validation import validate_data

from tests.helpers.learners import NearestClassMean
from whynear import LinearMetric
from whynear.testing import check_learner


def test_a_learner_that_does_everything_right_passes():
    check_learner(NearestClassMean())


class IsNoEstimator:
    """A thing with a fit method."""

    def fit(self, X, y):
        return self


class TakesMissingValues(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        return super().fit(np.nan_to_num(np.asarray(X, dtype=float)), y)


class NamesNoColumn(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        validate_data(self, X, y)
        return super().fit(X, y)


class ModifiesItsInput(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        super().fit(X, y)
        if isinstance(X, np.ndarray) and X.flags.writeable:
            X -= X.mean(axis=0)
        return self


class IgnoresTheSeed(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        super().fit(X, y)
        weights = self.metric_.weights * (1 + 1e-9 * np.random.default_rng().random())
        self.metric_ = type(self.metric_)(weights, self.metric_.feature_names)
        return self


class ForgetsNames(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        super().fit(X, y)
        self.metric_ = type(self.metric_)(self.metric_.weights)
        return self


class HasAnArrayForAMetric(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        super().fit(X, y)
        self.weights_ = self.metric_
        self.metric_ = self.weights_.weights
        return self

    def predict_proba(self, X):
        metric, self.metric_ = self.metric_, self.weights_
        try:
            return super().predict_proba(X)
        finally:
            self.metric_ = metric


class DividesByZero(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def predict_proba(self, X):
        with np.errstate(divide="ignore", invalid="ignore"):
            support = 1.0 / -np.log(super().predict_proba(X))
            return support / support.sum(axis=1, keepdims=True)


class LosesSmallClasses(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        y = np.asarray(y)
        classes, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, classes[counts > 1])
        return super().fit(X[kept], y[kept])


class MapsByAnotherMetric(TransformerMixin, NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        super().fit(X, y)
        self.metric_ = LinearMetric(np.diag(np.sqrt(self.metric_.weights)), self.metric_.feature_names)
        return self

    def transform(self, X):
        return 2 * self.metric_.map(X)

    def get_feature_names_out(self, input_features=None):
        return list(self.metric_.feature_names)


class DocumentsAnotherDefault(NearestClassMean):
    __doc__ = NearestClassMean.__doc__.replace("default=0.1", "default=0.5")


class DocumentsElsewhere(NearestClassMean):
    __doc__ = "The shrinkage is small and random_state a seed."


class OverflowsSilently(NearestClassMean):
    __doc__ = NearestClassMean.__doc__

    def fit(self, X, y):
        return super().fit(self.cut(X), y)

    def predict_proba(self, X):
        return super().predict_proba(self.cut(X))

    def cut(self, X):
        with np.errstate(invalid="ignore"):
            return X * (np.abs(X) < 1e30)


@pytest.mark.filterwarnings("ignore:Casting complex values", "ignore:Comparing a sparse matrix")
@pytest.mark.parametrize(
    ("broken", "complaint"),
    [
        (IsNoEstimator, "scikit-learn's checks"),
        (TakesMissingValues, "missing values are refused by column and count: a missing value in fit was accepted"),
        (NamesNoColumn, "the error for a missing value in fit does not name \"'depth'\""),
        (ModifiesItsInput, "inputs stay untouched: .*X was modified"),
        (IgnoresTheSeed, "two fits with one seed give different metrics"),
        (ForgetsNames, r"metric_ has the names \('x0'"),
        (HasAnArrayForAMetric, "metric_ must be a metric value, got ndarray"),
        (DividesByZero, "a probability is not finite"),
        (LosesSmallClasses, "a class with one row is lost"),
        (MapsByAnotherMetric, "transform maps by the metric: "),
        (DocumentsAnotherDefault, "shrinkage: documented 0.5, really 0.1"),
        (DocumentsElsewhere, "parameter shrinkage is not documented"),
        (OverflowsSilently, "are accepted, and the accuracy falls"),
    ],
)
def test_a_learner_broken_in_one_place_is_rejected_for_it(broken, complaint):
    with pytest.raises(AssertionError, match=f"(?s)failed .* of .* checks:.*{complaint}"):
        check_learner(broken())
