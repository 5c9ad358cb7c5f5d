"""Tables written as comma-separated values."""

import pandas as pd

from whynear.data.delimited import write_csv


def test_no_spreadsheet_takes_a_value_or_a_name_for_a_formula(tmp_path):
    write_csv(pd.DataFrame({"=1+1": ["@sum", "plain"], "n": [-1, 2]}), tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "'=1+1,n\n'@sum,-1\nplain,2\n"


def test_a_class_that_is_a_number_keeps_its_sign(tmp_path):
    written = pd.DataFrame({"predicted": ["-1", "+1.5", "-2e3", "-1+1", "-x"]})
    write_csv(written, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text() == "predicted\n-1\n+1.5\n-2e3\n'-1+1\n'-x\n"
