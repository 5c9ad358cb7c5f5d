import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog

from whynear import LinearMetric, relevance_intervals
from whynear.interpret.intervals import by_column


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
