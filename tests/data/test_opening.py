import sys

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from whynear.data.opening import is_vector, open_for, open_table, table_with_target
from whynear.data.reading import ModelColumns


@pytest.mark.parametrize("table", [np.zeros((4, 2)), [[1, 2]], None])
def test_what_is_no_table_is_refused_with_what_is_accepted(table):
    with pytest.raises(TypeError, match=f"a DataFrame, the path .* got {type(table).__name__} instead"):
        open_table(table)


def test_a_data_set_knows_its_target():
    opened = open_table("wine")
    assert (opened.source, opened.target) == ("wine", "target")
    assert opened.frame.shape == (178, 14)
    assert set(opened.frame["target"]) == {"class_0", "class_1", "class_2"}
    with pytest.raises(ValueError, match="Did you mean 'wine'"):
        open_table("wyne")


def test_a_table_keeps_its_values_and_gets_names_of_text():
    opened = open_table(pd.DataFrame([[1, 2]], columns=[3, "b"]))
    assert list(opened.frame.columns) == ["3", "b"]
    assert (opened.source, opened.notes, opened.target) == ("The table", (), None)
    with pytest.raises(ValueError, match="the column '3' twice"):
        open_table(pd.DataFrame([[1, 2]], columns=[3, "3"]))


def test_what_was_changed_in_a_file_is_a_warning(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("a,a\n1,2\n")
    with pytest.warns(UserWarning, match=r"cases\.csv: Duplicate column names were suffixed"):
        opened = open_for(ModelColumns.behind(None, ["a"]), path)
    assert (list(opened.frame.columns), opened.source) == (["a", "a.1"], "cases.csv")


CASES = pd.DataFrame({"size": [1.5, 2.5, None, 4.0], "kind": ["u", "v", None, "u"], "n": [1, 2, 3, 4]})


NUMBERED = CASES.set_axis(range(1, len(CASES) + 1))


def test_tables_of_arrow_are_converted():
    pyarrow = pytest.importorskip("pyarrow")
    pd.testing.assert_frame_equal(open_table(pyarrow.Table.from_pandas(CASES)).frame, NUMBERED)
    pd.testing.assert_frame_equal(open_table(pyarrow.RecordBatch.from_pandas(CASES)).frame, NUMBERED)


@pytest.mark.slow
def test_tables_of_polars_are_converted():
    polars = pytest.importorskip("polars")
    table = polars.from_pandas(CASES)
    for given in (table, table.lazy()):
        pd.testing.assert_frame_equal(open_table(given).frame, NUMBERED, check_dtype=False)


class _Lazy:
    def collect(self):
        return _Converted()


class _Converted:
    def to_pandas(self):
        return CASES


class _Stream:
    def __arrow_c_stream__(self, requested_schema=None):
        import pyarrow

        return pyarrow.Table.from_pandas(CASES).__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("table", [_Lazy(), _Converted(), _Stream()])
def test_a_table_that_can_be_converted_is_taken(table):
    pd.testing.assert_frame_equal(open_table(table).frame, NUMBERED)


def test_a_conversion_that_needs_a_package_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'A _Stream needs pyarrow .* pip install "whynear\[parquet\]"'):
        open_table(_Stream())


def test_a_strict_reader_takes_utf_8_unless_another_encoding_is_named(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_bytes("größe,b\n1,2\n".encode("latin-1"))
    assert list(open_table(path).frame.columns) == ["größe", "b"]
    assert list(open_table(path, "latin-1", strict=True).frame.columns) == ["größe", "b"]
    with pytest.raises(ValueError, match="--encoding latin-1"):
        open_table(path, strict=True)


def test_columns_of_numbers_are_read_as_such_with_a_warning(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("a;b;c\n1,234;x;?\n2,5;y;3\n")
    with pytest.warns(UserWarning, match="decimal commas") as caught:
        frame = open_for(ModelColumns.behind(None, ["a", "b", "c", "other"]), path).frame
    assert frame["a"].tolist() == [1.234, 2.5]
    assert frame["b"].tolist() == ["x", "y"]
    assert frame["c"].isna().tolist() == [True, False]
    said = " ".join(str(warning.message) for warning in caught)
    assert "Column 'a' is written with decimal commas: '1,234' in 'a' was taken as 1.234." in said
    assert "'?' was taken as missing: 1 value, in 'c' (1)." in said


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
