from importlib import import_module

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA

from tests.helpers.embeddings import local_metric, random_cases
from whynear import DiagonalMetric, LocalMetric
from whynear.search import NeighborSearch

layout = import_module("whynear.embed")  # the name in the package is the function


def sq_to_anchors(metric, case):
    difference = case - metric.anchors
    if metric.omegas is None:
        return (metric.weights * difference**2).sum(axis=1)
    return (np.einsum("ncd,nd->nc", metric.omegas, difference) ** 2).sum(axis=1)


def test_a_case_lies_at_the_weighted_mean_of_the_nearest_and_on_those_it_equals():
    cases, points = np.array([[0.0], [0.0], [1.0], [3.0]]), np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 4.0], [9.0, 9.0]])
    search = NeighborSearch(DiagonalMetric([1.0]), cases)
    found = layout.between(search, np.array([[2.0], [0.0], [1.0]]), 2, points)
    assert_allclose(found, [[6.5, 6.5], [1.0, 0.0], [4.0, 4.0]])
    weights = 1 / np.array([4.0, 4.0, 1.0, 1.0])
    assert_allclose(layout.between(search, np.array([[2.0]]), 9, points)[0], weights @ points / weights.sum())


@pytest.mark.parametrize("full", [False, True])
def test_neighbours_are_the_other_anchors_each_measured_by_its_own_map(full):
    metric = local_metric(full=full)
    indices, distances = layout.neighbor_graph(metric, metric.anchors, 6, seed=0)
    assert_array_equal(indices[:, 0], np.arange(200))
    assert_array_equal(distances[:, 0], 0)
    for i, case in enumerate(metric.anchors):
        sq = sq_to_anchors(metric, case)
        sq[i] = np.inf
        nearest = np.argsort(sq)[:5]
        assert_array_equal(indices[i, 1:], nearest)
        assert_allclose(distances[i, 1:] ** 2, sq[nearest])


@pytest.mark.slow
def test_large_tables_are_searched_among_candidates(monkeypatch):
    metric = LocalMetric(random_cases(400, 3), weights=1 + np.random.default_rng(1).random((400, 3)))
    exact, exact_distances = layout.neighbor_graph(metric, metric.anchors, 6, seed=0)
    monkeypatch.setattr(layout, "EXACT_CASES", 399)
    indices, distances = layout.neighbor_graph(metric, metric.anchors, 6, seed=0)
    assert_array_equal(indices, exact)
    assert_allclose(distances, exact_distances)


def test_the_principal_plane_is_that_of_pca_with_a_fixed_sign():
    points = random_cases(30, 5)
    plane = layout.principal_plane(points)
    assert_allclose(np.abs(plane), np.abs(PCA(2).fit_transform(points)))
    assert_allclose(layout.principal_plane(points[::-1]), plane[::-1])


@pytest.mark.parametrize("d", [0, 1, 2])
def test_a_plane_has_two_coordinates(d):
    points = random_cases(4, d)
    plane = layout.on_plane(points)
    assert plane.shape == (4, 2)
    assert_array_equal(plane[:, :d], points)
    assert not plane[:, d:].any()
