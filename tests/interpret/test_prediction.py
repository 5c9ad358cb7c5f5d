import numpy as np
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.learners import NearestClassMean
from whynear import DiagonalMetric
from whynear.interpret.validation import Split
from whynear.model.pipeline import FittedPipeline


def predictions(model, X, y, X_val):
    return Split(X, y, X_val, None, FittedPipeline.of(model)).predictor()


def two_tables():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), np.arange(40) % 2
    X[:, 0] += 3 * y
    return X[:25], y[:25], X[25:]


def test_a_learner_predicts_both_parts_with_the_other_metric():
    X, y, X_val = two_tables()
    metric = DiagonalMetric([0.0, 1.0, 0.0])
    model = NearestClassMean().fit(X, y)
    train, validation = predictions(model, X, y, X_val)(metric)
    assert_array_equal(train, model.with_metric(metric).predict(X))
    assert_array_equal(validation, model.with_metric(metric).predict(X_val))


def test_the_steps_before_the_learner_are_applied():
    X, y, X_val = two_tables()
    model = make_pipeline(StandardScaler(), NearestClassMean()).fit(X, y)
    train, validation = predictions(model, X, y, X_val)(model[-1].metric_)
    assert_array_equal(train, model.predict(X))
    assert_array_equal(validation, model.predict(X_val))


def test_without_a_learner_that_takes_metrics_the_nearest_rows_vote_but_never_for_themselves():
    X, y, X_val = two_tables()
    predict = predictions(KNeighborsClassifier(5).fit(X, y), X, y, X_val)
    train, validation = predict(DiagonalMetric(np.ones(3)))
    nearest = KNeighborsClassifier(5, weights=lambda d: 1 / d).fit(X, y)
    assert_array_equal(validation, nearest.predict(X_val))
    others = [np.delete(np.arange(25), i) for i in range(25)]
    expected = [nearest.fit(X[rest], y[rest]).predict(X[[i]])[0] for i, rest in enumerate(others)]
    assert_array_equal(train, expected)


def test_the_number_of_voting_rows_is_the_learners():
    X, y, X_val = two_tables()
    model = KNeighborsClassifier(1).fit(X, y)
    _, validation = predictions(model, X, y, X_val)(DiagonalMetric(np.ones(3)))
    assert_array_equal(validation, model.predict(X_val))
