import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from whynear.data.opening import is_vector, table_with_target

X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 7.0]])
NAMED = pd.DataFrame(X, columns=["a", "b"], index=["ann", "bob", "eve"])


@pytest.mark.parametrize(
    "y", [["u", "v", "u"], ("u", "v", "u"), np.array(["u", "v", "u"]), np.array([["u"], ["v"], ["u"]])]
)
def test_arrays_make_a_table_with_default_names_and_numbered_rows(y):
    table = table_with_target(X, y)
    assert list(table.frame.columns) == ["x0", "x1", "target"]
    assert table.frame.index.tolist() == [1, 2, 3]
    assert table.frame["target"].tolist() == ["u", "v", "u"]
    assert table.target == "target"


def test_names_of_columns_target_and_rows_are_kept():
    table = table_with_target(NAMED, pd.Series([0, 1, 0], index=NAMED.index, name="sick"))
    assert list(table.frame.columns) == ["a", "b", "sick"]
    assert table.frame.index.tolist() == ["ann", "bob", "eve"]
    assert table.target == "sick"
    assert list(NAMED.columns) == ["a", "b"]


def test_a_target_of_one_column_keeps_its_name():
    assert table_with_target(NAMED, pd.DataFrame({"sick": [0, 1, 0]})).target == "sick"


@pytest.mark.parametrize(("features", "target"), [(X, [0, 1, 0]), (NAMED.reset_index(drop=True), [0, 1, 0])])
def test_rows_are_named_by_the_target_if_the_features_do_not(features, target):
    table = table_with_target(features, pd.Series(target, index=NAMED.index))
    assert table.frame.index.tolist() == ["ann", "bob", "eve"]


def test_values_without_names_of_rows_belong_to_rows_in_their_order():
    table = table_with_target(NAMED, pd.Series([0, 1, 0]))
    assert table.frame.index.tolist() == ["ann", "bob", "eve"]
    assert table.frame["target"].tolist() == [0, 1, 0]


def test_columns_of_an_array_of_objects_keep_their_kinds():
    frame = table_with_target(np.array([[1, "u"], [2, "v"]], dtype=object), [True, False]).frame
    assert frame["x0"].dtype == np.int64
    assert frame["target"].dtype == bool


def test_a_target_without_a_name_leaves_a_feature_called_target_alone():
    assert table_with_target(NAMED.set_axis(["a", "target"], axis=1), [0, 1, 0]).target == "class of the case"


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        (X, [0, 1], "one value for each of the 3 rows of X, got 2 instead"),
        (NAMED, ["b"], r"got 1 instead. A column of X is given by its name: wn.study\(X, 'name'\)"),
        (X, np.zeros((3, 2)), r"y must hold one value for each row, got an array of shape \(3, 2\)"),
        (X[0], [0, 1], "X must have rows and columns, got 1 dimensions"),
        (NAMED, pd.Series([0, 1, 0], name="b"), r"X has a column 'b', which is also the name of y. .* rename y"),
        (NAMED, pd.Series([0, 1, 0], index=["bob", "ann", "eve"]), r"the same rows in another order .* y.loc\[X.index"),
        (NAMED, pd.Series([0, 1, 0], index=["jim", "kim", "tim"]), r"other rows than that of X. .* y.to_numpy\(\)"),
        (pd.DataFrame(X), pd.Series([0, 1, 0], index=[2, 1, 0]), "the same rows in another order"),
    ],
)
def test_what_does_not_belong_together_is_refused(features, target, message):
    with pytest.raises(ValueError, match=message):
        table_with_target(features, target)


@pytest.mark.parametrize(
    ("features", "target", "message"),
    [
        ("cases.csv", [0, 1], "The target of 'cases.csv' must be the name of one of its columns, got list instead"),
        (csr_array(X), [0, 1, 0], r"X must be a dense table, got a sparse one instead. Use X.toarray\(\)"),
        (np.ma.masked_array(X, X > 5), [0, 1, 0], r"masked array, whose mask would be ignored. Use X.filled"),
        (X, np.ma.masked_array([0, 1, 0], [0, 1, 0]), "y is a masked array, .* Remove the masked rows"),
    ],
)
def test_what_is_no_pair_of_features_and_target_is_refused(features, target, message):
    with pytest.raises(TypeError, match=message):
        table_with_target(features, target)


def test_a_tuple_that_names_a_column_is_a_name():
    levels = NAMED.set_axis(pd.MultiIndex.from_tuples([("a", "x"), ("b", "x")]), axis=1)
    assert not is_vector(("a", "x"), levels)
    assert is_vector((0, 1, 0), levels)
