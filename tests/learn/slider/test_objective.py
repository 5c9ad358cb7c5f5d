import itertools
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from whynear.learn.slider import objective as slider
from whynear.metric import MinkowskiMetric

SMALL = st.integers(-4, 4)  # zeros, ties and parallel lines are frequent
PAIRS = st.lists(st.tuples(SMALL, SMALL), min_size=1, max_size=12)


def swept(feature, rest):
    feature, rest = np.array(feature, dtype=float), np.array(rest, dtype=float)
    return slider.best_share(feature, rest, np.empty(len(feature)), np.empty(len(feature)))


def holding(share, feature, rest):
    """The number of comparisons that hold at a share, in exact arithmetic."""
    w = Fraction(share)
    return sum(w * int(a) + (1 - w) * int(b) > 0 for a, b in zip(feature, rest, strict=True))


def all_shares(feature, rest):
    """Every crossover, both ends, and a point between any two neighbours: one of these is as good as it gets."""
    lines = [(int(a), int(b)) for a, b in zip(feature, rest, strict=True)]
    roots = {Fraction(b, b - a) for a, b in lines if a != b}
    ends = sorted({Fraction(0), Fraction(1), *(root for root in roots if 0 <= root <= 1)})
    return [*ends, *((low + high) / 2 for low, high in itertools.pairwise(ends))]


@given(PAIRS)
def test_the_sweep_is_as_good_as_trying_every_weight(pairs):
    feature, rest = zip(*pairs, strict=True)
    share, count = swept(feature, rest)
    assert 0 <= share <= 1
    assert count == holding(share, feature, rest)
    assert count == max(holding(candidate, feature, rest) for candidate in all_shares(feature, rest))


@given(PAIRS)
def test_the_sweep_stands_in_the_middle_of_a_widest_best_interval(pairs):
    feature, rest = zip(*pairs, strict=True)
    share, count = swept(feature, rest)
    crossovers = {Fraction(b, b - a) for a, b in pairs if a > 0 >= b or b > 0 >= a}
    ends = sorted({Fraction(0), Fraction(1), *crossovers})
    intervals = [(high - low, (low + high) / 2) for low, high in itertools.pairwise(ends)]
    best = [(width, middle) for width, middle in intervals if holding(middle, feature, rest) == count]
    assert any(abs(Fraction(share) - middle) < 1e-9 for width, middle in best if max(best)[0] - width < 1e-9)


@given(PAIRS, st.permutations(range(12)))
def test_the_order_of_comparisons_does_not_matter(pairs, order):
    feature, rest = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    shuffled = [i for i in order if i < len(pairs)]
    assert swept(feature, rest) == swept(feature[shuffled], rest[shuffled])


def test_lines_that_never_cross():
    assert swept([1, 2], [1, 3]) == (0.5, 2)  # always right
    assert swept([-1, 0, 0], [-1, 0, -2]) == (0.5, 0)  # never right: a tie is no success
    assert swept([1], [0]) == (0.5, 1)  # right for all but zero
    assert swept([0], [1]) == (0.5, 1)  # right for all but one
    assert swept([1, -1], [-1, 1])[1] == 1


def test_eq_5_of_the_paper_with_its_square():
    x, y, z = np.array([0.0, 0.0]), np.array([1.0, 3.0]), np.array([2.0, 1.0])
    gap = (x - z) ** 2 - (x - y) ** 2
    crossover = gap[0] / ((x - y)[1] ** 2 - (x - y)[0] ** 2 + (x - z)[0] ** 2 - (x - z)[1] ** 2)  # weight of column 1
    assert swept(gap[1:], gap[:1])[0] == crossover / 2  # right from zero to the crossover
    weights = np.array([1 - crossover, crossover])
    assert_allclose(weights @ (x - y) ** 2, weights @ (x - z) ** 2)


def comparisons(rng, n_rows, v=6, m=4):
    return rng.integers(n_rows, size=v), rng.integers(n_rows, size=v), rng.integers(n_rows, size=(v, m))


@given(st.integers(0, 1000), st.sampled_from([1, 2, 3]))
def test_margins_are_differences_of_distances(seed, p):
    rng = np.random.default_rng(seed)
    X, weights = rng.integers(-3, 4, (9, 3)).astype(float), rng.integers(0, 3, 3).astype(float)
    instances, matches, mismatches = comparisons(rng, 9)
    margin = np.empty(mismatches.shape)
    slider.margins(np.ascontiguousarray(X.T), instances, matches, mismatches, p, weights, margin)
    D = MinkowskiMetric(weights, p).sq_distances(X)
    assert_array_equal(margin, D[instances[:, None], mismatches] - D[instances, matches][:, None])
    nearer = np.mean((margin < 0) + 0.5 * (margin == 0))
    assert_allclose(slider.nearer_share(margin, 1.0, margin, 0.0), nearer)


@given(st.integers(0, 1000), st.sampled_from([1, 2, 3]), st.booleans())
def test_a_climb_keeps_its_books_and_never_worsens(seed, p, dominated):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (30, 4)).astype(float)
    columns = np.ascontiguousarray(X.T)
    triples, judges = comparisons(rng, 30, 40, 1), comparisons(rng, 30, 20, 5)
    shares = np.array([1.0, 1e-7, 1e-7, 0.0]) if dominated else rng.exponential(size=4)
    shares /= shares.sum()
    margin, judged = np.empty((40, 1)), np.empty((20, 5))
    slider.margins(columns, *triples, p, shares, margin)
    slider.margins(columns, *judges, p, shares, judged)
    start = slider.nearer_share(judged, 1.0, judged, 0.0)
    curve = np.empty(12)
    slider.climb(columns, *triples, *judges, p, np.resize(rng.permutation(4), 12), 0.0,
                 shares, margin, judged, start, curve)  # fmt: skip
    kept = curve[~np.isnan(curve)]
    assert (np.diff([start, *kept]) < 0).all()
    assert_allclose(shares.sum(), 1)
    assert (shares >= 0).all()
    for found, which in ((margin, triples), (judged, judges)):
        again = np.empty(found.shape)
        slider.margins(columns, *which, p, shares, again)
        assert_allclose(found, again, atol=1e-9)
    if len(kept):
        assert_allclose(slider.nearer_share(judged, 1.0, judged, 0.0), kept[-1])


def test_copies_stay_ties_under_any_weights():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 3))
    columns = np.ascontiguousarray(np.vstack([X, X[1]]).T)
    margin = np.empty((1, 1))
    for _ in range(20):
        weights = rng.exponential(size=3)
        slider.margins(columns, np.array([0]), np.array([1]), np.array([[5]]), 2, weights, margin)
        assert margin[0, 0] == 0.0


def test_changes_are_judged_one_by_one():
    rng = np.random.default_rng(1)
    columns, judges = np.ascontiguousarray(rng.standard_normal((12, 3)).T), comparisons(rng, 12)
    weights, judged, out = np.array([0.5, 0.2, 0.3]), np.empty((6, 4)), np.empty(3)
    slider.margins(columns, *judges, 2, weights, judged)
    changes = np.array([0.1, -0.2, 1.0])
    slider.judge_changes(columns, *judges, 2, judged, np.arange(3), changes, out)
    for feature in range(3):
        changed, margin = weights.copy(), np.empty((6, 4))
        changed[feature] += changes[feature]
        slider.margins(columns, *judges, 2, changed, margin)
        assert_allclose(out[feature], slider.nearer_share(margin, 1.0, margin, 0.0))
