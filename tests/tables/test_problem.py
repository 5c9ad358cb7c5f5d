import re
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from tests.helpers.problems import problem_of


def as_objects(values):
    return pd.Series(values, dtype=object)


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "kind": np.tile(["u", "v"], 30)})


def test_a_table_becomes_numbers_and_classes(frame):
    problem = problem_of(frame.assign(flag=True), "kind")
    assert list(problem.X.columns) == ["a", "b", "flag"]
    assert problem.X["flag"].tolist() == [1.0] * 60
    assert set(problem.y) == {"u", "v"}


def test_integer_and_boolean_targets_are_classes(frame):
    assert set(problem_of(frame.assign(kind=np.arange(60) % 3), "kind").y) == {"0", "1", "2"}
    assert set(problem_of(frame.assign(kind=np.arange(60) % 2 == 0), "kind").y) == {"True", "False"}


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, None, "needs a target: .*--target.* Its columns are 'a', 'b', 'kind'"),
        ({}, "Kind", "no column 'Kind'. Did you mean 'kind'?"),
        ({"kind": ["u"] * 59 + [None]}, "kind", "1 value of the target 'kind' is missing, in row 60 .*this row"),
        ({"kind": ["", " \t"] + ["u"] * 58}, "kind", "2 values of the target 'kind' are missing, in rows 1, 2 "),
        ({"kind": [np.inf] + [0.0] * 59}, "kind", "1 value of the target 'kind' is infinite, in row 1 "),
        ({"kind": "u"}, "kind", "holds the single class 'u'"),
        ({"kind": np.random.default_rng(1).random(60)}, "kind", "a measurement with 60 different values.*--bins 3"),
        ({"kind": np.arange(60)}, "kind", "a measurement with 60 different values.*--bins 3"),
        ({"kind": [0] * 20 + [1] * 20 + list(range(2, 22))}, "kind", "a measurement with 22 different.*--bins 3"),
        ({"kind": [f"id{i}" for i in range(60)]}, "kind", "no class with two rows"),
        ({"town": "Rome"}, "kind", r"1 of 3 columns is not numeric: 'town' \(text, such as 'Rome' in .*--drop 'town'"),
        ({"b": [np.nan] * 2 + [1.0] * 58}, "kind", "contains NaN: 2 in column 'b'"),
        ({"b": [np.inf] + [1.0] * 59}, "kind", "infinity .*1 in column 'b'"),
        ({"b": 1e300}, "kind", "in column 'b': its square overflows"),
    ],
)
def test_a_difficulty_is_named_with_its_remedy(frame, change, target, message):
    with pytest.raises(ValueError, match=message):
        problem_of(frame.assign(**change), target)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([*map(str, range(17)), "?", *map(str, range(42))], "text, such as '?' in row 18"),
        (as_objects([*range(17), "?", *range(42)]), "text, such as '?' in row 18"),
        (as_objects([None, *range(58), date(2020, 1, 1)]), "dates, such as '2020-01-01' in row 60"),
        ([pd.Timestamp("2020-01-01")] * 60, "dates, such as '2020-01-01 00:00:00' in row 1"),
        ([pd.Timedelta(1, "D")] * 60, "durations, such as '1 days 00:00:00' in row 1"),
        (pd.Categorical([3, 4] * 30), "categories, such as '3' in row 1"),
        ([1 + 2j] * 60, "complex numbers, such as '(1+2j)' in row 1"),
        (["007"] * 60, "numbers written as text, such as '007' in row 1"),
        (as_objects([[1]] * 60), "values of type list, such as '[1]' in row 1"),
    ],
)
def test_a_column_is_named_for_what_it_holds_with_the_value_and_row_in_the_way(frame, values, kind):
    with pytest.raises(ValueError, match=re.escape(f"'b' ({kind})")):
        problem_of(frame.assign(b=values), "kind")


@pytest.mark.parametrize("dtype", [object, "string"])
def test_numbers_written_as_text_are_taken_as_numbers_and_that_is_said(frame, dtype):
    written = pd.Series([f" {value:.3f}" for value in frame["b"]], dtype=dtype)
    problem = problem_of(frame.assign(b=written), "kind")
    assert_allclose(problem.X["b"], frame["b"], atol=1e-3)
    assert problem.encoder is None
    assert "Column 'b' holds numbers written as text: taken as numbers." in problem.caveats
    assert not any("written as text" in caveat for caveat in problem_of(frame, "kind").caveats)
    mixed = problem_of(frame.assign(b=as_objects([1, " 2 ", None, "-.5e1", *range(56)])), "kind", impute="median")
    assert mixed.X["b"].tolist()[:4] == pytest.approx([1.0, 2.0, np.nan, -5.0], nan_ok=True)
    assert problem_of(frame.assign(b=["1", "2"] * 30), "kind", categories="onehot").X["b"].tolist() == ["1", "2"] * 30


def test_decimal_commas_are_recognised(frame):
    text = frame["b"].map("{:.2f}".format).str.replace(".", ",")
    with pytest.raises(ValueError, match=r"'0,40' look like decimal commas: write '0.40' instead"):
        problem_of(frame.assign(b=text), "kind")


@pytest.mark.parametrize("as_number", [float, Decimal, np.float32, Fraction])
def test_numbers_kept_as_objects_are_converted(frame, as_number):
    problem = problem_of(frame.assign(b=as_objects([as_number(i / 4) for i in range(60)])), "kind")
    assert problem.X["b"].tolist() == [i / 4 for i in range(60)]
    with pytest.raises(ValueError, match=r"infinity .*1 in column 'b'"):
        problem_of(frame.assign(b=as_objects([10**400, *range(59)])), "kind")


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_a_column_without_any_value_is_kept_as_constant_with_a_caveat(frame, missing):
    problem = problem_of(frame.assign(empty=missing), "kind")
    assert problem.numbers()["empty"].tolist() == [0.0] * 60
    assert problem.caveats == ("Columns without any value count as irrelevant: 'empty'.",)


def test_blanks_around_classes_are_taken_off_and_merging_is_told(frame):
    problem = problem_of(frame.assign(kind=["u ", "v", "u", " w"] * 15), "kind")
    assert set(problem.y) == {"u", "v", "w"}
    assert [text for text in problem.caveats if "blanks" in text] == [
        "Classes that differ only in blanks around their names were merged: 'u'."
    ]
    assert not problem_of(frame.assign(kind=["u ", "v"] * 30), "kind").caveats


@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_looks_like_a_row_number_is_a_caveat(frame, start):
    problem = problem_of(frame.assign(case=np.arange(start, 60 + start), half=np.arange(60) / 2), "kind")
    assert "case" in problem.X
    (caveat,) = problem.caveats
    assert "'case' looks like a row number" in caveat
    assert "--drop 'case'" in caveat


def test_an_index_saved_beside_the_table_is_left_out(frame, tmp_path):
    frame.to_csv(tmp_path / "cases.csv")
    problem = problem_of(tmp_path / "cases.csv", "kind")
    assert list(problem.X.columns) == ["a", "b"]
    assert any("only numbers the rows" in caveat for caveat in problem.caveats)


def test_columns_may_have_names_that_are_no_text(frame):
    numbered = frame.set_axis([0, 1, 2], axis=1)
    assert list(problem_of(numbered, 2, drop=[0]).X.columns) == ["1"]
    assert list(problem_of(numbered[[2, 0, 1]].set_axis([0, 1, 2], axis=1), 0, drop=1).X.columns) == ["2"]


@pytest.mark.parametrize("table", [np.zeros((4, 2)), [[1, 2]], None])
def test_what_is_no_table_is_refused_with_what_is_accepted(table):
    with pytest.raises(TypeError, match=f"a DataFrame, the path .* got {type(table).__name__} instead"):
        problem_of(table, "kind")


@pytest.mark.parametrize("n_rows", [0, 1, 3])
def test_tables_with_too_few_rows_are_refused(frame, n_rows):
    with pytest.raises(ValueError, match=rf"The table has {n_rows} rows?; two classes with two rows each"):
        problem_of(frame.head(n_rows), "kind")


def test_a_problem_keeps_its_classes(frame):
    with pytest.raises(ValueError, match="read-only"):
        problem_of(frame, "kind").y[0] = "w"


def test_a_table_without_features_or_with_a_name_twice_is_refused(frame):
    with pytest.raises(ValueError, match="no columns beside the target"):
        problem_of(frame[["kind"]], "kind")
    with pytest.raises(ValueError, match="the column 'a' twice"):
        problem_of(pd.concat([frame, frame[["a"]]], axis=1), "kind")


def test_columns_can_be_left_out(frame):
    assert list(problem_of(frame.assign(town="Rome"), "kind", drop=["town", "a"]).X.columns) == ["b"]
    assert list(problem_of(frame.assign(town="Rome"), "kind", drop="town").X.columns) == ["a", "b"]
    with pytest.raises(ValueError, match="no column 'c'"):
        problem_of(frame, "kind", drop=["c"])


def test_a_measurement_is_binned_on_request(frame):
    problem = problem_of(frame, "a", drop=["kind"], bins=3)
    assert pd.Series(problem.y).value_counts().to_dict() == {f"bin {i} of 3": 20 for i in (1, 2, 3)}
    with pytest.raises(ValueError, match="needs a numeric target"):
        problem_of(frame, "kind", bins=3)


def test_caveats_tell_what_a_reader_must_know(frame):
    odd = pd.concat([frame.assign(same=1.0)] * 2, ignore_index=True)
    odd.loc[60, "kind"] = "v"
    odd.loc[3, "kind"] = "w"
    caveats = " ".join(problem_of(odd, "kind").caveats)
    assert "left out: 'w'" in caveats
    assert "never change" in caveats
    assert "'same'" in caveats
    assert "59 rows repeat the" in caveats
    assert "1 row repeats the" in " ".join(problem_of(odd.head(61), "kind").caveats)
    assert "2 rows share all features with a row of another class" in caveats
    assert "uncertain" in " ".join(problem_of(frame.head(20), "kind").caveats)


def test_a_data_set_knows_its_target():
    problem = problem_of("wine")
    assert problem.X.shape == (178, 13)
    assert set(problem.y) == {"class_0", "class_1", "class_2"}
    with pytest.raises(ValueError, match="Did you mean 'wine'"):
        problem_of("wyne")


def test_a_file_is_read_and_its_notes_are_kept(tmp_path, frame):
    path = tmp_path / "cases.csv"
    frame.rename(columns={"b": "a"}).to_csv(path, index=False, encoding="utf-8-sig")
    problem = problem_of(path, "kind")
    assert list(problem.X.columns) == ["a", "a.1"]
    assert "suffixed" in problem.caveats[0]
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv does not exist"):
        problem_of("nowhere.csv", "kind")


def test_spectra_of_the_papers_are_binned(real_data):
    problem = problem_of("wine_spectra", bins=3)
    assert problem.X.shape == (124, 256)
    assert sorted(pd.Series(problem.y).value_counts()) == [38, 43, 43]  # equal alcohol levels stay together
