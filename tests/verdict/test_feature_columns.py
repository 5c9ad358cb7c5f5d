import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.verdict.table import chosen_rows, feature_columns, owners_of


def numbers(n=60, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def of_one(column):
    return feature_columns(pd.DataFrame({"a": column})).values


@pytest.mark.parametrize("scale", [1e-9, 3.0, 1e9])
def test_scaling_and_shifting_a_column_changes_nothing(scale):
    X = numbers()
    X[0, 0] = 50.0
    moved = X * scale - 7 * scale
    assert_allclose(feature_columns(moved).values, feature_columns(X).values, atol=1e-6)


def test_turning_a_column_round_only_turns_its_sign():
    X = numbers()
    assert_allclose(feature_columns(-X).values, -feature_columns(X).values, atol=1e-12)


def test_columns_have_mean_zero_and_variance_one():
    values = feature_columns(numbers()).values
    assert_allclose(values.mean(axis=0), 0, atol=1e-12)
    assert_allclose(values.std(axis=0), 1)


def test_outliers_are_drawn_in_and_keep_their_place():
    column = np.append(numbers(99, 1)[:, 0], 1e6)
    values = of_one(column)[:, 0]
    assert values.max() < 12
    assert_array_equal(np.argsort(values), np.argsort(column))
    plain = (column - column.mean()) / column.std()
    assert np.ptp(plain[:99]) < 1e-4 < 1 < np.ptp(values[:99])


def test_a_column_mostly_of_one_value_keeps_the_others():
    column = np.append(np.where(np.arange(60) % 2, 0.3, 0.1 + 0.2), 1e5 * numbers(40, 1)[:, 0])
    assert of_one(column).shape == (100, 1)


def test_categories_are_one_feature_and_two_of_them_one_column():
    found = feature_columns(pd.DataFrame({"three": ["a", "b", "c"] * 4, "two": ["u", "v"] * 6, "number": range(12)}))
    assert_array_equal(found.owners, [0, 0, 0, 1, 2])
    assert found.names == ("three", "two", "number")
    assert_allclose(np.square(found.values[:, :3]).sum(), 12)  # as much variance as any other feature
    assert set(found.values[:, 3]) == {-1.0, 1.0}


def test_kinds_of_yes_and_no_are_the_same_column():
    answers = [True, True, False] * 5
    as_number = of_one(np.array(answers, dtype=float))
    for kind in (np.array(answers), pd.array(answers, dtype="boolean"), pd.array(answers, dtype="Int64")):
        assert_allclose(of_one(kind), as_number)
    assert_allclose(np.abs(of_one(pd.Categorical(answers))), np.abs(as_number))


def test_few_missing_numbers_become_the_median():
    column = numbers(101, 1)[:, 0]
    column[np.argsort(column)[50]] = np.nan  # the median itself
    gap = np.flatnonzero(np.isnan(column))
    values = of_one(column)
    assert values.shape == (101, 1)
    known = np.delete(values[:, 0], gap)
    assert_allclose(values[gap, 0], np.median(known), atol=1e-12)


@pytest.mark.parametrize("gap", [np.nan, np.inf, -np.inf])
def test_many_missing_numbers_have_an_indicator(gap):
    column = numbers(100, 1)[:, 0]
    column[:2] = gap
    found = feature_columns(pd.DataFrame({"a": column}))
    assert_array_equal(found.owners, [0, 0])
    assert len(set(found.values[2:, 1])) == 1
    assert found.values[0, 1] > 0 > found.values[2, 1]


def test_a_missing_category_is_a_category():
    values = of_one(["a", "b", None, "b"] * 5)
    assert values.shape == (20, 3)
    assert len({tuple(row) for row in values}) == 3


@pytest.mark.parametrize("column", [[1.0] * 8, [np.nan] * 8, ["a"] * 8, [None] * 8, [1e9] * 8, [0.1 + 0.2] * 8])
def test_a_column_without_variation_is_a_feature_without_columns(column):
    found = feature_columns(pd.DataFrame({"a": column, "b": range(8)}))
    assert found.names == ("a", "b")
    assert_array_equal(found.owners, [1])
    assert found.of([0]).shape == (8, 0)


def test_an_array_of_objects_keeps_its_numbers():
    mixed = np.array([["a", 1.5], ["b", 2.5], ["a", 4.0], ["b", 9.0]], dtype=object)
    frame = pd.DataFrame({"x0": ["a", "b", "a", "b"], "x1": [1.5, 2.5, 4.0, 9.0]})
    found = feature_columns(mixed)
    assert found.names == ("x0", "x1")
    assert_allclose(found.values, feature_columns(frame).values)


def test_some_of_the_features_are_those_of_the_table_without_the_others():
    frame = pd.DataFrame({"c": ["a", "b", "c"] * 4, "x": numbers(12, 1)[:, 0], "d": ["u", "v"] * 6})
    part, alone = feature_columns(frame).only([2, 0]), feature_columns(frame[["c", "d"]])
    assert part.names == alone.names
    assert_array_equal(part.owners, alone.owners)
    assert_allclose(part.values, alone.values)


def test_chosen_rows_keep_the_shares_of_the_classes():
    strata = np.repeat([0, 1, 2], [700, 250, 50])
    rows = chosen_rows(1000, 100, strata, np.random.default_rng(0))
    assert len(rows) == len(set(rows)) == 100
    assert np.abs(np.bincount(strata[rows]) - [70, 25, 5]).max() <= 1


def test_chosen_rows_follow_the_seed_and_are_all_where_there_are_few():
    strata = np.arange(200) % 2
    one, same, other = (chosen_rows(200, 50, strata, np.random.default_rng(seed)) for seed in (0, 0, 1))
    assert_array_equal(one, same)
    assert not np.array_equal(one, other)
    assert_array_equal(chosen_rows(200, 200, strata, np.random.default_rng(0)), np.arange(200))


def test_ordered_categories_are_one_column_in_their_order():
    grades = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    values = ["mid", "low", "high", "high", "low", None]
    found = feature_columns(pd.DataFrame({"grade": pd.Series(values, dtype=grades), "a": np.arange(6.0)}))
    first = found.of([0])[:, 0]
    assert first[1] < first[0] < first[2]
    assert first[1] == first[4]


def test_columns_of_one_feature_have_the_variance_of_one():
    X = pd.DataFrame(numbers(d=4), columns=list("abcd")).assign(constant=1.0)
    made = feature_columns(X, ["band", "band", "c", "band", "band"])
    assert made.names == ("band", "c")
    assert made.owners.tolist() == [0, 0, 1, 0]
    assert_allclose(np.square(made.of([0])).mean(axis=0).sum(), 1.0)
    assert_allclose(made.of([1]), feature_columns(X).of([2]))


def test_features_are_numbered_in_the_order_of_the_columns():
    names, owners = owners_of(["b", "a", "b"])
    assert names == ("b", "a")
    assert owners.tolist() == [0, 1, 0]


def test_every_column_needs_a_feature():
    with pytest.raises(ValueError, match="one feature for each of the 3 columns, got 2"):
        feature_columns(numbers(), ["a", "b"])
