import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime
from scipy.special import log_softmax

from whynear.learn.lann import objective as lann

NOWHERE = 1e9  # a box that nothing leaves


def problem(seed, n=20, d=3, c=None, n_classes=3):
    rng = np.random.default_rng(seed)
    X, codes = rng.standard_normal((n, d)), rng.integers(n_classes, size=n)
    shape = (n, d) if c is None else (n, c, d)
    return X, codes, 0.5 + rng.random(shape)


def sq_distances(x, X, lam):
    """Ten lines of the paper, without a loop compiled."""
    return np.array(
        [np.sum((m * (x - a)) ** 2) if m.ndim == 1 else np.sum((m @ (x - a)) ** 2) for m, a in zip(lam, X, strict=True)]
    )


def loss(x, code, X, codes, lam, k, n_classes, beta):
    sq = sq_distances(x, X, lam)
    near = np.lexsort((np.arange(len(sq)), sq))[:k]
    support = np.bincount(codes[near], 1 / np.maximum(sq[near], lann.SQ_DISTANCE_FLOOR), n_classes)
    return -log_softmax(support / beta)[code], near, support


def shown(i, X, codes, lam, k, n_classes, beta, step, decay=0.0, constraint=0, low=1e-12, high=NOWHERE, weight=1.0):
    """The rule, case i, by numpy: gradients in closed form, times the weight, capped, then the constraint."""
    others = np.delete(np.arange(len(X)), i)
    value, near, support = loss(X[i], codes[i], X[others], codes[others], lam[others], k, n_classes, beta)
    p, start = np.exp(log_softmax(support / beta)), np.ones_like(lam[0])
    for j in others[near]:
        difference = X[i] - X[j]
        sq = max(sq_distances(X[i], X[[j]], lam[[j]])[0], lann.SQ_DISTANCE_FLOOR)
        slope = weight * ((codes[j] == codes[i]) - p[codes[j]]) / (beta * sq**2)
        if lam.ndim == 2:
            gradient = slope * 2 * lam[j] * difference**2
        else:
            gradient = slope * 2 * np.outer(lam[j] @ difference, difference)
        gradient *= min(1.0, lann.LONGEST_GRADIENT / max(np.linalg.norm(gradient), 1e-300))
        lam[j] -= step * gradient + decay * (lam[j] - start)
        if constraint == lann.Constraint.BOX:
            lam[j] = np.clip(lam[j], low if lam.ndim == 2 else -high, high)
        elif constraint == lann.Constraint.TRACE:
            lam[j] *= np.sqrt(np.sum(start**2) / np.sum(lam[j] ** 2))
        else:
            lam[j] = np.maximum(lam[j], low)
            lam[j] /= np.exp(np.mean(np.log(lam[j])))
    return weight * value


def lists_of(n):
    return np.array([np.delete(np.arange(n), i) for i in range(n)])


def learn(
    order, X, codes, lam, k, n_classes, beta, step, decay=0.0, constraint=0, low=1e-12, high=NOWHERE, weights=None
):
    n = len(X)
    weights = np.ones(n) if weights is None else weights
    everything, active = np.arange(n), np.ones(n, dtype=bool)
    return lann.learn_cases(
        order, X, codes, weights, lists_of(n), everything, lam, np.ones_like(lam[0]), active, k,
        (n_classes, float(beta), float(step), float(decay), int(constraint), float(low), float(high)),
    )  # fmt: skip


@pytest.mark.parametrize("c", [None, 2])
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 6),
    decay=st.sampled_from([0.0, 0.1]),
    constraint=st.sampled_from(list(lann.Constraint)),
    weighted=st.booleans(),
)
def test_the_compiled_epoch_is_the_rule_case_by_case(c, seed, k, decay, constraint, weighted):
    if c is not None and constraint == lann.Constraint.DETERMINANT:
        return
    X, codes, lam = problem(seed, c=c)
    codes = codes.astype(np.intp)
    order = np.random.default_rng(seed).permutation(len(X))
    weights = 4.0 ** np.random.default_rng(seed).uniform(-weighted, weighted, len(X))
    slow, rule = lam.copy(), (0.7, 0.05, decay, constraint, 0.05, 3.0)
    for i in order:
        before = lam.copy()
        value = learn(np.array([i]), X, codes, lam, k, 3, *rule, weights)
        expected = shown(i, X, codes, slow, k, 3, *rule, weights[i])
        assert value == pytest.approx(expected, rel=1e-9)
        assert_allclose(lam, slow, rtol=1e-8, atol=1e-10)
        assert_array_equal(lam[i], before[i])  # a case does not move its own metric


@pytest.mark.parametrize("c", [None, 2])
@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 5),
    d=st.integers(1, 4),
    beta=st.sampled_from([0.5, 2.0]),
    weight=st.sampled_from([0.3, 1.0, 3.0]),
)
def test_steps_follow_the_gradient_of_finite_differences(c, seed, k, d, beta, weight):
    X, codes, lam = problem(seed, n=8, d=d, c=c)
    codes = codes.astype(np.intp)
    others = np.arange(1, 8)

    def value(flat):
        moved = flat.reshape(lam[others].shape)
        return weight * loss(X[0], codes[0], X[others], codes[others], moved, k, 3, beta)[0]

    sq = np.sort(sq_distances(X[0], X[others], lam[others]))
    if sq[0] < 0.05 or (k < 7 and sq[k] - sq[k - 1] < 1e-3):  # a kink, or a gradient that is cut off
        return
    expected = approx_fprime(lam[others].ravel(), value, 1e-7).reshape(lam[others].shape)
    if np.sqrt(np.square(expected).reshape(7, -1).sum(axis=1)).max() > lann.LONGEST_GRADIENT:
        return
    moved, step = lam.copy(), 1e-4
    learn(np.array([0]), X, codes, moved, k, 3, beta, step, low=-NOWHERE, weights=np.full(8, weight))
    assert_allclose((lam - moved)[others] / step, expected, rtol=1e-3, atol=1e-5)


@given(seed=st.integers(0, 10**6), k=st.integers(1, 6))
def test_correct_predictions_are_those_of_a_double_loop(seed, k):
    X, codes, lam = problem(seed)
    codes = codes.astype(np.intp)
    n, active = len(X), np.random.default_rng(seed).random(len(X)) < 0.8
    correct = np.empty(n, dtype=bool)
    lann.predicted_correctly(np.arange(n), X, codes, lists_of(n), np.arange(n), lam, active, k, correct)
    for i in range(n):
        others = np.flatnonzero(active & (np.arange(n) != i))
        _, near, support = loss(X[i], codes[i], X[others], codes[others], lam[others], k, 3, 0.5)
        best = support[codes[others][near]].max()
        assert correct[i] == (support[codes[i]] == pytest.approx(best, rel=1e-12) and support[codes[i]] > 0)


def test_anchors_may_share_a_metric():
    X, codes, _ = problem(0)
    codes, n = codes.astype(np.intp), len(X)
    shared, own = np.ones((1, 3)), np.zeros(n, dtype=np.intp)
    arguments = np.ones(3), np.ones(n, dtype=bool), 3, (3, 1.0, 0.01, 0.0, 0, 0.01, 10.0)
    lann.learn_cases(np.arange(n), X, codes, np.ones(n), lists_of(n), own, shared, *arguments)
    assert shared.shape == (1, 3)
    assert not np.allclose(shared, 1)


def test_a_case_of_a_stream_moves_those_before_it():
    X, codes, lam = problem(1)
    codes, slow = codes.astype(np.intp), np.ones((20, 3))
    lam = np.ones((20, 3))
    rule = 3, 0.5, 0.05, 0.0, 0, 0.05, 3.0
    weights = 4.0 ** np.random.default_rng(1).uniform(-1, 1, 20)
    total = lann.learn_stream(1, 20, 7, X, codes, weights, lam, np.ones(3), 3, rule)
    expected = 0.0
    for i in range(1, 20):
        window = slice(max(0, i - 7), i + 1)
        part = slow[window].copy()
        expected += shown(len(part) - 1, X[window], codes[window], part, 3, *rule, weights[i])
        slow[window] = part
    assert total == pytest.approx(expected)
    assert_allclose(lam, slow)
