import json
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, RobustScaler, StandardScaler

from tests.helpers.learners import Holder
from tests.helpers.relevance import CASES, KINDS, case, no_pivots, same_bounds, table
from whynear import (
    DiagonalMetric,
    LinearMetric,
    as_metric,
    load,
    regularization_paths,
    regularize,
    relevance_intervals,
    save,
)
from whynear.datasets import make_relevance, make_xor
from whynear.interpret import programs
from whynear.interpret.intervals import by_column


def by_the_paper(X, w, kept, slack):
    """Eqs. 6, 9 and 10 as they stand, over an explicit basis of the null space, with the budget (1 + slack) mu.

    Only a column that does not vary is set aside: there the programs could waste all slack, and bound it by slack mu.
    """
    centred = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred)
    null = vectors[:, np.argsort(-values)[kept:]]
    d, given = len(w), np.abs(w).max()
    w = w - null @ (null.T @ w)
    size = np.abs(w).max()
    if size <= 1e-12 * given:
        return np.zeros(d), np.zeros(d), 0.0
    w = w / size
    free = [(0, None)] * d + [(None, None)] * null.shape[1]
    total = np.append(np.ones(d), np.zeros(null.shape[1]))
    A = np.block([[-np.eye(d), null], [-np.eye(d), -null]])
    b = np.concatenate([-w, w])

    def solve(cost, A, b):
        found = linprog(cost, A, b, bounds=free)
        return found.fun if found.status == 0 else np.inf

    mu = solve(total, A, b)
    A, b = np.vstack([A, total]), np.append(b, (1 + slack) * mu)
    lower, upper = np.empty(d), np.empty(d)
    for j in range(d):
        lower[j] = solve(np.eye(d + null.shape[1])[j], A, b)
        moved = np.append(np.zeros(d), null[j])
        # Maximise +-(w_j + sum_i alpha_i v_ij), which itself must not be negative.
        ends = [solve(-s * moved, np.vstack([A, -s * moved]), np.append(b, s * w[j])) for s in (1, -1)]
        upper[j] = max(w[j] - ends[0], -w[j] - ends[1])
    dead = np.linalg.norm(np.delete(vectors, np.argsort(-values)[kept:], axis=1), axis=1) < 1e-7
    assert_allclose(upper[dead], slack * mu, atol=1e-6 * mu)
    upper[dead] = 0.0
    return lower * size, upper * size, mu * size


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_equal_the_papers_programs_solved_one_by_one(kind):
    for seed in range(23):
        X, w, kept = case(seed, kind)
        if kept == 0:
            continue
        slack = (0.001, 0.01, 0.2)[seed % 3]
        lower, upper, mu = by_the_paper(X, w, kept, slack)
        found = relevance_intervals(LinearMetric([w]), X, kept, slack)
        assert_allclose(found.lower, lower, rtol=0, atol=1e-6 * mu, err_msg=f"{kind} {seed}")
        assert_allclose(found.upper, upper, rtol=0, atol=1e-6 * mu, err_msg=f"{kind} {seed}")
        assert_allclose(sum(row.mu for row in found.rows), mu, rtol=1e-6)
        assert found.certificate.error < 1e-9


def with_ranges(X, w, tolerance, slack):
    """The programs with a tolerance as they stand, each by scipy's linprog."""
    centred = X - X.mean(axis=0)
    _, singular, rows = np.linalg.svd(centred, full_matrices=False)
    rank = np.count_nonzero(singular > 1e-9 * singular[0])
    U, singular = rows[:rank].T, singular[:rank]
    b, t = U.T @ w, tolerance * np.linalg.norm(centred @ w) / singular
    A, ends = np.vstack([np.hstack([U.T, -U.T]), np.hstack([-U.T, U.T])]), np.concatenate([b + t, t - b])
    exact = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    mu = linprog(np.ones(2 * len(w)), A, ends, options=exact).fun
    if mu <= 1e-12 * np.abs(w).sum():
        return np.zeros(len(w)), np.zeros(len(w)), 0.0
    A, ends = np.vstack([A, np.ones(2 * len(w))]), np.append(ends, (1 + slack) * mu)
    high, low = np.empty(len(w)), np.empty(len(w))
    for j in range(len(w)):
        cost = np.zeros(2 * len(w))
        cost[[j, len(w) + j]] = -1.0, 1.0
        high[j] = -linprog(cost, A, ends, options=exact).fun
        low[j] = linprog(-cost, A, ends, options=exact).fun
    lower = np.where((low <= 0) & (high >= 0), 0.0, np.minimum(np.abs(low), np.abs(high)))
    return lower, np.maximum(np.abs(low), np.abs(high)), mu


def drawn_with_ranges(seed):
    """A table and a row of a map, some with copies, near copies or columns of very different size."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(5, 30)), int(rng.integers(2, 12))
    X = rng.standard_normal((n, d)) * (10 ** rng.uniform(-2, 1, d) if seed % 2 else 1.0)
    if seed % 3 == 0:
        X[:, -1] = X[:, 0]
    if seed % 5 == 0:
        X = np.hstack([X, X + 0.01 * rng.standard_normal(X.shape)])
    return X, rng.standard_normal(X.shape[1]) * (rng.random(X.shape[1]) < 0.7)


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in (1, 2, 3))])
def test_with_a_tolerance_intervals_equal_linprog(part):
    for seed in range(50 * part, 50 * part + 50):
        X, w = drawn_with_ranges(seed)
        tolerance, slack = (0.01, 0.05, 0.1, 0.3)[seed % 4], (0.001, 0.01, 0.2)[seed % 3]
        lower, upper, mu = with_ranges(X, w, tolerance, slack)
        found = relevance_intervals(LinearMetric([w]), X, slack=slack, tolerance=tolerance)
        assert_allclose(found.lower, lower, rtol=0, atol=1e-6 * mu, err_msg=f"seed {seed}")
        assert_allclose(found.upper, upper, rtol=0, atol=1e-6 * mu, err_msg=f"seed {seed}")
        assert found.certificate.fallbacks == 0
        assert found.certificate.error < 1e-9


@given(CASES)
def test_no_tolerance_is_equality_at_full_rank(drawn):
    X, w, _ = drawn
    same_bounds(relevance_intervals(LinearMetric([w]), X, tolerance=0.0), relevance_intervals(LinearMetric([w]), X))


def test_a_hardly_varying_direction_is_free_within_the_tolerance():
    rng = np.random.default_rng(0)
    a, c = rng.standard_normal((2, 100))
    X = np.column_stack([a, a + 0.01 * rng.standard_normal(100), c])
    metric = LinearMetric([[1.0, 0.0, 1.0]])
    assert (relevance_intervals(metric, X).strength == ["strong", "irrelevant", "strong"]).all()
    found = relevance_intervals(metric, X, tolerance=0.05)
    assert (found.strength == ["weak", "weak", "strong"]).all()
    assert found.tolerance == found.to_dict()["tolerance"] == 0.05
    assert "5%" in found._repr_html_()
    assert found.substitutes.groups == (("x0", "x1"),)
    extreme = relevance_intervals(metric, X, tolerance=0.05, extremes=True, rows="map")
    effect = (X - X.mean(axis=0)) @ [1.0, 0.0, 1.0]
    _, singular, rows = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    allowed = 0.05 * np.linalg.norm(effect) / singular
    for one in extreme.extreme_metrics():
        assert (np.abs(rows @ (one.omega[0] - [1.0, 0.0, 1.0])) <= allowed + 1e-9).all()


@pytest.mark.parametrize("seed", range(3))
def test_screening_changes_no_strength_with_a_tolerance(seed):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((25, 60)), rng.standard_normal(60) * (rng.random(60) < 0.2)
    full, quick = (relevance_intervals(LinearMetric([w]), X, tolerance=0.05, screen=screen) for screen in (False, True))
    assert (full.strength == quick.strength).all()
    assert quick.certificate.programs < full.certificate.programs


def test_rows_within_the_tolerance_of_nothing_are_left_out():
    X = np.random.default_rng(0).standard_normal((50, 3))
    metric = LinearMetric([[1.0, 1.0, 0.0], [0.0, 0.0, 0.001]])
    assert relevance_intervals(metric, X).lower[2] > 0
    found = relevance_intervals(metric, X, tolerance=0.01)
    assert len(found.rows) == 1
    assert found.lower[2] == 0
    assert found.skipped_rows == ("row 1",)


@pytest.mark.parametrize("tolerance", [-0.1, 1.0, "5%", np.nan])
def test_a_tolerance_outside_its_range_is_refused(tolerance):
    with pytest.raises(ValueError, match="tolerance"):
        relevance_intervals(LinearMetric([[1.0]]), [[0.0], [1.0]], tolerance=tolerance)


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


@pytest.mark.parametrize("seed", range(20))
def test_the_features_of_the_xor_data_get_their_strengths(seed):
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


def test_fewer_rows_than_columns_work_and_show_the_rank():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((6, 40))
    found = relevance_intervals(LinearMetric(rng.standard_normal((1, 40))), X)
    assert (found.rank, found.effective_dim) == (5, 5)
    assert found.certificate.error < 1e-9
    assert found.certificate.programs == 80


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
def test_features_without_bounds_are_unknown_never_irrelevant(monkeypatch, slack):
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
    solve = programs.HighsPrograms.solve

    def late(rest, feature, *words):
        return None if feature == 4 else solve(rest, feature, *words)

    monkeypatch.setattr(programs.HighsPrograms, "solve", late)
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

    def fail(U, b, t):
        calls.append(b)
        if len(calls) % 2:
            raise ArithmeticError("no map of least norm")
        return solve(U, b, t)

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


def test_progress_is_reported_to_the_end_and_the_inputs_stay_unchanged():
    X, rng = table(d=60, rank=10)
    X.setflags(write=False)
    reported = []
    relevance_intervals(LinearMetric(rng.standard_normal((2, 60))), X, progress=lambda *step: reported.append(step))
    shares = [share for _, share in reported]
    assert reported[0] == ("find maps of least norm", 0.0)
    assert reported[-1] == ("done", 1.0)
    assert reported[-2][0] == "solve programs, 240 of 240"
    assert shares == sorted(shares)


def test_progress_is_written_to_stderr_on_request(capsys):
    relevance_intervals(LinearMetric(np.ones((1, 3))), np.random.default_rng(0).random((9, 3)), progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert any("solve programs, " in line for line in lines)
    assert lines[-1].endswith("done")


def one_hot(rng, n, k):
    codes = rng.integers(0, k, n)
    return (codes[:, None] == np.arange(k)).astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bound_is_that_of_the_sum(seed):
    """Against scipy: among all maps that act alike and have nearly the least norm, the least sum over the column."""
    rng = np.random.default_rng(seed)
    X = np.hstack([one_hot(rng, 60, 4), rng.standard_normal((60, 2))])
    w = np.array([1.0, 1.0, 0.0, 0.0, rng.uniform(0.2, 1), 0.0])
    relevance = relevance_intervals(LinearMetric(w[None, :]), X, slack=0.05)
    summed = by_column(relevance, ["c", "c", "c", "c", "x", "z"])
    centred = X - X.mean(axis=0)
    alike = {"A_eq": np.hstack([centred, -centred]), "b_eq": centred @ w}
    least = linprog(np.ones(12), **alike).fun
    cost = np.tile([1.0, 1, 1, 1, 0, 0], 2)
    oracle = linprog(cost, A_ub=np.ones((1, 12)), b_ub=[1.05 * least], **alike).fun
    assert_allclose(summed.lower[0], oracle, atol=1e-5)
    assert_allclose(summed.lower[1:], relevance.lower[4:])
    assert_allclose(summed.upper[1:], relevance.upper[4:])
    assert summed.lower[0] <= summed.upper[0] <= relevance.upper[:4].sum() + 1e-12


def test_parts_that_replace_each_other_do_not_make_the_column_replaceable():
    rng = np.random.default_rng(0)
    X = np.hstack([one_hot(rng, 80, 4), rng.standard_normal((80, 1))])
    relevance = relevance_intervals(LinearMetric([[1.0, 1.0, 0.0, 0.0, 0.5]]), X, slack=0.1)
    assert "weak" in relevance.strength[:4]
    summed = by_column(relevance, ["c", "c", "c", "c", "x"])
    assert summed.strength.tolist() == ["strong", "strong"]
    assert summed.substitutes.groups == ()
    assert repr(summed) == "Relevance(2 features: 2 strong, 0 weak, 0 irrelevant)"


def test_columns_with_the_same_information_are_substitutes():
    rng = np.random.default_rng(0)
    colours = one_hot(rng, 80, 3)
    X = np.hstack([colours, colours[:, :1], rng.standard_normal((80, 1))])
    relevance = relevance_intervals(LinearMetric([[1.0, 0.0, 0.0, 0.0, 1.0]]), X)
    summed = by_column(relevance, ["colour", "colour", "colour", "is red", "x"])
    assert summed.strength.tolist() == ["weak", "weak", "strong"]
    assert summed.substitutes.of["is red"] == ("colour",)
    assert summed.substitutes.of["colour"] == ("is red",)
    assert summed.substitutes.groups == (("colour", "is red"),)
    assert summed.substitutes_of(["is red"]).of == {"is red": ("colour",)}
