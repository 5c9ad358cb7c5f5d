import numpy as np
import pandas as pd
import pytest

from tests.helpers.verdicts import classes, made_up, measured, of_kind
from whynear.verdict.feature_columns import feature_columns
from whynear.verdict.stand_ins import MOST_NAMED, find_stand_ins


def of_table(X, target, members):
    columns = feature_columns(X)
    at = [columns.names.index(name) for name in members]
    return find_stand_ins(columns, target, at, [j for j in range(columns.n_features) if j not in at], None)


@pytest.fixture(scope="module")
def linear():
    columns, target, data = of_kind("relevance linear")
    return find_stand_ins(columns, target, [0, 1], range(2, columns.n_features), None), data


def test_the_groups_are_the_blocks_of_the_table(linear):
    found, data = linear
    assert [set(group) for group in found.groups] == [set(group) for group in data.groups]
    assert found.groups[0][0] == "weak_0_0"


def test_every_pair_of_a_group_is_named_in_both_directions(linear):
    found, _ = linear
    named = [(pair.feature, pair.stand_in) for pair in found.pairs]
    assert len(named) == len(set(named)) == 6
    assert {(other, one) for one, other in named} == set(named)


def test_prices_in_the_two_directions_are_opposite(linear):
    found, _ = linear
    prices = {(pair.feature, pair.stand_in): pair.price for pair in found.pairs}
    assert all(prices[one, other] == -prices[other, one] for one, other in prices)
    assert any(prices.values())


def test_stand_ins_are_named_cheapest_first(linear):
    found, _ = linear
    for name in found.groups[0]:
        prices = [pair.price for pair in found.of(name)]
        assert len(prices) == 2
        assert prices == sorted(prices)
    assert found.of("noise_0") == ()
    assert found.alternatives(["strong_0", "weak_0_0"])["strong_0"] == ()


def test_the_frame_has_one_row_for_each_pair(linear):
    frame = linear[0].frame()
    assert list(frame) == ["feature", "stand_in", "price", "error"]
    assert len(frame) == 6
    assert list(made_up().stand_ins.frame()["price"]) == [0.5, -0.5]


def test_an_exact_copy_costs_nothing():
    X = np.random.default_rng(0).standard_normal((80, 3))
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "copy": 5 - 2 * X[:, 0], "noise": X[:, 2]})
    found = of_table(frame, classes(X[:, 0] + X[:, 1] > 0), ["a", "b"])
    assert found.groups == (("a", "copy"),)
    assert {(pair.feature, pair.stand_in, pair.price, pair.error) for pair in found.pairs} == {
        ("a", "copy", 0, 0),
        ("copy", "a", 0, 0),
    }


def test_a_category_stands_in_for_its_codes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"code": codes, "text": np.where(codes, "high", "low"), "x": rng.standard_normal(120)})
    found = of_table(frame, measured(2 * codes + frame["x"]), ["code", "x"])
    assert found.groups == (("code", "text"),)


def test_a_member_that_nobody_misses_has_no_stand_ins():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2))
    frame = pd.DataFrame({"a": X[:, 0], "useless": X[:, 1], "copy": X[:, 1]})
    found = of_table(frame, classes(X[:, 0] > 0), ["a", "useless"])
    assert found.pairs == found.groups == ()


def test_an_unlike_feature_is_no_stand_in_however_useful():
    X = np.random.default_rng(0).standard_normal((150, 2))
    frame = pd.DataFrame(X, columns=["a", "b"])
    found = of_table(frame, classes(X.sum(axis=1) > 0), ["a"])
    assert found.pairs == ()


def test_at_most_eight_are_named():
    rng = np.random.default_rng(0)
    z = rng.standard_normal(80)
    X = pd.DataFrame(z[:, None] + 0.01 * rng.standard_normal((80, 12)))
    found = find_stand_ins(feature_columns(X), classes(z > 0), [0], range(1, 12), None)
    assert len(found.groups[0]) == 1 + MOST_NAMED
