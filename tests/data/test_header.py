import time

from hypothesis import given
from hypothesis import strategies as st

from whynear.data.delimited import distinct_names, has_unnamed_first, notes_on_names


def names_one_by_one(header):
    names, taken = [], {name.strip() for name in header}
    for place, raw in enumerate(header, start=1):
        given = raw.strip()
        base = name = given or f"column_{place}"
        number = 0
        while name in names or (name != given and name in taken):
            number += 1
            name = f"{base}.{number}"
        names.append(name)
        taken.add(name)
    return names


@given(st.lists(st.sampled_from(["a", " a", "a.1", "a.2", "a.1.1", "", "column_3", "column_3.1", "b"]), min_size=1))
def test_names_are_those_found_by_trying_one_after_the_other(header):
    assert distinct_names(header)[0] == names_one_by_one(header)


def test_thousands_of_equal_names_are_made_unique_quickly():
    start = time.perf_counter()
    names, _ = distinct_names(["a"] * 20_000)
    assert time.perf_counter() - start < 2
    assert names[-1] == "a.19999"


def test_blanks_are_removed_and_every_change_is_noted():
    names, notes = distinct_names([" a ", "", "b", "b"])
    assert names == ["a", "column_2", "b", "b.1"]
    assert notes == [
        "Duplicate column names were suffixed: 'b' (column 4) is now 'b.1'.",
        "Columns without a name were named: column 2 is now 'column_2'.",
    ]
    assert distinct_names(["a", "b"]) == (["a", "b"], [])


def test_a_first_column_that_is_left_out_has_no_note_on_its_name():
    header = ["", "a", " "]
    names, notes = distinct_names(header)
    assert notes == ["Columns without a name were named: column 1 is now 'column_1', column 3 is now 'column_3'."]
    assert notes_on_names(header, names, but_first=True) == [
        "Columns without a name were named: column 3 is now 'column_3'."
    ]
    assert has_unnamed_first(header)
    assert not has_unnamed_first(["a", ""])
    assert not has_unnamed_first([" "])
