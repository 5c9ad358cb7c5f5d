import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

import whynear as wn
from tests.helpers.slider import every_triplet, rows
from whynear.learn.slider.base import compare_by_triplets

ORDERS = pytest.mark.parametrize("p", [1, 2, 3])


@ORDERS
def test_prediction_is_by_the_nearest_cases(p):
    X, y = rows(120)
    model = wn.Slider(n_neighbors=3, p=p, random_state=0).fit(X[:80], y[:80])
    plain = KNeighborsClassifier(3, p=p, metric="minkowski").fit(model.transform(X[:80]), y[:80])
    assert_allclose(model.predict_proba(X[80:]), plain.predict_proba(model.transform(X[80:])))
    assert_array_equal(model.predict(X[80:]), plain.predict(model.transform(X[80:])))
    assert_array_equal(model.get_feature_names_out(), ["x0", "x1", "x2", "x3", "x4"])
    assert type(model.metric_) is (wn.DiagonalMetric if p == 2 else wn.MinkowskiMetric)


def test_mean_rank_on_new_cases():
    X, y = rows(900)
    model = wn.Slider(random_state=0, n_mismatches=10, n_mismatch_sets=20).fit(X[:300], y[:300])
    exact = wn.ranking.mean_rank(model, X[300:], y[300:], n_mismatches=10)
    assert_allclose(model.mean_rank(X[300:], y[300:]), exact, atol=0.1)
    assert exact < wn.ranking.mean_rank(wn.DiagonalMetric(np.ones(5)), X[300:], y[300:]) - 2


def test_triplets_and_labels_agree():
    X, y = rows(90)
    triplets = every_triplet(y, np.random.default_rng(0))
    learning, judges = compare_by_triplets(triplets, 90, 0.5, 1000, 20, np.random.default_rng(0))
    assert (y[judges.instances][:, None] != y[judges.mismatches]).all()
    assert not np.intersect1d(learning.instances, judges.instances).size
    by_class = wn.Slider(random_state=0).fit(X, y)
    by_triplets = wn.Slider(random_state=0).fit_triplets(X, triplets)
    new, labels = rows(400, seed=1)
    ranks = [wn.ranking.mean_rank(model, new, labels) for model in (by_class, by_triplets)]
    assert_allclose(*ranks, atol=0.25)
    assert max(ranks) < wn.ranking.mean_rank(wn.DiagonalMetric(np.ones(5)), new, labels) - 2


def test_without_labels_there_is_a_metric_but_no_prediction():
    X, y = rows(60)
    model = wn.Slider(random_state=0).fit(X, y).fit_triplets(X, every_triplet(y, np.random.default_rng(0)))
    assert model.transform(X).shape == X.shape
    assert model.metric_ == wn.as_metric(model)
    with pytest.raises(AttributeError, match="fitted on triplets, without classes to predict"):
        model.predict(X)


def test_few_triplets_of_one_instance():
    X, _ = rows(10)
    model = wn.Slider(random_state=0).fit_triplets(X, [[0, 1, 2], [0, 3, 4], [0, 1, 5]])
    assert_allclose(model.metric_.weights.sum(), 1)
    assert np.isfinite(wn.Slider(random_state=0).fit_triplets(X[:3], [[0, 1, 2]]).mean_rank_)


def test_classes_of_one_row_each_leave_equal_weights():
    with pytest.warns(UserWarning, match="No class has two rows"):
        model = wn.Slider(random_state=0).fit(rows(4)[0], [0, 1, 2, 3])
    assert_allclose(model.metric_.weights, 0.2)


def test_contradicting_copies_share_the_vote():
    X, y = rows(60)
    X[:3], y[:3] = X[0], [0, 0, 1]
    assert_allclose(wn.Slider(random_state=0).fit(X, y).predict_proba(X[:1]), [[2 / 3, 1 / 3, 0]])
