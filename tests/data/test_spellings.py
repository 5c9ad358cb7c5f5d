import pandas as pd

from whynear.data.column_types import note_on_blanks, note_on_spellings


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
