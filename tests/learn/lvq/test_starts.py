import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.lvq import IRIS, blocks_of
from whynear.learn.lvq.prototypes import chosen_directions, starting_map, starting_prototypes
from whynear.metric.projection import principal_directions


def test_prototypes_per_class_as_a_number_or_a_mapping():
    X, y = IRIS
    names = load_iris().target_names[y]
    model = wn.GMLVQ(n_prototypes={"setosa": 1, "versicolor": 3, "virginica": 2}, random_state=0).fit(X, names)
    assert model.prototype_labels_.tolist() == ["setosa"] + ["versicolor"] * 3 + ["virginica"] * 2
    with pytest.raises(ValueError, match="no number for the class 'setosa'"):
        wn.GMLVQ(n_prototypes={"virginica": 1}).fit(X, names)
    with pytest.raises(ValueError, match=r"n_prototypes must be an integer >= 1 \(for every class\), got 0"):
        wn.GMLVQ(n_prototypes=0).fit(X, y)


def test_a_class_with_few_rows_gets_fewer_prototypes_with_a_warning():
    X, y = IRIS
    keep = np.r_[0:2, 50:150]
    with pytest.warns(UserWarning, match="Class 0 has 2 different rows and gets as many prototypes, instead of 4"):
        model = wn.GMLVQ(n_prototypes=4, random_state=0).fit(X[keep], y[keep])
    assert model.prototype_labels_.tolist() == [0] * 2 + [1] * 4 + [2] * 4


def rows(n=30, d=3):
    return np.random.default_rng(0).standard_normal((n, d))


def test_single_prototypes_start_at_weighted_means():
    X, weights = rows(), np.random.default_rng(1).random(30)
    prototypes, labels = starting_prototypes(blocks_of(X, weights=weights), [1, 1], "auto", np.random.RandomState(0))
    assert_allclose(prototypes, [np.average(X[c::2], axis=0, weights=weights[c::2]) for c in (0, 1)])
    assert labels.tolist() == [0, 1]


def test_several_prototypes_of_a_mean_stand_apart_by_the_spread_of_their_class():
    X = rows(2000) * [1.0, 10.0, 100.0]
    prototypes, _ = starting_prototypes(blocks_of(X), [500, 500], "means", np.random.RandomState(0))
    assert_allclose(prototypes[:500].std(axis=0), 0.1 * X[::2].std(axis=0), rtol=0.1)


@pytest.mark.parametrize("init", ["auto", "means"])
def test_a_class_that_a_stream_has_not_shown_starts_at_the_mean_of_all(init):
    X, codes = rows(), np.zeros(30, dtype=np.intp)
    prototypes, _ = starting_prototypes(blocks_of(X, codes), [1, 1], init, np.random.RandomState(0))
    assert_allclose(prototypes[1], X.mean(axis=0))
    several, labels = starting_prototypes(blocks_of(X, codes), [1, 2], init, np.random.RandomState(0))
    assert labels.tolist() == [0, 1, 1]
    assert np.abs(several[1:] - X.mean(axis=0)).max() < 3


def test_clusters_are_looked_for_among_some_rows_of_a_class(monkeypatch):
    monkeypatch.setattr("whynear.learn.lvq.prototypes.CLUSTERED_ROWS", 10)
    X = rows(60)
    X[20:] += 100.0  # of each class the first ten rows, which are not among these
    prototypes, _ = starting_prototypes(blocks_of(X), [2, 2], "auto", np.random.RandomState(0))
    assert np.abs(prototypes).max() < 10


def test_directions_of_weighted_rows_are_those_of_copies():
    X, counts = rows(), np.random.default_rng(2).integers(1, 4, 30)
    found = chosen_directions(blocks_of(X, weights=counts.astype(float)), 2)
    copied = principal_directions(np.repeat(X, counts, axis=0), 2).kept
    assert_allclose(found @ found.T, copied @ copied.T, atol=1e-10)
    assert (np.take_along_axis(found, np.abs(found).argmax(axis=0)[None], axis=0) > 0).all()
    with pytest.raises(ValueError, match="effective_dim=4 is not among the 3 directions"):
        chosen_directions(blocks_of(X), 4)


@pytest.mark.parametrize("init", ["auto", "identity", "pca"])
@pytest.mark.parametrize("n_components", [None, 1, 3])
def test_the_rows_of_a_start_are_orthonormal_and_zero_where_nothing_varies(init, n_components):
    X, varying = rows(d=4), np.array([True, True, False, True])
    X[:, 2] = 0.0
    omega = starting_map(blocks_of(X), varying, n_components, init, np.random.RandomState(0))
    assert omega.shape == (n_components or 3, 4)
    assert_allclose(omega @ omega.T, np.eye(len(omega)), atol=1e-10)
    assert_array_equal(omega[:, 2], 0)


def test_auto_takes_the_axes_for_a_full_map_and_directions_otherwise():
    X, varying, rng = rows(), np.ones(3, dtype=bool), np.random.RandomState(0)
    assert_array_equal(starting_map(blocks_of(X), varying, None, "auto", rng), np.eye(3))
    few, pca = (starting_map(blocks_of(X), varying, 2, init, rng) for init in ("auto", "pca"))
    assert_array_equal(few, pca)
    assert len(starting_map(blocks_of(X[:2]), varying, None, "auto", rng)) == 1
    with pytest.raises(ValueError, match="n_components=4 asks for more directions than X has features"):
        starting_map(blocks_of(X), varying, 4, "auto", rng)
