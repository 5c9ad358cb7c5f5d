import json
import pickle
from functools import partial
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from tests.helpers.learners import Holder
from tests.interpret.test_programs import KINDS, case
from whynear import (
    DiagonalMetric,
    LinearMetric,
    LocalMetric,
    as_metric,
    load,
    regularization_paths,
    regularize,
    relevance_intervals,
    save,
)
from whynear.datasets import make_relevance, make_xor
from whynear.interpret import highs, programs
from whynear.metric.projection import principal_directions

CASES = st.builds(case, st.integers(0, 10_000), st.sampled_from(KINDS)).filter(lambda drawn: drawn[2] > 0)


def table(n=30, d=8, rank=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)), rng


def same_bounds(found, expected, order=slice(None), scale=1.0):
    atol = 1e-8 * max(1e-300, np.max(expected.upper, initial=0.0)) * scale
    assert_allclose(found.lower, scale * expected.lower[order], atol=atol)
    assert_allclose(found.upper, scale * expected.upper[order], atol=atol)


# Laws


@given(CASES, st.sampled_from([0.0, 0.01, 0.1]))
def test_extreme_maps_act_as_the_row_does_keep_to_the_budget_and_attain_their_bounds(drawn, slack):
    X, w, kept = drawn
    found = relevance_intervals(LinearMetric([w]), X, kept, slack, extremes=True)
    projected = principal_directions(X, kept).project(X - X.mean(axis=0))
    for row in found.rows:
        acts, size = projected @ row.map, np.abs(projected).max() * row.mu
        assert_allclose(projected @ w, acts, atol=1e-9 * (size + np.abs(projected).max() * np.abs(w).max()))
        for j in range(len(w)):
            maps = {
                row.low[j]: row.extreme(j, "low"),
                row.high[j]: row.extreme(j, "high"),
                row.lower[j]: np.abs(row.extreme_map(j, "lower")),
                row.upper[j]: np.abs(row.extreme_map(j, "upper")),
            }
            for bound, extreme in maps.items():
                assert_allclose(extreme[j], bound, atol=1e-9 * row.mu)
            for extreme in (row.extreme(j, "low"), row.extreme(j, "high"), row.extreme_map(j, "lower")):
                assert_allclose(projected @ extreme, acts, atol=1e-8 * size)
                assert np.abs(extreme).sum() <= (1 + slack) * row.mu * (1 + 1e-9)


@given(CASES, st.sampled_from([0.0, 0.01, 0.1]))
def test_the_map_of_least_norm_lies_inside_every_interval(drawn, slack):
    X, w, kept = drawn
    for row in relevance_intervals(LinearMetric([w]), X, kept, slack).rows:
        rounding = 1e-9 * row.mu
        assert_allclose(np.abs(row.least).sum(), row.mu)
        assert (row.low - rounding <= row.least).all()
        assert (row.least <= row.high + rounding).all()
        assert (row.lower <= row.upper).all()
        assert (row.upper <= (1 + slack) * row.mu + rounding).all()


@given(CASES)
def test_intervals_widen_with_the_slack(drawn):
    X, w, kept = drawn
    found = [relevance_intervals(LinearMetric([w]), X, kept, slack) for slack in (0.0, 0.01, 0.1)]
    for narrow, wide in pairwise(found):
        rounding = 1e-8 * narrow.upper.max()
        assert (wide.lower <= narrow.lower + rounding).all()
        assert (wide.upper >= narrow.upper - rounding).all()


@given(CASES, st.sampled_from([1e-8, -0.3, -1.0, 7.0, 1e8]))
def test_scaling_the_map_scales_the_bounds(drawn, factor):
    X, w, kept = drawn
    expected = relevance_intervals(LinearMetric([w]), X, kept)
    found = relevance_intervals(LinearMetric([factor * w]), X, kept)
    same_bounds(found, expected, scale=abs(factor))
    assert_array_equal(found.strength, expected.strength)


@pytest.mark.parametrize("factor", [1e-8, 1e8])
def test_scaling_the_data_changes_nothing(factor):
    X, rng = table()
    metric = LinearMetric(rng.standard_normal((2, 8)))
    same_bounds(relevance_intervals(metric, factor * X), relevance_intervals(metric, X))


@given(CASES, st.randoms(use_true_random=False))
def test_permuting_features_permutes_the_bounds(drawn, random):
    X, w, kept = drawn
    order = random.sample(range(len(w)), len(w))
    expected = relevance_intervals(LinearMetric([w]), X, kept)
    same_bounds(relevance_intervals(LinearMetric([w[order]]), X[:, order], kept), expected, order)


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


def test_a_pipeline_is_bounded_in_the_coordinates_its_learner_saw():
    X, rng = table(d=5, rank=5, seed=2)
    X = pd.DataFrame(np.column_stack([X, X[:, 0]]) * np.logspace(-3, 3, 6), columns=list("abcdef"))
    metric = LinearMetric(rng.standard_normal((2, 6)))
    pipeline = make_pipeline(StandardScaler(), Holder(metric)).fit(X)
    expected = relevance_intervals(metric, pipeline[0].transform(X), 3)
    for given_metric in (pipeline, as_metric(pipeline)):
        found = relevance_intervals(given_metric, X, 3, extremes=True)
        same_bounds(found, expected)
        assert found.feature_names == tuple("abcdef")
        assert (found.units, expected.units) == ("per standard deviation", "per unit")
        for extreme in (found.mean_map(), next(found.extreme_metrics())):
            assert_allclose(extreme.scale, as_metric(pipeline).scale)


@pytest.mark.parametrize(
    ("steps", "units"),
    [
        ([StandardScaler()], "per standard deviation"),
        ([StandardScaler(with_std=False)], "per unit"),
        ([VarianceThreshold()], "per unit"),
        ([MinMaxScaler()], "per scaled unit"),
        ([RobustScaler()], "per scaled unit"),
        ([StandardScaler(), MinMaxScaler()], "per scaled unit"),
        ([StandardScaler(), PCA(3)], "per standard deviation"),
        ([PCA(3), StandardScaler()], "per unit"),
    ],
    ids=str,
)
def test_units_are_those_of_the_scaler_the_learner_stands_behind(steps, units, tmp_path):
    X, rng = table(d=4, rank=4)
    X = X + rng.standard_normal(X.shape)
    n_seen = 3 if any(isinstance(step, PCA) for step in steps) else 4
    pipeline = make_pipeline(*steps, Holder(LinearMetric(rng.standard_normal((2, n_seen))))).fit(X)
    save(as_metric(pipeline), tmp_path / "metric")
    for given_metric in (pipeline, as_metric(pipeline), load(tmp_path / "metric"), regularize(pipeline, X)):
        assert relevance_intervals(given_metric, X).units == units
        assert regularization_paths(given_metric, X).units == units
    assert pickle.loads(pickle.dumps(as_metric(pipeline))).units == units
    found = relevance_intervals(pipeline, X, extremes=True)
    assert next(found.extreme_metrics()).units == units


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1])
def test_the_number_of_threads_does_not_matter(n_jobs):
    X, rng = table(n=40, d=150, rank=20)
    metric = LinearMetric(rng.standard_normal((2, 150)))
    same_bounds(relevance_intervals(metric, X, n_jobs=n_jobs), relevance_intervals(metric, X))


def test_the_same_call_gives_the_same_numbers():
    X, rng = table(n=40, d=150, rank=20)
    X[:, 75:] = X[:, :75]
    metric = LinearMetric(rng.standard_normal((1, 150)))
    first, again = (relevance_intervals(metric, X, extremes=True) for _ in range(2))
    assert_array_equal(first.lower, again.lower)
    assert_array_equal(first.upper, again.upper)
    assert_array_equal(first.mean_map().omega, again.mean_map().omega)


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.1, 0.3]), st.sampled_from([0.0, 0.01, 0.1]))
def test_screening_finds_the_same_strengths_and_never_too_small_bounds(seed, floor, slack):
    X, rng = table(d=60, rank=12, seed=seed)
    metric = LinearMetric(rng.standard_normal((2, 60)))
    exact = relevance_intervals(metric, X, None, slack, floor)
    quick = relevance_intervals(metric, X, None, slack, floor, screen=True)
    assert_array_equal(quick.strength, exact.strength)
    assert (quick.upper >= exact.upper - 1e-9).all()
    assert (quick.lower <= exact.lower + 1e-9).all()
    assert quick.certificate.programs <= exact.certificate.programs
    solved = quick.upper > floor * exact.upper.max()
    assert_allclose(quick.upper[solved], exact.upper[solved], atol=1e-8)


def test_screening_saves_programs():
    X, rng = table(n=60, d=2000, rank=20)
    quick = relevance_intervals(LinearMetric(rng.standard_normal((1, 2000))), X, screen=True, floor=0.3)
    assert 0 < quick.certificate.programs < 2000


# Known truth


@pytest.mark.parametrize("seed", range(20))
def test_the_features_of_the_xor_data_are_told_apart(seed):
    data = make_xor(random_state=seed)
    found = relevance_intervals(LinearMetric([[1.0, 0, 0, 1, 0, 0]], data.feature_names), data.X, 3)
    assert_array_equal(found.strength, data.strength)
    assert (found.upper[:3] > 0.5 * found.upper[3]).all()


@pytest.mark.parametrize("target", ["linear", "xor"])
@pytest.mark.parametrize("seed", range(20))
def test_features_are_as_strong_as_they_were_made(target, seed):
    sizes = {"n_strong": 1 + seed % 2, "n_weak_groups": 1 + seed % 3, "n_irrelevant": 2 + seed % 3}
    data = make_relevance(target=target, random_state=seed, **sizes)
    first = [group[0] for group in data.groups]
    row = [float(name.startswith("strong") or name in first) for name in data.X]
    found = relevance_intervals(LinearMetric([row], data.feature_names), data.X, sum(sizes.values()))
    assert_array_equal(found.strength, data.strength)


# Faults and edges


def test_a_constant_column_is_irrelevant_with_bounds_of_zero():
    X, rng = table()
    X[:, 3] = 5.0
    for metric in (LinearMetric(rng.standard_normal((2, 8))), DiagonalMetric(np.ones(8))):
        found = relevance_intervals(metric, X, extremes=True)
        assert (found.lower[3], found.upper[3], found.strength[3]) == (0, 0, "irrelevant")
        assert all(row.extreme_map(3, "upper")[3] == 0 for row in found.rows)


def test_data_that_do_not_vary_leave_nothing_to_bound():
    for metric in (LinearMetric(np.eye(3)), DiagonalMetric(np.ones(3))):
        found = relevance_intervals(metric, np.ones((5, 3)), extremes=True)
        assert (found.rank, found.rows, found.skipped_rows) == (0, (), ())
        assert_array_equal(found.strength, ["irrelevant"] * 3)
        assert_array_equal(found.mean_map().omega, np.zeros((1, 3)))


def test_a_map_in_the_null_space_is_nothing_but_rounding():
    X = np.column_stack([np.arange(9.0)] * 3) / 7
    found = relevance_intervals(LinearMetric([[1.0, 1.0, -2.0]]), X)
    assert (found.rank, found.skipped_rows) == (1, ("row 0",))
    assert_array_equal(found.upper, np.zeros(3))
    assert_array_equal(found.strength, ["irrelevant"] * 3)


def test_fewer_rows_than_columns_work_and_show_the_rank():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((6, 40))
    found = relevance_intervals(LinearMetric(rng.standard_normal((1, 40))), X)
    assert (found.rank, found.effective_dim) == (5, 5)
    assert found.certificate.error < 1e-9
    assert found.certificate.programs == 80


def test_negligible_rows_are_skipped_and_named():
    X, rng = table()
    omega = rng.standard_normal((2, 8))
    padded = np.vstack([omega, 1e-9 * rng.standard_normal(8), np.zeros(8)])
    found = relevance_intervals(LinearMetric(padded), X, rows="map")
    assert (len(found.rows), found.skipped_rows) == (2, ("row 2", "row 3"))
    same_bounds(found, relevance_intervals(LinearMetric(omega), X, rows="map"))


def test_the_floor_is_relative_to_the_largest_upper_bound():
    X, rng = table()
    metric = LinearMetric(rng.standard_normal((1, 8)))
    for floor in (0.0, 0.1, 0.5, 1.0):
        found = relevance_intervals(metric, X, floor=floor)
        assert_allclose(found.threshold, max(floor, 1e-9) * found.upper.max())
        assert_array_equal(found.strength == "strong", found.lower > found.threshold)
        assert_array_equal(found.strength == "irrelevant", found.upper <= found.threshold)
    assert (found.strength == "irrelevant").all()


def test_without_a_floor_rounding_does_not_count():
    X, _ = table(d=5, rank=5)
    found = relevance_intervals(LinearMetric([[1.0, 0, 1, 0, 0]]), X, slack=0.0, floor=0.0)
    assert_array_equal(found.strength, ["strong", "irrelevant", "strong", "irrelevant", "irrelevant"])


def test_arguments_out_of_range_are_refused():
    X, _ = table()
    metric = LinearMetric(np.eye(8))
    with pytest.raises(ValueError, match=r"slack must be a finite number >= 0 .*, got -0\.1"):
        relevance_intervals(metric, X, slack=-0.1)
    with pytest.raises(ValueError, match="rows must be one of eigen, map, got 'all'"):
        relevance_intervals(metric, X, rows="all")
    for wrong in (0, 5):
        with pytest.raises(ValueError, match=f"effective_dim={wrong} is not among the 4 directions"):
            relevance_intervals(metric, X, wrong)
    with pytest.raises(ValueError, match="at least 2 rows"):
        relevance_intervals(metric, X[:1])
    with pytest.raises(ValueError, match="extremes=True"):
        relevance_intervals(metric, X).mean_map()


def no_pivots(monkeypatch):
    """Let the simplex give up every program that is not optimal from the start."""
    monkeypatch.setattr(programs, "extremes", partial(programs.extremes, most_pivots=0))


def test_programs_solved_by_highs_give_the_same_intervals(monkeypatch):
    X, rng = table(d=30, rank=8)
    metric = LinearMetric(rng.standard_normal((2, 30)))
    expected = relevance_intervals(metric, X)
    no_pivots(monkeypatch)
    found = relevance_intervals(metric, X)
    assert found.certificate.fallbacks > 60
    assert_allclose(found.upper, expected.upper, atol=1e-6)
    assert_allclose(found.lower, expected.lower, atol=1e-6)
    assert_array_equal(found.strength, expected.strength)


@pytest.mark.parametrize("slack", [0.0, 0.01])
def test_features_nobody_can_bound_are_unknown_never_irrelevant(monkeypatch, slack):
    X, rng = table(d=30, rank=8)
    metric = LinearMetric(rng.standard_normal((2, 30)))
    expected = relevance_intervals(metric, X, slack=slack)
    no_pivots(monkeypatch)
    found = relevance_intervals(metric, X, slack=slack, time_limit=0.0, extremes=True)
    unknown = found.strength == "unknown"
    assert found.certificate.unknowns == unknown.sum() > 15
    assert np.isfinite(found.upper).all()
    assert (found.upper >= expected.upper - 1e-7).all()
    assert (found.lower <= expected.lower + 1e-7).all()
    assert "unknown" in repr(found)
    for row in found.rows:
        for j in np.flatnonzero(unknown):
            assert_allclose((X - X.mean(axis=0)) @ (row.extreme_map(j, "upper") - row.map), 0, atol=1e-6)


def test_a_time_out_flags_that_feature_only(monkeypatch):
    X, rng = table(d=30, rank=8)
    metric = LinearMetric(rng.standard_normal((1, 30)))
    expected = relevance_intervals(metric, X)
    solve = highs.Programs.solve

    def late(rest, feature, *words):
        return None if feature == 4 else solve(rest, feature, *words)

    monkeypatch.setattr(highs.Programs, "solve", late)
    no_pivots(monkeypatch)
    found = relevance_intervals(metric, X)
    others = np.arange(30) != 4
    assert found.strength[4] == "unknown"
    assert found.certificate.unknowns == 1
    assert_array_equal(found.strength[others], expected.strength[others])
    assert_allclose(found.upper[others], expected.upper[others], atol=1e-6)
    assert expected.upper[4] <= found.upper[4] < np.inf


def test_a_row_without_a_map_of_least_norm_leaves_its_features_unknown(monkeypatch):
    X, rng = table()
    X[:, 7] = 1.0
    omega = rng.standard_normal((2, 8))
    expected = relevance_intervals(LinearMetric(omega), X, rows="map")
    solve, calls = programs.least_norm, []

    def fail(U, b):
        calls.append(b)
        if len(calls) % 2:
            raise ArithmeticError("no map of least norm")
        return solve(U, b)

    monkeypatch.setattr(programs, "least_norm", fail)
    for screen in (False, True):
        found = relevance_intervals(LinearMetric(omega), X, rows="map", extremes=True, screen=screen)
        assert_array_equal(found.strength, ["unknown"] * 7 + ["irrelevant"])
        assert (found.upper >= expected.upper - 1e-9).all()
        assert np.isfinite(found.upper).all()
        assert_allclose(found.lower, expected.rows[1].lower, atol=1e-9)
        json.dumps(found.to_dict(), allow_nan=False)
        assert found.substitutes.of == {}
        assert found.mean_map().omega.shape == (2, 8)
        assert found.plot().get_xlabel()


# Local metrics


def local(kind, seed=0):
    rng = np.random.default_rng(seed)
    left, right = table(15, 6, 2, seed=1)[0] - 40, table(25, 6, 3, seed=2)[0] + 40
    anchors = np.array([left.mean(axis=0), right.mean(axis=0), np.full(6, 1e4)])
    maps = rng.random((3, 6)) if kind == "weights" else rng.standard_normal((3, 2, 6))
    return LocalMetric(anchors, **{kind: maps}), left, right


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


def test_the_rows_of_a_local_metric_make_no_common_map():
    metric, left, right = local("omegas")
    found = relevance_intervals(metric, np.vstack([left, right]), extremes=True)
    with pytest.raises(ValueError, match="different anchors"):
        found.mean_map()
    with pytest.raises(ValueError, match="different anchors"):
        next(found.extreme_metrics())


def test_more_than_a_hundred_maps_are_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 3))
    with pytest.raises(ValueError, match="has 101 maps"):
        relevance_intervals(LocalMetric(X, weights=np.ones((101, 3))), X)
    assert relevance_intervals(LocalMetric(X[:100], weights=np.ones((100, 3))), np.repeat(X, 2, axis=0)).rank > 0


# Results


def test_the_mean_map_is_the_mean_of_the_two_metrics_per_feature():
    X, rng = table()
    found = relevance_intervals(LinearMetric(rng.standard_normal((2, 8))), X, extremes=True)
    metrics = list(found.extreme_metrics())
    assert len(metrics) == 16
    assert_allclose(found.mean_map().omega, np.mean([metric.omega for metric in metrics], axis=0), atol=1e-12)
    for metric in (*metrics, found.mean_map()):
        expected = LinearMetric([row.map for row in found.rows]).sq_distances(X)
        assert_allclose(metric.sq_distances(X), expected, atol=1e-6 * expected.max())
    for j in range(8):
        assert_allclose(np.abs(metrics[2 * j].omega[:, j]).sum(), found.lower[j], atol=1e-9)
        assert_allclose(np.abs(metrics[2 * j + 1].omega[:, j]).sum(), found.upper[j], atol=1e-9)


def test_results_are_read_as_a_table_and_as_plain_values():
    X, rng = table()
    X = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    found = relevance_intervals(LinearMetric(rng.standard_normal((2, 8)), list(X.columns)), X)
    frame = found.frame()
    assert list(frame.columns) == ["feature", "lower", "upper", "strength"]
    assert list(frame["feature"]) == list(X.columns)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["upper"] == found.upper.tolist()
    assert len(plain["rows"]) == 2
    assert plain["certificate"]["programs"] == 32
    assert repr(found).startswith("Relevance(8 features: ")


def test_progress_is_told_to_the_end_and_the_inputs_are_left_alone():
    X, rng = table(d=60, rank=10)
    X.setflags(write=False)
    told = []
    relevance_intervals(LinearMetric(rng.standard_normal((2, 60))), X, progress=lambda *step: told.append(step))
    shares = [share for _, share in told]
    assert told[0] == ("find maps of least norm", 0.0)
    assert told[-1] == ("done", 1.0)
    assert told[-2][0] == "solved 240 of 240 programs"
    assert shares == sorted(shares)
