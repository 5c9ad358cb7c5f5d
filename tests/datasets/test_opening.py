import numpy as np
import pandas as pd
import pytest

from whynear.datasets.opening import frame_and_source, open_table


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
        frame, source = frame_and_source(path)
    assert (list(frame.columns), source) == (["a", "a.1"], "cases.csv")
