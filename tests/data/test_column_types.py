import re
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from tests.helpers.problems import problem_of
from whynear.data.column_types import MOST_CATEGORIES, features_of, note_on_blanks, note_on_spellings


def as_objects(values):
    return pd.Series(values, dtype=object)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([*map(str, range(17)), "lost", *map(str, range(42))], "text, such as 'lost' in row 18"),
        (as_objects([*range(17), "lost", *range(42)]), "text, such as 'lost' in row 18"),
        (as_objects([None, *range(58), date(2020, 1, 1)]), "dates, such as '2020-01-01' in row 60"),
        ([pd.Timestamp("2020-01-01")] * 60, "dates, such as '2020-01-01 00:00:00' in row 1"),
        ([pd.Timedelta(1, "D")] * 60, "durations, such as '1 days 00:00:00' in row 1"),
        (pd.Categorical([3, 4] * 30), "categories, such as '3' in row 1"),
        ([1 + 2j] * 60, "complex numbers, such as '(1+2j)' in row 1"),
        (["007"] * 60, "numbers written as text, such as '007' in row 1"),
        (["5%", *map(str, range(59))], "numbers written in ways that contradict each other, such as '5%' in row 1"),
        (as_objects([[1]] * 60), "values of type list, such as '[1]' in row 1"),
        (as_objects([[1], "?", "a", *range(57)]), "values of type list, such as '[1]' in row 1"),
    ],
)
def test_a_column_is_named_for_what_it_holds_with_the_value_and_row_in_the_way(frame, values, kind):
    strict = kind.startswith(("categories", "numbers written as text"))  # others are never taken
    with pytest.raises(ValueError, match=re.escape(f"'b' ({kind})")):
        problem_of(frame.assign(b=values), "kind", strict=strict)


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
    problem = problem_of(frame.assign(b=text), "kind")
    assert_allclose(problem.X["b"], frame["b"], atol=0.005)
    assert problem.caveats == ("Column 'b' is written with decimal commas: '0,40' in 'b' was taken as 0.4.",)
    assert problem.encoder.readings == {"b": "number ,"}
    with pytest.raises(ValueError, match=r"not written plainly, such as '0,40'.* \(--number 'b'\)"):
        problem_of(frame.assign(b=text), "kind", strict=True)


@pytest.mark.parametrize("as_number", [float, Decimal, np.float32, Fraction])
def test_numbers_kept_as_objects_are_converted(frame, as_number):
    problem = problem_of(frame.assign(b=as_objects([as_number(i / 4) for i in range(60)])), "kind")
    assert problem.X["b"].tolist() == [i / 4 for i in range(60)]
    with pytest.raises(ValueError, match=r"infinity .*1 in column 'b'"):
        problem_of(frame.assign(b=as_objects([10**400, *range(59)])), "kind")


def test_an_encoder_is_made_only_where_it_is_needed(frame):
    numbers = frame[["a", "b"]]
    assert features_of(numbers, "t.csv", categories="auto", impute="auto").encoder is None
    found = features_of(frame, "t.csv", categories="onehot")
    assert (found.encoder.categories, found.encoder.impute, found.notes) == ("onehot", None, [])
    assert features_of(frame, "t.csv", categories="auto", impute="auto").encoder.impute is None
    gaps = numbers.where(numbers > 0.1)
    for impute, indicators in (("median", False), ("auto", True)):
        encoder = features_of(gaps, "t.csv", impute=impute).encoder
        assert (encoder.impute, encoder.indicators) == ("median", indicators)


def test_too_many_categories_are_refused():
    names = pd.DataFrame({"name": [f"n{i}" for i in range(MOST_CATEGORIES + 1)]})
    with pytest.raises(ValueError, match="column 'name' holds 51 different texts, such as 'n0'"):
        features_of(names, "t.csv", categories="onehot")


def automatic(frame, **named):
    return problem_of(frame, "kind", categories="auto", impute="auto", **named)


def test_text_of_few_values_becomes_categories_and_that_is_said(frame):
    problem = automatic(frame.assign(colour=["red", "blue", None] * 20, sex=["f", "m"] * 30))
    assert problem.columns["kind"].tolist() == ["numbers", "numbers", "categories", "categories"]
    assert problem.decisions[0] == (
        "Text was taken as categories in 'colour' (2), 'sex' (2); --drop COLUMN leaves a column out."
    )
    assert (problem.encoder.categories, problem.encoder.impute) == ("onehot", "median")


@pytest.mark.parametrize(
    ("texts", "fact", "also"),
    [
        ([f"case {i}" for i in range(60)], "a different text in every row, such as 'case 0', like names", ""),
        (
            [f"town {i % 55}" for i in range(60)],
            "55 different texts, such as 'town 0', too many for categories",
            " If rows with the same text belong together, such as those of one patient, use --group 'who'.",
        ),
    ],
)
def test_text_of_many_values_is_set_aside_unless_it_is_named(frame, texts, fact, also):
    table = frame.assign(who=texts)
    problem = automatic(table)
    assert list(problem.X.columns) == ["a", "b"]
    assert problem.caveats[0] == (
        f"Column 'who' was set aside: it holds {fact}; --category 'who' takes it as categories.{also}"
    )
    assert automatic(table, category="who").columns["kind"].tolist()[-1] == "categories"
    with pytest.raises(ValueError, match=r"'who' \(text, .*--drop 'who'"):
        automatic(table, strict=True)


def test_the_only_column_is_not_set_aside(frame):
    assert list(automatic(frame[["kind"]].assign(n=range(60))).X.columns) == ["n"]
    few = frame.head(20).assign(who=[f"case {i}" for i in range(20)])
    assert list(automatic(few[["kind", "who"]]).X.columns) == ["who"]


def test_columns_that_number_the_rows_are_set_aside_unless_they_are_named(frame):
    table = frame.assign(**{"Patient ID": np.arange(60) * 7 % 60 + 100})
    problem = automatic(table)
    assert list(problem.X.columns) == ["a", "b"]
    assert problem.caveats[0].startswith("Column 'Patient ID' was set aside: it looks like a row number")
    assert "Patient ID" in automatic(table, number="Patient ID").X
    with pytest.raises(ValueError, match=r"'Patient ID' looks like .* \(--drop 'Patient ID'\)"):
        automatic(table, strict=True)
    assert "leave it out with --drop 'Patient ID'" in problem_of(table, "kind", categories="onehot").caveats[0]


def test_numbers_with_a_stray_text_are_neither_categories_nor_names(frame):
    table = frame.assign(b=[*map(str, range(30)), "lost", *map(str, range(29))])
    with pytest.raises(ValueError, match=r"'b' \(text, such as 'lost' in row 31\).* \(--number 'b'\)"):
        automatic(table)
    problem = automatic(table, number="b")
    assert "Column 'b': 1 value that is not a number was taken as missing, such as 'lost'." in problem.caveats
    codes = frame.assign(b=["01", *map(str, range(10, 69))])
    assert "b" not in automatic(codes).X


def test_steps_that_are_not_named_are_counted(frame):
    steps = pd.Categorical(list("abcdefghijk") * 6, categories=list("abcdefghijk"), ordered=True)[:60]
    problem = problem_of(frame.assign(step=steps), "kind", categories="auto")
    assert any("taken as steps: a < b < c < d < e < f < g < h and 3 more; --cat" in note for note in problem.decisions)


def test_ordered_categories_keep_their_order(frame):
    grades = pd.Categorical(["low", "mid", "high"] * 20, categories=["low", "mid", "high"], ordered=True)
    problem = automatic(frame.assign(grade=grades))
    assert problem.columns["kind"].tolist()[-1] == "ordered categories"
    assert problem.numbers()["grade"].tolist()[:3] == [0, 1, 2]
    assert problem.decisions == (
        "Column 'grade' holds ordered categories, taken as steps: low < mid < high; --category 'grade' ignores their "
        "order.",
    )
    assert problem_of(frame.assign(grade=grades), "kind").numbers()["grade"].tolist()[:3] == [0, 1, 2]
    plain = automatic(frame.assign(grade=grades), category="grade")
    assert [name for name in plain.numbers() if name.startswith("grade")] == ["grade=high", "grade=low", "grade=mid"]


def test_all_columns_that_are_refused_are_named_at_once_with_what_takes_them(frame):
    table = frame.assign(day=pd.Timestamp("2020-01-01"), lasted=pd.Timedelta(1), b=[*map(str, range(59)), "lost"])
    with pytest.raises(ValueError, match="3 of 4 columns are not numeric") as error:
        automatic(table)
    assert error.value.settings == {"number": ("b",), "date": ("day",), "drop": ("lasted",)}


def test_texts_that_differ_only_in_case_or_blanks_are_named_with_their_counts():
    (said,) = note_on_spellings(pd.Series(["M", "m", "M", "F", None, "New York", "new  york"], name="who"), "classes")
    assert said == (
        "Column 'who' holds 'M' (2 rows) and 'm' (1 row); 'New York' (1 row) and 'new  york' (1 row), which differ "
        "only in case or blanks: they were taken as separate classes. If they mean the same, write them alike in the "
        "table."
    )


def test_many_are_counted():
    column = pd.Series([text for letter in "abcde" for text in (letter, letter.upper())], name="who")
    (said,) = note_on_spellings(column, "categories")
    assert "'c' (1 row) and 'C' (1 row); and 2 more such texts, which differ" in said


def test_texts_that_differ_otherwise_and_numbers_are_not_mentioned():
    for column in (pd.Series(["a", "b", "a"]), pd.Series([1.0, 2.0]), pd.Series(["a"], dtype="string")):
        assert note_on_spellings(column, "categories") == []
        assert note_on_blanks(column) == []


def test_merged_blanks_are_named():
    assert note_on_blanks(pd.Series(["M", " M", "F ", None], name="sex")) == [
        "Column 'sex': categories that differ only in blanks around them were merged: 'M'."
    ]
