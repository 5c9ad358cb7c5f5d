from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.lvq import IRIS, blocks_of
from whynear.learn.lvq.prototypes import Coordinates, Quantizer


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
