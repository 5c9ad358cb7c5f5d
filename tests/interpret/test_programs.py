import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.helpers.relevance import both_ends, directions
from whynear.interpret import highs, programs, simplex


@pytest.mark.parametrize(("d", "K", "copies"), [(1, 1, 0), (8, 8, 0), (30, 7, 0), (40, 12, 15), (200, 30, 60)])
def test_the_simplex_finds_the_least_norm_that_highs_finds(d, K, copies):
    U, b = directions(d, K, seed=d, copies=copies)
    start = programs.least_norm(U, b)
    t = np.zeros(K)
    expected = programs._from_basis(U, b, t, *programs._least_by_highs(U, b / np.abs(b).max(), t))
    assert_allclose(start.mu, expected.mu, rtol=1e-9)
    assert_allclose(U.T @ start.weights, start.b, atol=1e-12)
    assert_allclose(np.abs(start.weights).sum(), 1.0)
    assert np.abs(U @ start.multipliers).max() <= 1 + 1e-8
    assert_allclose(start.b @ start.multipliers, 1.0)


@pytest.mark.parametrize("loss", ["no optimum", "no basis", "too many pivots"])
def test_highs_takes_over_when_the_simplex_finds_no_least_norm(monkeypatch, loss):
    U, b = directions(40, 9, copies=10)
    expected = programs.least_norm(U, b).mu
    with monkeypatch.context() as patch:
        if loss == "too many pivots":
            patch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.RUNNING)
        elif loss == "no optimum":
            patch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.FAILED)
        else:
            nothing = np.zeros(9, dtype=np.intp), np.zeros(9, dtype=bool)
            patch.setattr(programs, "_least_by_simplex", lambda U, b, t: nothing)
        assert_allclose(programs.least_norm(U, b).mu, expected, rtol=1e-9)


def test_a_least_norm_that_no_solver_finds_is_an_arithmetic_error():
    U = np.array([[1.0, 0.0], [1.0, 0.0]])  # the second row of U^T w = b cannot be met
    with pytest.raises(ArithmeticError, match="no map of least norm"):
        programs.least_norm(U, np.array([1.0, 1.0]))


@pytest.mark.parametrize("seed", range(4))
def test_with_ranges_simplex_and_highs_find_the_same_least_norm(monkeypatch, seed):
    U, b = directions(40, 9, seed=seed, copies=seed * 5)
    t = np.random.default_rng(seed).exponential(0.3, 9) * (np.arange(9) % 3 > 0)
    found = programs.least_norm(U, b, t)
    monkeypatch.setattr(programs.simplex, "maximize_slack", lambda *_: simplex.FAILED)
    by_highs = programs.least_norm(U, b, t)
    assert_allclose(by_highs.mu, found.mu, rtol=1e-9)
    for start in (found, by_highs):
        assert (np.abs(U.T @ start.weights - start.b) <= start.t + 1e-12).all()
        assert_allclose(np.abs(start.weights).sum(), 1.0)
        assert_allclose(start.b @ start.multipliers - start.t @ np.abs(start.multipliers), 1.0)


@pytest.mark.parametrize("seed", range(3))
def test_with_ranges_programs_given_up_go_to_highs_and_agree(seed):
    U, b = directions(40, 10, seed=seed, copies=10)
    start = programs.least_norm(U, b, np.linspace(0, 0.5, 10) * np.abs(b).max())
    features, signs = both_ends(40)
    fast = programs.extremes(start, 1.05, features, signs)
    slow = programs.extremes(start, 1.05, features, signs, most_pivots=0)
    assert not fast.by_highs.any()
    assert slow.by_highs.sum() > 30
    assert_allclose(slow.values, fast.values, atol=1e-6)
    safe = programs.safe_bounds(start, 1.05)
    assert (fast.values.reshape(-1, 2).max(axis=1) <= safe + 1e-9).all()


@given(st.integers(0, 10_000))
def test_at_the_same_norm_wider_ranges_never_narrow_an_interval(seed):
    U, b = directions(12, 5, seed=seed, copies=4)
    features, signs = both_ends(12)
    most = 1.01 * programs.least_norm(U, b).mu  # a norm that all of them allow
    before = None
    for t in (0.0, 0.01, 0.05, 0.2):
        start = programs.least_norm(U, b, np.full(5, t * np.abs(b).max()))
        ends = start.mu * programs.extremes(start, most / start.mu, features, signs).values
        assert before is None or (ends >= before - 1e-9 * most).all()
        before = ends


@pytest.mark.parametrize("slack", [0.0, 0.01, 0.3])
def test_programs_the_simplex_gives_up_go_to_highs_and_agree(slack):
    U, b = directions(60, 10, seed=3, copies=20)
    start = programs.least_norm(U, b)
    features, signs = both_ends(60)
    fast = programs.extremes(start, 1 + slack, features, signs)
    slow = programs.extremes(start, 1 + slack, features, signs, most_pivots=0)
    assert not fast.by_highs.any()
    assert slow.by_highs.sum() > (10 if slack == 0 else 50)
    assert_allclose(slow.values, fast.values, atol=1e-6)
    assert (slow.error < programs.ACCEPTED * 10).all()
    for found in (fast, slow):
        for columns, weights, value, j, sign in zip(
            found.columns, found.weights, found.values, features, signs, strict=True
        ):
            w = np.zeros(60)
            np.add.at(w, columns, weights)
            assert_allclose(U.T @ w, start.b, atol=1e-7)
            assert np.abs(w).sum() <= (1 + slack) * (1 + 1e-6)
            assert_allclose(sign * w[j], value, atol=1e-9)


def test_unsolved_programs_have_no_value_and_no_map():
    U, b = directions(60, 10, seed=3)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1.01, *both_ends(60), most_pivots=0, time_limit=0.0)
    lost = ~np.isfinite(found.error)
    assert lost.sum() > 60
    assert found.by_highs[lost].all()
    assert not found.weights[lost].any()


def test_a_worn_inverse_is_repaired_and_a_spoilt_basis_goes_to_highs(monkeypatch):
    U, b = directions(50, 8, seed=6)
    start = programs.least_norm(U, b)
    features, signs = both_ends(50)
    expected = programs.extremes(start, 1.01, features, signs).values
    run = programs._Batch._run

    def worn(batch):
        run(batch)
        batch.inverses *= 1 + 1e-3 * np.random.default_rng(0).standard_normal(batch.inverses.shape)

    def spoilt(batch):
        run(batch)
        batch.bases[::7, 0] = batch.bases[::7, 1]
        batch.inverses[::7] = np.nan

    for damage, by_highs in ((worn, 0), (spoilt, 15)):
        with monkeypatch.context() as patch:
            patch.setattr(programs._Batch, "_run", damage)
            found = programs.extremes(start, 1.01, features, signs, n_jobs=1)
        assert_allclose(found.values, expected, atol=1e-6)
        assert found.by_highs.sum() >= by_highs


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.1]), st.booleans())
def test_safe_bounds_are_never_violated(seed, slack, copied):
    U, b = directions(30, 6, seed=seed, copies=10 if copied else 0)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1 + slack, *both_ends(30))
    largest = found.values.reshape(-1, 2).max(axis=1)
    safe = programs.safe_bounds(start, 1 + slack)
    assert np.isfinite(safe).all()
    assert (safe <= 1 + slack).all()
    assert (largest <= safe + 1e-9).all()


@pytest.mark.parametrize("slack", [0.0, 0.01])
def test_safe_bounds_hold_for_two_thousand_features(slack):
    U, b = directions(2000, 40, seed=7)
    start = programs.least_norm(U, b)
    found = programs.extremes(start, 1 + slack, *both_ends(2000))
    largest = found.values.reshape(-1, 2).max(axis=1)
    assert (largest <= programs.safe_bounds(start, 1 + slack) + 1e-9).all()
    assert found.error.max() < 1e-9


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_certificates_bound_the_true_error(seed):
    U, b = directions(25, 6, seed=seed, copies=8)
    start = programs.least_norm(U, b)
    features, signs = both_ends(25)
    found = programs.extremes(start, 1.05, features, signs)
    rest = highs.Programs(U, start.b, start.t, 1.05)
    for j in range(0, 50, 9):
        w, error = rest.solve(features[j], signs[j], 60.0)
        assert abs(signs[j] * w[features[j]] - found.values[j]) <= found.error[j] + error + 1e-8


def test_batches_of_any_size_give_the_same_values(monkeypatch):
    U, b = directions(120, 15, seed=8, copies=30)
    start = programs.least_norm(U, b)
    expected = programs.extremes(start, 1.01, *both_ends(120), n_jobs=1).values
    for size in (1, 5_000, 50_000):
        monkeypatch.setattr(programs, "BATCH_BYTES", size)
        assert_allclose(programs.extremes(start, 1.01, *both_ends(120)).values, expected, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_the_middle_stops_soon_and_leaves_no_threads(n_jobs):
    script = f"""
        import threading
        import numpy as np
        from whynear import LinearMetric, relevance_intervals
        rng = np.random.default_rng(0)
        relevance_intervals(LinearMetric([[1.0, 2.0]]), rng.standard_normal((9, 2)))  # compiles or loads
        X, row = rng.standard_normal((60, 4000)), rng.standard_normal((1, 4000))
        begun = []
        show = lambda step, share: begun or begun.append(print("running", flush=True)) if share > 0 else None
        try:
            for _ in range(100):
                relevance_intervals(LinearMetric(row), X, n_jobs={n_jobs}, progress=show)
        except KeyboardInterrupt:
            print("stopped with", threading.active_count(), "thread", flush=True)
            raise
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "running\n"
        os.kill(process.pid, signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "stopped with 1 thread\n"
        assert time.perf_counter() - start < 20  # a second on a quiet machine; all the work takes minutes
        process.communicate(timeout=60)
    assert process.returncode not in (0, None)
