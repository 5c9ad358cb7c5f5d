import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.relevance import CASES, local, same_bounds, table
from whynear import (
    DiagonalMetric,
    LinearMetric,
    LocalMetric,
    relevance_intervals,
)
from whynear.interpret.null_space import maps_with_directions, row_problems
from whynear.metric.projection import principal_directions


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["eigen", "map"])
def test_what_lies_in_the_null_space_does_not_matter(rows, kind):
    X, rng = table(seed=rows)
    omega = rng.standard_normal((rows, 8))
    null = np.linalg.svd(X - X.mean(axis=0))[2][4:]
    noisy = omega + 10 * rng.standard_normal((rows, len(null))) @ null
    expected = relevance_intervals(LinearMetric(omega), X, rows=kind)
    found = relevance_intervals(LinearMetric(noisy), X, rows=kind)
    same_bounds(found, expected)
    assert len(found.rows) == min(rows, 4) if kind == "eigen" else rows
    assert found.rank == found.effective_dim == 4


def test_rotating_the_map_does_not_matter_to_its_eigenvectors():
    X, rng = table()
    omega = rng.standard_normal((3, 8))
    turned = np.linalg.qr(rng.standard_normal((3, 3)))[0] @ omega
    same_bounds(relevance_intervals(LinearMetric(turned), X), relevance_intervals(LinearMetric(omega), X))


@given(CASES)
def test_for_one_row_the_eigenvector_is_the_row(drawn):
    X, w, kept = drawn
    eigen = relevance_intervals(LinearMetric([w]), X, kept, rows="eigen")
    same_bounds(relevance_intervals(LinearMetric([w]), X, kept, rows="map"), eigen)
    for row in eigen.rows:
        assert_allclose(row.map, principal_directions(X, kept).project(w), atol=1e-9 * row.mu)


@pytest.mark.parametrize("rows", ["eigen", "map"])
def test_a_diagonal_metric_is_the_linear_one_with_the_roots_of_its_weights(rows):
    X, rng = table()
    weights = rng.exponential(size=8) * (rng.random(8) < 0.8)
    expected = relevance_intervals(LinearMetric(np.diag(np.sqrt(weights))), X, rows=rows)
    same_bounds(relevance_intervals(DiagonalMetric(weights), X, rows=rows), expected)


def test_rows_add_up():
    X, rng = table()
    omega = rng.standard_normal((2, 8))
    both = relevance_intervals(LinearMetric(omega), X, rows="map")
    alone = [relevance_intervals(LinearMetric(row[None]), X) for row in omega]
    assert_allclose(both.upper, alone[0].upper + alone[1].upper, atol=1e-9)
    assert_allclose(both.lower, alone[0].lower + alone[1].lower, atol=1e-9)


def test_a_map_in_the_null_space_is_skipped_as_rounding():
    X = np.column_stack([np.arange(9.0)] * 3) / 7
    found = relevance_intervals(LinearMetric([[1.0, 1.0, -2.0]]), X)
    assert (found.rank, found.skipped_rows) == (1, ("row 0",))
    assert_array_equal(found.upper, np.zeros(3))
    assert_array_equal(found.strength, ["irrelevant"] * 3)


def test_negligible_rows_are_skipped_and_named():
    X, rng = table()
    omega = rng.standard_normal((2, 8))
    padded = np.vstack([omega, 1e-9 * rng.standard_normal(8), np.zeros(8)])
    found = relevance_intervals(LinearMetric(padded), X, rows="map")
    assert (len(found.rows), found.skipped_rows) == (2, ("row 2", "row 3"))
    same_bounds(found, relevance_intervals(LinearMetric(omega), X, rows="map"))


@pytest.mark.parametrize("kind", ["weights", "omegas"])
@pytest.mark.parametrize("effective_dim", [None, 1, 3])
def test_a_local_metric_adds_its_maps_by_the_share_of_rows_they_serve(kind, effective_dim):
    metric, left, right = local(kind)
    found = relevance_intervals(metric, np.vstack([left, right]), effective_dim)
    alone = [
        relevance_intervals(metric[0], left, effective_dim and min(effective_dim, 2)),
        relevance_intervals(metric[1], right, effective_dim),
    ]
    assert_allclose(found.upper, (15 * alone[0].upper + 25 * alone[1].upper) / 40, atol=1e-9)
    assert_allclose(found.lower, (15 * alone[0].lower + 25 * alone[1].lower) / 40, atol=1e-9)
    assert {row.anchor for row in found.rows} == {0, 1}
    assert {row.share for row in found.rows} == {15 / 40, 25 / 40}
    assert found.rank == 3


def test_a_map_that_serves_equal_rows_only_adds_nothing():
    metric, left, right = local("omegas")
    found = relevance_intervals(metric, np.vstack([np.tile(left[:1], (15, 1)), right]), 2)
    assert_allclose(found.upper, 25 / 40 * relevance_intervals(metric[1], right, 2).upper, atol=1e-9)


def test_more_than_a_hundred_maps_are_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 3))
    with pytest.raises(ValueError, match="has 101 maps"):
        relevance_intervals(LocalMetric(X, weights=np.ones((101, 3))), X)
    assert relevance_intervals(LocalMetric(X[:100], weights=np.ones((100, 3))), np.repeat(X, 2, axis=0)).rank > 0


def test_a_problem_states_the_row_in_the_directions_of_the_data():
    X, rng = table()
    X[:, 2] = 1.0
    omega = rng.standard_normal((2, 8))
    problems, skipped = row_problems(list(maps_with_directions(LinearMetric(omega), X, None)), "map")
    assert skipped == ()
    for problem, row in zip(problems, omega, strict=True):
        assert 2 not in problem.live
        assert_allclose(problem.U.T @ problem.U, np.eye(problem.U.shape[1]), atol=1e-9)
        assert_allclose(problem.U.T @ row[problem.live], problem.b)
        assert_allclose((X - X.mean(axis=0)) @ problem.map, (X - X.mean(axis=0)) @ row, atol=1e-9)
        assert (problem.share, problem.anchor) == (1.0, None)
