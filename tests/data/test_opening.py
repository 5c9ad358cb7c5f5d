import sys

import numpy as np
import pandas as pd
import pytest

from whynear.data.model_columns import ModelColumns
from whynear.data.opening import open_for, open_table


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
