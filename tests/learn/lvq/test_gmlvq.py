import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning

import whynear as wn
from tests.helpers.lvq import IRIS, scaled
from whynear.metric.projection import principal_directions


def test_low_rank():
    X, y = scaled()
    model = wn.GMLVQ(n_components=2).fit(X, y)
    assert model.metric_.omega.shape == (2, 30)
    assert model.transform(X).shape == (len(X), 2)
    assert model.get_feature_names_out().tolist() == ["gmlvq0", "gmlvq1"]
    assert model.score(X, y) > 0.96
    with pytest.raises(ValueError, match=r"n_components=31 asks for more directions than X has features \(30\)"):
        wn.GMLVQ(n_components=31).fit(X, y)


@pytest.mark.parametrize("learner", [wn.GMLVQ, wn.LGMLVQ])
def test_regularization_during_training_leaves_nothing_to_remove_after_it(learner):
    X, y = scaled()
    model = learner(effective_dim=4).fit(X, y)
    kept = principal_directions(X, 4)
    omega = model.metric_.omega if learner is wn.GMLVQ else model.metric_.omegas
    assert_allclose(kept.project(omega), omega, atol=1e-10)
    assert model.score(X, y) > 0.93
    with pytest.raises(ValueError, match="effective_dim=31 is not among the 30 directions"):
        learner(effective_dim=31).fit(X, y)


def test_copies_and_weights_count_in_the_directions():
    X, y = IRIS
    rng = np.random.default_rng(0)
    counts = np.where(np.arange(150) % 5, 1, 20 * rng.integers(1, 5, 150))
    table, labels = np.repeat(X, counts, axis=0), np.repeat(y, counts)
    kept = principal_directions(table, 2)
    assert not np.allclose(kept.project(np.eye(4)), principal_directions(X, 2).project(np.eye(4)), atol=1e-3)
    for learner in (wn.GMLVQ(effective_dim=2), wn.GMLVQ(effective_dim=2, count_prototypes=True)):
        copied = learner.fit(table, labels).metric_
        if not learner.count_prototypes:
            assert_allclose(kept.project(copied.omega), copied.omega, atol=1e-10)
            assert_allclose(wn.regularize(copied, table, 2).matrix(), copied.matrix(), atol=1e-10)
        assert learner.fit(X, y, sample_weight=counts).metric_ == copied


def test_prototypes_can_count_among_the_rows_that_give_the_directions():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) * [1.0, 3.0, 3.0]  # the classes differ along the direction of least variance
    y = np.arange(60) % 2
    X[:, 0] += 2.0 * y
    means = np.array([X[y == c].mean(axis=0) for c in (0, 1)])
    model = wn.GMLVQ(effective_dim=2, count_prototypes=True).fit(X, y)
    kept = principal_directions(np.vstack([X, means]), 2)
    assert_allclose(kept.project(model.metric_.omega), model.metric_.omega, atol=1e-8)
    assert not np.allclose(kept.kept @ kept.kept.T, principal_directions(X, 2).project(np.eye(3)), atol=1e-4)


@pytest.mark.slow
def test_more_columns_than_rows_need_no_square_matrix_of_columns():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 4000)), np.arange(30) % 2
    X[:, :50] += y[:, None]
    tracemalloc.start()
    model = wn.GMLVQ(max_iter=20).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.metric_.omega.shape[0] <= 29
    assert peak < 64 << 20  # a square matrix of 4,000 columns has 128 MB
    regular = wn.regularize(model.metric_, X)
    assert_allclose(regular.matrix()[:50, :50], model.metric_.matrix()[:50, :50], atol=1e-8)


@pytest.mark.slow
def test_memory_stays_in_proportion_to_the_table():
    X, y = make_classification(30_000, 40, n_informative=10, random_state=0)
    model = wn.GMLVQ(max_iter=5)
    tracemalloc.start()
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes
