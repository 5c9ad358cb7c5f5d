from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.lvq import IRIS, blocks_of
from whynear.learn.lvq.prototypes import (
    MOST_CERTAINTY,
    SAMPLED_ROWS,
    Coordinates,
    Quantizer,
    certainty,
    chosen_directions,
    relative_distances,
    starting_map,
    starting_prototypes,
)
from whynear.metric.projection import principal_directions


def test_a_metric_of_another_kind_is_learned_further_or_refused():
    X, y = IRIS
    model = wn.GMLVQ(random_state=0).partial_fit(X, y, classes=[0, 1, 2])
    local = wn.LocalMetric(model.prototypes_, weights=np.ones((3, 4)))
    others = [wn.LinearMetric(np.eye(2, 4)), wn.DiagonalMetric(np.ones(4)), local]
    for other in others:
        twin = model.with_metric(other).partial_fit(X, y)
        assert type(twin.metric_) is type(other)
        assert twin.score(X, y) > 0.8
    for learner in (model, wn.GRLVQ().fit(X, y)):
        twin = learner.with_metric(wn.LocalMetric(learner.prototypes_, weights=np.ones((3, 4))))
        for use in (twin.transform, lambda _, twin=twin: twin.get_feature_names_out()):
            with pytest.raises(TypeError, match="LocalMetric is not one map for all cases"):
                use(X)
    along = wn.GMLVQ(effective_dim=2).fit(X, y)
    for other in (wn.DiagonalMetric(np.ones(4)), wn.LocalMetric(along.prototypes_, weights=np.ones((3, 4)))):
        with pytest.raises(TypeError, match=r"weighs columns, and the learner learns along 2 directions"):
            along.with_metric(other).partial_fit(X, y)


def coordinates_of(X, directions=None):
    return replace(Coordinates.about(blocks_of(X)), directions=directions)


def test_points_are_what_inside_takes_back():
    X, _ = IRIS
    coordinates = coordinates_of(X)
    inside = coordinates.inside(X)
    assert_allclose(inside.mean(axis=0), 0, atol=1e-12)
    assert_allclose(np.square(inside).sum(axis=1).mean(), 1)
    assert_allclose(coordinates.points(inside), X)


def test_a_constant_column_is_exactly_zero_inside():
    X = np.column_stack([np.full(7, 0.1), np.arange(7.0)])
    assert_array_equal(coordinates_of(X).inside(X)[:, 0], 0)


@pytest.mark.parametrize("shape", [(4,), (2, 4), (3, 4), (3, 2, 4)], ids=str)
def test_parameters_survive_packing(shape):
    rng = np.random.default_rng(0)
    one = Quantizer(rng.standard_normal(shape), rng.standard_normal((3, 4)), np.arange(3), shape[0] == 3)
    again = one.unpacked(one.packed())
    assert_array_equal(again.maps, one.maps)
    assert_array_equal(again.prototypes, one.prototypes)


@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("shape", [(2, 4), (3, 2, 4)], ids=str)
def test_a_metric_is_that_of_the_maps_with_the_trace_one_and_can_be_learned_further(shape, along):
    X, _ = IRIS
    rng = np.random.default_rng(0)
    directions = np.linalg.qr(rng.standard_normal((4, 2)))[0] if along else None
    coordinates = coordinates_of(X, directions)
    width = 2 if along else 4
    maps = rng.standard_normal((*shape[:-1], width))
    one = Quantizer(maps, rng.standard_normal((3, width)), np.arange(3), len(shape) == 3)
    metric = one.metric(coordinates, tuple("abcd"))
    assert_allclose(metric.relevances().sum(axis=-1), 1)
    again = Quantizer.of(metric, coordinates.points(one.prototypes), one.labels, coordinates)
    assert_allclose(again.prototypes, one.prototypes, atol=1e-12)
    norms = np.linalg.norm(maps, axis=(-2, -1), keepdims=True)
    assert_allclose(again.maps, maps / norms, atol=1e-12)


def test_the_nearest_class_alone_has_a_positive_relative_distance():
    rng = np.random.default_rng(0)
    sq = rng.random((50, 4))
    relative = relative_distances(sq)
    assert ((relative > 0).sum(axis=1) == 1).all()
    assert (relative.argmax(axis=1) == sq.argmin(axis=1)).all()
    assert (np.abs(relative) <= 1).all()


def test_ties_and_zeros_are_zero():
    assert_allclose(relative_distances(np.zeros((1, 3))), 0)
    assert_allclose(relative_distances(np.array([[2.0, 2.0, 6.0]])), [[0, 0, -0.5]])


@given(st.integers(0, 10**6), st.integers(2, 4), st.floats(0.0, 1.0), st.sampled_from([2, 10, SAMPLED_ROWS]))
def test_certainty_is_the_most_likely_factor_whatever_rows_it_starts_with(seed, n_classes, wrong, sampled_rows):
    rng = np.random.default_rng(seed)
    relative = relative_distances(rng.random((40, n_classes)))
    codes = np.where(rng.random(40) < wrong, rng.integers(n_classes, size=40), relative.argmax(axis=1))
    weights = rng.random(40)
    weights /= weights.sum()
    targets = np.full((40, n_classes), 1 / (40 + n_classes))
    targets[np.arange(40), codes] += 40 / (40 + n_classes)

    def loss(log_t):
        return -weights @ (targets * log_softmax(np.exp(log_t) * relative, axis=1)).sum(axis=1)

    oracle = minimize_scalar(loss, bounds=(np.log(1e-3), np.log(MOST_CERTAINTY)), method="bounded")
    with mock.patch("whynear.learn.lvq.prototypes.SAMPLED_ROWS", sampled_rows):
        found = certainty(blocks_of(relative, codes, weights, n_classes))
    assert loss(np.log(found)) <= oracle.fun + 1e-7


def test_cases_all_predicted_right_do_not_make_it_certain():
    relative = np.tile([[1.0, -1.0], [-1.0, 1.0]], (10, 1))
    t = certainty(blocks_of(relative, np.tile([0, 1], 10)))
    assert 0.9 < 1 / (1 + np.exp(-2 * t)) < 0.99


def test_prototypes_per_class_as_a_number_or_a_mapping():
    X, y = IRIS
    names = load_iris().target_names[y]
    model = wn.GMLVQ(n_prototypes={"setosa": 1, "versicolor": 3, "virginica": 2}, random_state=0).fit(X, names)
    assert model.prototype_labels_.tolist() == ["setosa"] + ["versicolor"] * 3 + ["virginica"] * 2
    with pytest.raises(ValueError, match="no number for the class 'setosa'"):
        wn.GMLVQ(n_prototypes={"virginica": 1}).fit(X, names)
    with pytest.raises(ValueError, match=r"n_prototypes must be an integer >= 1 .*, got 0"):
        wn.GMLVQ(n_prototypes=0).fit(X, y)


def test_a_class_with_few_rows_gets_fewer_prototypes_with_a_warning():
    X, y = IRIS
    keep = np.r_[0:2, 50:150]
    with pytest.warns(UserWarning, match=r"Class 0 has 2 different rows .* instead of 4"):
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
