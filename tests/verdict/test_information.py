import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom, f_oneway, false_discovery_control, rankdata

from tests.helpers.verdicts import classes, measured
from whynear.verdict.information import _combined, information
from whynear.verdict.rules import Information, adjusted
from whynear.verdict.table import feature_columns


def table(n=150, d=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def found_in(X, target):
    return set(np.flatnonzero(information(feature_columns(X), target).found))


def of_null(seed, kind):
    """p-values of columns that have nothing to do with the target."""
    rng = np.random.default_rng(seed)
    X, y, groups = rng.standard_normal((80, 4)), rng.permutation(np.arange(80) % 2), None
    if kind == "groups":
        groups = np.arange(80) // 4
        X, y = X / 2 + rng.standard_normal((20, 4))[groups], rng.permutation(np.arange(20) % 2)[groups]
    target = measured(rng.standard_t(2, 80)) if kind == "measured" else classes(y, groups)
    return information(feature_columns(X), target)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "measured", "groups"])
def test_without_information_p_values_are_uniform(kind):
    draws = [of_null(seed, kind) for seed in range(250)]
    p_values = np.concatenate([one.p_values for one in draws])
    few, many = binom.interval(0.9999, len(p_values) // 2, 0.05)  # columns of a table share their products
    assert few <= np.count_nonzero(p_values < 0.05) / 2 <= many
    assert sum(one.found.any() for one in draws) <= binom.ppf(0.9999, 250, 0.05)


def test_a_linear_effect_is_found():
    X = table()
    assert found_in(X, classes(X[:, 2] > 0)) == {2}


def test_a_ring_is_found():
    X = table()
    assert found_in(X, classes(X[:, 1] ** 2 + X[:, 4] ** 2 > 1.4)) == {1, 4}


def test_a_product_is_found_in_both_its_columns():
    X = table()
    assert found_in(X, classes(X[:, 0] * X[:, 5] > 0)) == {0, 5}


def test_effects_on_a_measurement_are_found():
    X = table()
    noise = np.random.default_rng(2).normal(0, 0.5, 150)
    assert found_in(X, measured(np.exp(X[:, 3] + noise))) == {3}
    assert found_in(X, measured(X[:, 0] * X[:, 1] + noise)) == {0, 1}


def test_a_category_is_found():
    X = pd.DataFrame(table(d=2)).assign(colour=np.random.default_rng(0).choice(["red", "green", "blue"], 150))
    assert found_in(X, classes(X["colour"] == "green")) == {2}


def test_a_weak_column_is_found_beside_a_strong_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    target = measured(X[:, 0] + 0.15 * X[:, 1])
    alone = information(feature_columns(X[:, 1:]), target)
    assert not alone.found.any()
    assert found_in(X, target) == {0, 1}


def test_the_share_explained_is_that_of_an_analysis_of_variance():
    X = table(60, 1)
    y = np.arange(60) % 3
    found = information(feature_columns(X), classes(y))
    shares = []
    for made in (rankdata(X[:, 0]), rankdata(np.square(feature_columns(X).values[:, 0]))):
        ratio = f_oneway(*(made[y == k] for k in range(3))).statistic
        shares.append(2 * ratio / (2 * ratio + 57))
    assert found.shares[0] == pytest.approx(max(shares))


def test_increasing_functions_of_a_measurement_change_nothing():
    X = table()
    y = X[:, 0] + table(seed=1)[:, 0]
    one, other = (information(feature_columns(X), measured(made)).p_values for made in (y, np.exp(y)))
    assert_allclose(one, other)


def test_groups_with_one_target_each_count_as_one_row():
    means, y = table(60), np.arange(60) % 2
    means[:, 0] += 2 * y
    groups = np.repeat(np.arange(60), 5)
    one = information(feature_columns(means[groups]), classes(y[groups], groups))
    other = information(feature_columns(means), classes(y))
    assert_allclose(one.p_values, other.p_values, rtol=1e-6)
    assert set(np.flatnonzero(one.found)) == {0}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_are_those_of_benjamini_and_hochberg(p_values):
    assert_allclose(adjusted(np.array(p_values)), false_discovery_control(p_values), atol=1e-12)


@given(st.floats(1e-290, 0.5), st.floats(1e-290, 0.5))
def test_combined_tests_lie_between_the_smallest_and_their_number_times_it(one, other):
    combined = float(_combined(np.array([[one], [other]]))[0])
    least = min(one, other)
    assert least * (1 - 1e-6) <= combined <= 2 * least * (1 + 1e-6)


def test_a_column_without_variation_carries_no_information():
    X = table(d=3)
    X[:, 1] = 4.0
    found = information(feature_columns(X), classes(X[:, 0] > 0))
    assert (found.p_values[1], found.q_values[1], found.shares[1]) == (1, 1, 0)
    assert information(feature_columns(np.ones((10, 2))), classes([0, 1] * 5)).p_values.tolist() == [1, 1]


def test_what_shows_only_beside_another_feature_is_told_apart():
    rng = np.random.default_rng(4)
    loud, quiet = 12 * rng.standard_normal(200), rng.standard_normal(200)
    found = information(feature_columns(np.column_stack([loud, quiet])), measured(loud + quiet))
    assert found.found.tolist() == [True, True]
    assert found.found_alone.tolist() == [True, False]


def test_absence_needs_an_effect_of_the_usual_size_that_would_have_shown():
    sizes = np.array([8.0, 6.0, 2.0, 0.1])
    found = Information(np.ones(4), np.array([0.0, 0.0, 0.5, 0.9]), sizes, np.zeros(4), np.ones(4))
    assert found.absent(100).tolist() == [False, False, False, True]
    weak = Information(np.ones(2), np.array([0.04, 0.9]), np.array([2.2, 0.1]), np.zeros(2), np.ones(2))
    assert not weak.absent(100).any()  # an effect as small as the one found could hide


def test_without_anything_found_absence_needs_enough_rows():
    nothing = Information(np.ones(2), np.ones(2), np.array([0.1, 0.5]), np.zeros(2), np.ones(2))
    assert nothing.absent(1000).all()
    assert not nothing.absent(20).any()


def test_more_rows_of_the_same_effects_are_more_certain():
    found = information(feature_columns(table()), classes(table()[:, 0] > 0))
    assert_allclose(found.with_more_rows(1.0).p_values, found.p_values, rtol=1e-6, atol=1e-200)
    assert_allclose(found.with_more_rows(4.0).sizes, 2 * found.sizes)


def of_mixed_groups(seed, effect=0.0):
    """Columns that hardly vary within groups, and classes that vary within them and move with the group."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(30), 6)
    X = rng.standard_normal((30, 4))[groups] + 0.1 * rng.standard_normal((180, 4))
    X[:, 0] = rng.standard_normal(180)
    y = (rng.standard_normal(30)[groups] + effect * X[:, 0] + rng.standard_normal(180) > 0).astype(int)
    return information(feature_columns(X), classes(y, groups))


def test_rows_that_move_together_are_no_evidence():
    found = [of_mixed_groups(seed) for seed in range(60)]
    assert np.mean([(one.p_values < 0.05).mean() for one in found]) <= 0.07
    assert np.mean([one.found.any() for one in found]) <= 0.1


def test_an_effect_within_groups_is_found():
    found = [of_mixed_groups(seed, effect=1.5) for seed in range(20)]
    assert np.mean([one.found[0] for one in found]) >= 0.8
    assert np.mean([one.found[1:].mean() for one in found]) <= 0.05


def test_columns_that_decide_only_together_are_found_where_they_are_joined():
    """The difference of two columns decides, and what they share hides it in each of them."""
    rng = np.random.default_rng(0)
    X, shared = table(d=6), 30 * rng.standard_normal(150)
    y = (X[:, 0] > 0).astype(int)
    X[:, 0], X[:, 1] = X[:, 0] + shared, shared
    features = ["band", "band", "c", "c", "d", "d"]
    joined = information(feature_columns(X, features), classes(y))
    assert joined.found.tolist() == [True, False, False]
    assert joined.found_alone.tolist() == [True, False, False]
    assert joined.shares[0] > 0.5
    assert not information(feature_columns(X), classes(y)).found_alone[:2].any()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "measured", "groups"])
def test_bands_without_information_are_found_no_more_often_than_promised(kind):
    def found(seed):
        rng = np.random.default_rng(seed)
        groups = np.arange(80) // 4 if kind == "groups" else None
        X = np.cumsum(rng.standard_normal((80, 20)), axis=1)
        y = rng.permutation(np.arange(80) % 2)
        if groups is not None:
            X, y = X / 2 + np.cumsum(rng.standard_normal((20, 20)), axis=1)[groups], (rng.permutation(20) % 2)[groups]
        target = measured(rng.standard_t(2, 80)) if kind == "measured" else classes(y, groups)
        columns = feature_columns(X, np.repeat(["a", "b", "c", "d"], 5))
        return information(columns, target).found.any()

    assert sum(map(found, range(150))) <= binom.ppf(0.9999, 150, 0.05)
