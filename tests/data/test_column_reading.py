import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from whynear.data.column_reading import ColumnReader, as_recorded
from whynear.data.options import Reading, TableRefused


def read(values, strict=False, **named):
    reader = ColumnReader("t.csv", Reading(**named, strict=strict))
    column = reader.read(pd.Series(values, name="a", dtype=None if isinstance(values, np.ndarray) else object))
    return column, reader


@pytest.mark.parametrize(
    ("values", "numbers", "notes"),
    [
        (["1", "?", "2"], [1, np.nan, 2], ["'?' was taken as missing: 1 value, in 'a' (1)."]),
        (["1", " 2"], [1, 2], ["Column 'a' holds numbers written as text: taken as numbers."]),
        (["1", " "], [1, np.nan], []),
        (["31%", "5%"], [31, 5], ["Column 'a' is written with percent signs: '31%' in 'a' was taken as 31."]),
        (["<5", "7", "8"], [5, 7, 8], ["1 value is only known as a limit, such as '<5': taken at the limit."]),
    ],
)
def test_what_is_read_in_another_way_is_said(values, numbers, notes):
    column, reader = read(values)
    assert_allclose(column, numbers)
    for note, said in zip(notes, reader.notes(), strict=True):
        assert note in said


def test_several_columns_that_are_written_alike_share_a_sentence():
    reader = ColumnReader("t.csv", Reading())
    for name in "ab":
        reader.read(pd.Series(["3,5", "?"], name=name))
    assert reader.notes() == [
        "'?' was taken as missing: 2 values, in 'a' (1), 'b' (1).",
        "Columns 'a', 'b' are written with decimal commas: '3,5' in 'a' was taken as 3.5.",
    ]
    assert reader.readings == {"a": "number ,", "b": "number ,"}
    assert reader.codes(["a", "b", "c"]) == {"a": ("?",), "b": ("?",)}


def test_a_column_of_limits_is_no_column_of_numbers():
    column, reader = read(["<5", ">10", "<5", "7"])
    assert column.tolist() == ["<5", ">10", "<5", "7"]
    assert reader.notes() == []


def test_a_sign_in_a_column_of_text_can_be_kept():
    column, reader = read(["y", "?", "n"])
    assert column.isna().tolist() == [False, True, False]
    assert reader.notes() == ["'?' was taken as missing: 1 value, in 'a' (1); --category 'a' keeps it as a value."]
    column, reader = read(["y", "?", "n"], category=("a",))
    assert column.tolist() == ["y", "?", "n"]
    assert reader.notes() == []


def test_given_codes_are_missing_in_text_and_numbers():
    column, reader = read(np.array([-999.0, 1.0]), missing=("-999",))
    assert column.isna().tolist() == [True, False]
    assert reader.notes() == ["'-999' was taken as missing: 1 value, in 'a' (1)."]
    assert read(["-999,0", "1,5"], missing=("-999",))[0].isna().tolist() == [True, False]


def test_a_column_named_as_numbers_counts_what_is_none():
    column, reader = read(["1,5", "none", "lost", "007", 3], number=("a",))
    assert_allclose(column, [1.5, np.nan, np.nan, 7, 3])
    assert "Column 'a': 2 values that are not numbers were taken as missing, such as 'none'." in reader.notes()
    with pytest.raises(TableRefused, match=r"column 'a' holds no number, such as 'x' \(--number 'a'\)"):
        read(["x"], number=("a",))
    with pytest.raises(TableRefused, match="numbers that contradict each other"):
        read(["5%", "6"], number=("a",))


def test_a_column_named_as_dates_becomes_days():
    column, reader = read(["31.1.2020", "?", "1.2.2020"], date=("a",))
    assert_allclose(column, [18292, np.nan, 18293])
    assert reader.notes()[-1] == (
        "Column 'a' holds dates from 2020-01-31 to 2020-02-01: taken as days since 1970-01-01."
    )
    assert reader.readings == {"a": "date %d.%m.%Y"}


def test_a_date_that_can_be_two_is_refused_with_its_formats():
    with pytest.raises(TableRefused, match=r"'3/4/2020' can be two dates.*--date 'a=%d/%m/%Y' or") as error:
        read(["3/4/2020"], date=("a",))
    assert error.value.settings == {"date": ("a=%d/%m/%Y",)}
    assert_allclose(read(["3/4/2020"], date=("a", "a=%m/%d/%Y"))[0], [18325])
    with pytest.raises(TableRefused, match="values that are not dates of one format, such as 'soon'"):
        read(["soon"], date=("a",))


@pytest.mark.parametrize(
    ("values", "settings"),
    [(["1", "?"], {"missing": ("?",)}), (["3,5", "4"], {"number": ("a",)}), (["<5", "6", "7"], {"number": ("a",)})],
)
def test_a_strict_reader_refuses_with_the_setting_that_takes_it(values, settings):
    with pytest.raises(TableRefused) as error:
        read(values, strict=True)
    assert error.value.settings == settings
    read(values, strict=True, **settings)


def test_a_target_of_classes_keeps_its_names():
    def target(values, **named):
        return ColumnReader("t.csv", Reading(**named)).read_class(pd.Series(values, name="y")).tolist()

    assert target(["10%", "20%"] * 3) == ["10%", "20%"] * 3
    assert target([f"{i},5" for i in range(6)]) == [i + 0.5 for i in range(6)]
    assert pd.isna(target(["u", "?", "v", "u"])[1])
    assert target(["+", "-"] * 3) == ["+", "-"] * 3
    assert target([1, 2] * 3, category=("y",)) == ["1", "2"] * 3
    assert target(["10%", "20%"] * 3, number=("y",)) == [10, 20] * 3


@pytest.mark.skipif(pd.__version__ < "3", reason="pandas 2 reads no dates before 1678 and after 2261")
def test_dates_of_any_year_are_days():
    column, reader = read(["2821-10-14", "1021-01-02"], date=("a",))
    assert_allclose(column, [311108, -346614])
    assert "dates from 1021-01-02 to 2821-10-14" in reader.notes()[-1]
    assert read([None, None], date=("a",))[1].notes() == []


def test_a_column_of_numbers_may_hold_only_signs_for_missing_ones():
    column, reader = read(["?", "", "?"], number=("a",))
    assert column.isna().all()
    assert column.dtype == float
    assert "'?' was taken as missing: 2 values" in reader.notes()[0]
    assert "a" in reader.readings


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
    with pytest.warns(UserWarning, match=r"Column 'a': 1 value .* taken as missing, such as 'x'"):
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
