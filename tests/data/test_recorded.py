import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from whynear.data.column_reading import as_recorded

READINGS = {"price": "number ,", "rate": "number .", "day": "date %d/%m/%Y", "born": "date ISO8601", "code": "category"}
MISSING = {"price": ("?",), "age": ("-999",)}
RAW = pd.DataFrame(
    {
        "price": ["1,234", "?"],
        "rate": ["1,234%", "5%"],
        "day": ["3/4/2020", None],
        "born": ["2020-01-31", "1970-01-02"],
        "code": [7, 8],
        "age": [-999.0, 30.0],
        "other": ["?", "1,5"],
    }
)
READ = pd.DataFrame(
    {
        "price": [1.234, np.nan],
        "rate": [1234.0, 5.0],
        "day": [18355.0, np.nan],
        "born": [18292.0, 1.0],
        "code": pd.Series(["7", "8"], dtype=object),
        "age": [np.nan, 30.0],
        "other": ["?", "1,5"],
    }
)


def test_a_single_row_is_read_as_the_table_of_the_model_was():
    assert_frame_equal(as_recorded(RAW, READINGS, MISSING), READ)
    assert_frame_equal(as_recorded(RAW.head(1), READINGS, MISSING), READ.head(1), check_dtype=False)


def test_a_table_that_is_read_already_stays_what_it_is():
    assert_frame_equal(as_recorded(READ, READINGS, MISSING), READ)
    assert as_recorded(READ, {}, {}) is READ


def test_what_cannot_be_read_stays_for_the_error_that_names_it():
    odd = RAW.assign(price=["cheap", "2,5"], day=["soon", "3/4/2020"])
    read = as_recorded(odd, READINGS, MISSING)
    assert read["price"].tolist() == ["cheap", "2,5"]
    assert read["day"].tolist() == ["soon", "3/4/2020"]


def test_what_is_no_number_is_missing_where_the_model_took_it_so():
    readings = {"a": "number-or-missing ,"}
    with pytest.warns(UserWarning, match="Column 'a': 1 value that is not a number was taken as missing, such as 'x'"):
        read = as_recorded(pd.DataFrame({"a": ["1,234", "x", "007"]}), readings, {})
    assert read["a"].tolist() == pytest.approx([1.234, np.nan, 7], nan_ok=True)
    with pytest.warns(UserWarning, match="such as 'x'"):
        assert as_recorded(pd.DataFrame({"a": ["x"]}), readings, {})["a"].isna().all()


def test_whole_numbers_are_dates_of_a_format_without_signs():
    read = as_recorded(pd.DataFrame({"day": [20200131]}), {"day": "date %Y%m%d"}, {})
    assert read["day"].tolist() == [18292.0]
    assert as_recorded(read, {"day": "date %Y%m%d"}, {})["day"].tolist() == [18292.0]


def test_days_stay_days_when_they_are_read_again():
    """The features of a study are read once by the study, and again by the model."""
    for form, written in (("%Y%m", [202001, 202112]), ("%Y%m%d", [20200131, 19691231]), ("%d.%m.%Y", ["31.1.2020"])):
        readings = {"day": f"date {form}"}
        once = as_recorded(pd.DataFrame({"day": written}), readings, {})
        assert pd.api.types.is_float_dtype(once["day"])
        pd.testing.assert_frame_equal(as_recorded(once, readings, {}), once)


def test_dates_as_iso_8601_writes_them_are_read_in_columns_of_any_format():
    for form in ("%d/%m/%Y", "%Y%m%d", "ISO8601"):
        read = as_recorded(pd.DataFrame({"day": ["2020-01-31", None]}), {"day": f"date {form}"}, {})
        np.testing.assert_array_equal(read["day"], [18292.0, np.nan])
    mixed = pd.DataFrame({"day": ["2020-01-31", "31/1/2020"]})
    assert as_recorded(mixed, {"day": "date %d/%m/%Y"}, {})["day"].tolist() == [18292.0, 18292.0]
    wrong = pd.DataFrame({"day": ["2020-01-31", "31/1/2020", "1/31/2020"]})
    assert as_recorded(wrong, {"day": "date %d/%m/%Y"}, {})["day"].tolist() == wrong["day"].tolist()
