"""Tables written as comma-separated values."""

import pandas as pd

from whynear.tables.writing import write_csv


def test_no_spreadsheet_takes_a_value_or_a_name_for_a_formula(tmp_path):
    write_csv(pd.DataFrame({"=1+1": ["@sum", "plain"], "n": [-1, 2]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "'=1+1,n\n'@sum,-1\nplain,2\n"
