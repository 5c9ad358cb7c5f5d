import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, binomtest

from whynear.reject.outcome import (
    Promise,
    fewest_cases,
    holds,
    least_accuracy,
    needed_cases,
    percent,
    promise_of,
    sequence,
    thresholds_of,
)


def drawn(n, rng):
    """Cases whose certainty is the probability that they are right."""
    certainty = 1 - rng.beta(0.5, 3, size=n)
    return certainty, rng.random(n) < certainty


MANY = np.sort(1 - np.random.default_rng(99).beta(0.5, 3, size=200_000))
MEAN_ABOVE = np.cumsum(MANY[::-1])[::-1] / np.arange(len(MANY), 0, -1)


def true_accuracy(threshold):
    """The share of new cases above a threshold that is right."""
    return MEAN_ABOVE[min(np.searchsorted(MANY, threshold, side="right"), len(MANY) - 1)]


@pytest.mark.parametrize(("accuracy", "n"), [(0.95, 600), (0.99, 2500)])
def test_a_promise_is_broken_in_no_more_draws_than_it_says(accuracy, n):
    rng, n_draws = np.random.default_rng(0), 1000
    promises = [promise_of(*drawn(n, rng), drawn(n // 2, rng)[0], accuracy, 0.9) for _ in range(n_draws)]
    given_ = [promise for promise in promises if promise.given]
    broken = sum(true_accuracy(promise.threshold) < accuracy for promise in given_)
    assert broken <= binom.ppf(0.99, n_draws, 0.1)
    assert len(given_) > n_draws / 2


@pytest.mark.parametrize("right", [0.945, 0.95])
def test_it_holds_where_every_case_is_as_certain_as_the_others(right):
    """One threshold alone is tested, right at the bound, where a false promise is most likely."""
    rng, n_draws = np.random.default_rng(1), 1000
    draws = [rng.random(400) < right for _ in range(n_draws)]
    given_ = sum(promise_of(np.full(400, 0.7), draw, np.full(200, 0.7), 0.95, 0.9).given for draw in draws)
    assert given_ <= binom.ppf(0.99, n_draws, 0.1)
    assert given_ > 0


def test_it_holds_where_certainty_misleads():
    """The more certain half is right less often than asked, all cases together are right as often."""
    rng, n_draws, given_ = np.random.default_rng(2), 1000, 0
    for _ in range(n_draws):
        certainty = rng.random(1000)
        right = rng.random(1000) < np.where(certainty > 0.5, 0.94, 0.99)
        promise = promise_of(certainty, right, rng.random(500), 0.95, 0.9)
        given_ += promise.given and promise.threshold > 0.42  # of the cases above .42 less than 95% are right
    assert given_ <= binom.ppf(0.99, n_draws, 0.1)


def test_thresholds_come_from_other_cases():
    certainty, right = drawn(600, np.random.default_rng(3))
    others = drawn(300, np.random.default_rng(4))[0]
    promise = promise_of(certainty, right, others, 0.95, 0.9)
    assert promise.threshold in others
    assert promise.n_accepted == np.count_nonzero(certainty > promise.threshold)
    assert thresholds_of(others, np.array([1.0])) == [0.0]
    assert thresholds_of(np.full(9, 0.5), np.array([0.3, 0.6, 1.0])) == [0.0]


def test_cases_of_certainty_zero_are_never_accepted():
    certainty, right = np.repeat([0.0, 0.8], [100, 400]), np.repeat([False, True], [100, 400])
    promise = promise_of(certainty, right, np.full(50, 0.8), 0.95, 0.9)
    assert promise.threshold == 0
    assert promise.coverage == 0.8


def test_a_naive_threshold_breaks_it_in_half_of_the_draws():
    rng, kept = np.random.default_rng(0), []
    for _ in range(100):
        certainty, right = drawn(600, rng)
        order = np.argsort(-certainty)
        accuracy = np.cumsum(right[order]) / np.arange(1, 601)
        last = np.flatnonzero(accuracy >= 0.95)[-1]
        kept.append(true_accuracy(certainty[order[last]]) >= 0.95)
    assert np.mean(kept) < 0.75


@given(st.integers(1, 400), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]), st.sampled_from([0.8, 0.9, 0.95]))
def test_the_binomial_bound_is_the_exact_test(n, share, accuracy, confidence):
    wrong = int(share * n)
    p_value = binomtest(wrong, n, 1 - accuracy, alternative="less").pvalue
    assert holds(n, wrong, accuracy, confidence) == (p_value <= 1 - confidence)
    bound = least_accuracy(n, wrong, confidence)
    exact = binomtest(n - wrong, n).proportion_ci(1 - 2 * (1 - confidence)).low if confidence > 0.5 else None
    assert_allclose(bound, exact, atol=1e-9)
    assert holds(n, wrong, accuracy, confidence) == (bound >= accuracy) or abs(bound - accuracy) < 1e-9


def test_ninety_nine_percent_needs_230_cases_without_an_error():
    assert fewest_cases(0.99, 0.9) == 230
    right = np.ones(230, dtype=bool)
    assert promise_of(np.linspace(0.5, 1, 230), right, np.ones(9), 0.99, 0.9).coverage == 1
    short = promise_of(np.linspace(0.5, 1, 229), right[:229], np.ones(9), 0.99, 0.9)
    assert not short.given
    assert "at least 230 held-out cases must be accepted without an error, and 229 are counted" in short.sentence


@given(st.integers(230, 5000))
def test_the_sequence_rises_to_all_cases(n):
    counts = sequence(n, 0.99, 0.9)
    assert counts[-1] == n
    assert counts[0] == min(n, max(math.ceil(n / 2), 264), 390)
    assert (np.diff(counts) > 0).all()
    assert len(counts) <= 12


def test_it_stops_at_the_first_step_that_fails():
    n = 1200
    right = np.ones(n, dtype=bool)
    right[100:130] = False  # certain and wrong
    certainty = np.linspace(1, 0.01, n)
    promise = promise_of(certainty, right, certainty, 0.99, 0.9)
    assert not promise.given
    assert promise.needed is None
    assert "too many for any number of cases" in promise.sentence
    right[100:130] = True
    right[900:] = False
    promise = promise_of(certainty, right, certainty, 0.99, 0.9)
    assert 0.5 < promise.coverage <= 0.76
    assert promise.least >= 0.99
    assert promise.n_accepted == np.count_nonzero(certainty > promise.threshold)


def test_ties_are_accepted_together():
    certainty = np.repeat([0.9, 0.4], [700, 300])
    promise = promise_of(certainty, np.repeat([True, False], [700, 300]), certainty, 0.95, 0.9)
    assert promise.given
    assert promise.n_accepted == 700
    assert promise.threshold == 0.4
    assert not promise_of(np.full(1000, 0.5), np.arange(1000) > 60, np.full(9, 0.5), 0.95, 0.9).given


@pytest.mark.parametrize(("n_cases", "stated"), [(84, 230), (300, 900)])
def test_the_number_that_is_stated_is_that_of_the_sentence(n_cases, stated):
    promise = Promise(0.99, 0.9, False, 0.0, math.inf, n_cases, 80, 1, 900)
    assert promise.stated_need == stated
    assert str(stated) in promise.sentence


def test_the_number_needed_is_the_smallest():
    needed = needed_cases(390, 2, 0.99, 0.9)
    assert holds(needed, math.ceil(2 / 390 * needed), 0.99, 0.9)
    assert not holds(needed - 1, math.ceil(2 / 390 * (needed - 1)), 0.99, 0.9)
    assert needed_cases(100, 1, 0.99, 0.9) is None
    assert needed_cases(0, 0, 0.99, 0.9) == 230


def test_the_sentence_says_what_is_counted():
    certainty, right = np.linspace(0.1, 1, 400), np.ones(400, dtype=bool)
    promise = promise_of(certainty, right, certainty, 0.99, 0.9, "groups")
    assert str(promise) == (
        "Accepting 100% of the cases, at least 99% of them are right, with a confidence of 90%: of 400 accepted "
        "held-out cases (one case of each group) none was wrong."
    )
    assert "held-out groups" in promise_of(certainty[:9], right[:9], certainty, 0.99, 0.9, "groups").sentence


def test_plain_values_hold_no_infinity():
    held = promise_of(np.ones(5), np.ones(5, dtype=bool), np.ones(3), 0.99, 0.9).to_dict()
    assert held["threshold"] is None
    assert held["needed"] == 230
    assert held["least"] == 0


@given(st.floats(0, 1))
def test_shares_are_rounded_down(share):
    stated = Promise(0.95, 0.9, True, share, 0.5, 1000, int(1000 * share), 0, None).stated_coverage
    assert share - 0.001 <= stated <= share + 1e-8
    assert percent(0.995) == "99.5%"


def test_one_step_is_a_binomial_test_whose_errors_are_few():
    rng = np.random.default_rng(3)
    wrong = rng.binomial(500, 0.05, size=4000)
    false = np.mean([holds(500, int(count), 0.95, 0.9) for count in wrong])
    assert false <= 0.1 + 3 * np.sqrt(0.09 / 4000)
    assert false == np.mean(binom.cdf(wrong, 500, 0.05) <= 0.1)
