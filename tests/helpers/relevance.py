"""Tables, maps and intervals for the tests of relevance."""

from dataclasses import replace
from functools import partial

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from whynear import LinearMetric, LocalMetric, relevance_intervals
from whynear.datasets import make_relevance
from whynear.interpret import programs

KINDS = ["plain", "duplicates", "zero columns", "rank one", "one-hot", "sparse", "tiny", "huge", "short"]


def case(seed, kind):
    """A small table, one row of a map and the number of directions to keep, degenerate in a chosen way."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 7))
    n = int(rng.integers(2, d + 1)) if kind == "short" else int(rng.integers(d + 1, 3 * d))
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    if kind == "duplicates":
        X[:, d // 2 :] = X[:, : d - d // 2] * rng.choice([1.0, -1.0, 2.0])
    elif kind == "zero columns":
        X[:, rng.random(d) < 0.4] = 7.0
    elif kind == "rank one":
        X = np.outer(rng.standard_normal(n), rng.integers(-2, 3, d))
    elif kind == "one-hot":
        X, w = np.eye(d)[rng.integers(0, d, n)], np.eye(d)[rng.integers(d)]
    elif kind == "sparse":
        X, w = X * (rng.random((n, d)) < 0.4), w * (rng.random(d) < 0.4)
    elif kind in ("tiny", "huge"):
        scale = 1e-8 if kind == "tiny" else 1e8
        X, w = X * scale, w * scale
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    rank = int(np.count_nonzero(singular > 1e-9 * singular[0]))
    gaps = [k for k in range(1, rank) if singular[k] < 0.9 * singular[k - 1]]
    kept = int(rng.choice(gaps)) if gaps and rng.random() < 0.4 else rank
    return X, w, kept


def directions(d, K, seed=0, copies=0):
    """Orthonormal directions, some rows of which are repeated, and a right-hand side."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((d - copies, K))
    U = np.linalg.qr(np.vstack([rows, rows[:copies]]))[0]
    return np.ascontiguousarray(U), U.T @ rng.standard_normal(d)


def both_ends(d):
    return np.repeat(np.arange(d), 2), np.tile([1.0, -1.0], d)


CASES = st.builds(case, st.integers(0, 10_000), st.sampled_from(KINDS)).filter(lambda drawn: drawn[2] > 0)


def table(n=30, d=8, rank=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)), rng


def same_bounds(found, expected, order=slice(None), scale=1.0):
    atol = 1e-8 * max(1e-300, np.max(expected.upper, initial=0.0)) * scale
    assert_allclose(found.lower, scale * expected.lower[order], atol=atol)
    assert_allclose(found.upper, scale * expected.upper[order], atol=atol)


def no_pivots(monkeypatch):
    """Let the simplex give up every program that is not optimal from the start."""
    monkeypatch.setattr(programs, "extremes", partial(programs.extremes, most_pivots=0))


def local(kind, seed=0):
    rng = np.random.default_rng(seed)
    left, right = table(15, 6, 2, seed=1)[0] - 40, table(25, 6, 3, seed=2)[0] + 40
    anchors = np.array([left.mean(axis=0), right.mean(axis=0), np.full(6, 1e4)])
    maps = rng.random((3, 6)) if kind == "weights" else rng.standard_normal((3, 2, 6))
    return LocalMetric(anchors, **{kind: maps}), left, right


def intervals(n_irrelevant=4, seed=0, **changes):
    data = make_relevance(n_strong=2, n_weak_groups=2, n_irrelevant=n_irrelevant, n_samples=400, random_state=seed)
    row = [float(name in ("strong_0", "strong_1", "weak_0_0", "weak_1_0")) for name in data.X]
    found = relevance_intervals(LinearMetric([row], data.feature_names), data.X, 4 + n_irrelevant)
    return replace(found, **changes)


def with_unknown(found):
    strength = found.strength.copy()
    strength[3] = "unknown"
    return replace(found, strength=strength)
