import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.learners import NearestClassMean
from whynear import DiagonalMetric
from whynear.interpret.validation import Split, splits
from whynear.model.pipeline import FittedPipeline


def test_every_row_is_held_out_once_and_never_trained_on_there():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    held_out = [split.X_val for split in splits(NearestClassMean(), X, y)]
    assert sorted(np.concatenate(held_out)[:, 0]) == sorted(X[:, 0])
    for split in splits(NearestClassMean(), X, y):
        assert not set(split.X[:, 0]) & set(split.X_val[:, 0])
        assert set(split.y) == {0, 1}


def test_numbers_are_split_without_classes_and_given_rows_are_kept():
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
    assert [len(split.y_val) for split in splits(LinearRegression(), X, y)] == [4] * 5
    (only,) = splits(LinearRegression(), X, y, X[:3], y[:3])
    assert len(only.y_val) == 3
    assert only.model is not None
    with pytest.raises(ValueError, match="give both or neither"):
        list(splits(LinearRegression(), X, y, X[:3]))


def test_no_group_is_on_both_sides_of_a_split():
    X, y, groups = np.arange(80.0).reshape(40, 2), np.arange(40) % 2, np.arange(40) // 4
    held_out = []
    for split in splits(NearestClassMean(), X, y, groups=groups):
        assert not set(split.groups_val) & set(groups[np.isin(X[:, 0], split.X[:, 0])])
        held_out += split.groups_val.tolist()
    assert sorted(held_out) == groups.tolist()


def test_a_fold_that_leaves_one_class_is_left_out():
    X, y, groups = np.arange(24.0).reshape(12, 2), np.repeat([0, 1], [4, 8]), np.arange(12) // 4
    assert [set(split.y) for split in splits(NearestClassMean(), X, y, groups=groups)] == [{0, 1}] * 2


@pytest.mark.parametrize(
    ("words", "groups", "message"),
    [
        ((), np.arange(3), "groups must have as many rows as y, got 3 and 20 instead"),
        ((np.zeros((2, 2)), np.zeros(2)), np.arange(20), "groups belong to a cross-validation"),
    ],
)
def test_groups_that_do_not_fit_are_refused(words, groups, message):
    X, y = np.arange(40.0).reshape(20, 2), np.arange(20) % 2
    with pytest.raises(ValueError, match=message):
        list(splits(NearestClassMean(), X, y, *words, groups=groups))


def test_weights_count_when_the_learner_is_fitted_and_rows_of_weight_zero_are_left_out():
    rng = np.random.default_rng(0)
    X, weights = rng.standard_normal((40, 2)), rng.integers(0, 3, 40)
    y = X @ [1.0, 2.0] + rng.standard_normal(40)
    plain, ones = (list(splits(LinearRegression(), X, y, sample_weight=w)) for w in (None, np.ones(40)))
    assert [split.model.learner.coef_.tolist() for split in plain] == [
        split.model.learner.coef_.tolist() for split in ones
    ]
    for split, usual in zip(splits(LinearRegression(), X, y, sample_weight=weights), plain, strict=True):
        counts = [weights[(row == X).all(axis=1)].item() for row in split.X]
        assert min(counts) > 0
        copied = LinearRegression().fit(np.repeat(split.X, counts, axis=0), np.repeat(split.y, counts))
        assert_allclose(split.model.learner.coef_, copied.coef_)
        assert split.y_val.tolist() == usual.y_val.tolist()


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
