from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.problems import problem_of
from whynear.data.column_types import features_of
from whynear.data.opening import open_table
from whynear.data.options import Categories, Impute, Reading, TableRefused, merged, with_suggestion
from whynear.data.problem import checked_target, kind_of_column, preview, problem_from, row_names, summary
from whynear.data.reading import NamedTable


def test_a_table_becomes_numbers_and_classes(frame):
    problem = problem_of(frame.assign(flag=True), "kind")
    assert list(problem.X.columns) == ["a", "b", "flag"]
    assert problem.X["flag"].tolist() == [1.0] * 60
    assert set(problem.y) == {"u", "v"}


@pytest.mark.parametrize(
    ("change", "target", "message"),
    [
        ({}, None, "needs a target: .*--target.* Its columns are 'a', 'b', 'kind'"),
        ({}, "Kind", "no column 'Kind'. Did you mean 'kind'?"),
        ({"kind": ["u"] * 59 + [None]}, "kind", "1 value of the target 'kind' is missing, in row 60 .*this row"),
        ({"kind": ["", " \t"] + ["u"] * 58}, "kind", "2 values of the target 'kind' are missing, in rows 1, 2 "),
        ({"kind": [np.inf] + [0.0] * 59}, "kind", "1 value of the target 'kind' is infinite, in row 1 "),
        ({"kind": "u"}, "kind", "holds the single class 'u'"),
        ({"kind": [f"id{i}" for i in range(60)]}, "kind", "no class with two rows"),
        ({"b": [np.inf] + [1.0] * 59}, "kind", "infinity .*1 in column 'b'"),
        ({"b": 1e300}, "kind", "in column 'b': its square overflows"),
    ],
)
def test_a_difficulty_is_named_with_its_remedy(frame, change, target, message):
    with pytest.raises(ValueError, match=message):
        problem_of(frame.assign(**change), target)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"town": "Rome"}, r"1 of 3 columns is not numeric: 'town' \(text, such as 'Rome' in .*--drop 'town'"),
        ({"b": [np.nan] * 2 + [1.0] * 58}, "contains NaN: 2 in column 'b'"),
    ],
)
def test_strict_reading_names_a_column_that_is_not_taken_as_it_is(frame, change, message):
    with pytest.raises(ValueError, match=message):
        problem_of(frame.assign(**change), "kind", strict=True)


@pytest.mark.parametrize(
    "kind", [np.random.default_rng(1).random(60), np.arange(60), [0] * 20 + [1] * 20 + list(range(2, 22))]
)
def test_a_target_of_many_different_numbers_is_a_measurement(frame, kind):
    assert problem_of(frame.assign(kind=kind), "kind").kind == "numbers"


@pytest.mark.parametrize("missing", [np.nan, None, pd.NA, pd.NaT])
def test_a_column_without_any_value_is_kept_as_constant_with_a_caveat(frame, missing):
    problem = problem_of(frame.assign(empty=missing), "kind")
    assert problem.numbers()["empty"].tolist() == [0.0] * 60
    assert problem.caveats == ("Columns without any value carry no information: 'empty'.",)


def test_an_index_saved_beside_the_table_is_left_out(frame, tmp_path):
    frame.to_csv(tmp_path / "cases.csv")
    problem = problem_of(tmp_path / "cases.csv", "kind")
    assert list(problem.X.columns) == ["a", "b"]
    assert any("only numbers the rows" in caveat for caveat in problem.caveats)


def test_long_numbers_beside_gaps_keep_their_digits_as_categories(tmp_path):
    ids = ["9007199254740993", "9007199254740992", ""] * 4
    path = tmp_path / "cases.csv"
    path.write_text("id,y\n" + "".join(f"{value},{'uv'[row % 2]}\n" for row, value in enumerate(ids)))
    chosen = {"categories": "auto", "impute": "auto"}
    assert set(problem_of(path, "y", category="id", **chosen).X["id"].dropna()) == set(ids) - {""}
    assert problem_of(path, "y", **chosen).X["id"].dropna().unique().tolist() == [9007199254740992.0]


def test_columns_may_have_names_that_are_no_text(frame):
    numbered = frame.set_axis([0, 1, 2], axis=1)
    assert list(problem_of(numbered, 2, drop=[0]).X.columns) == ["1"]
    assert list(problem_of(numbered[[2, 0, 1]].set_axis([0, 1, 2], axis=1), 0, drop=1).X.columns) == ["2"]


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


def test_caveats_state_what_limits_the_results(frame):
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


def test_rows_with_missing_or_repeated_names_are_caveats_and_no_decisions(frame):
    named = frame.assign(pat=["P0", None, "P0", *(f"P{row}" for row in range(3, 60))])
    problem = problem_of(named, "kind", index="pat")
    assert problem.X.index[:3].tolist() == ["P0", "row 2", "P0"]
    said = [caveat for caveat in problem.caveats if "'pat'" in caveat]
    assert [caveat.partition(",")[0] for caveat in said] == [
        "Column 'pat' names all rows but 1",
        "Column 'pat' names several rows alike: 'P0' names 2 of them. A single row is asked for by a name that no "
        "other row has. If the rows of one name belong together",
    ]
    assert not set(said) & set(problem.decisions)
    unlike = problem_of(named.set_index("pat"), "kind")
    assert unlike.X.index.equals(problem.X.index)
    assert any("'P0' names 2 of them" in caveat for caveat in unlike.caveats)


def test_a_problem_of_classes_counts_them():
    problem = problem_of(pd.DataFrame({"a": [1.0, 2.5, 3.0, 4.0, 5.0], "y": ["v", "u", "v", "u", "v"]}), "y")
    assert problem.kind == "classes"
    assert problem.classes == (("u", 2), ("v", 3))
    assert problem.range is None
    assert problem.summary == "5 rows, 1 feature (numbers: 1)"


def test_a_problem_of_numbers_has_a_range_and_no_classes():
    values = np.linspace(0.5, 9.5, 40)
    problem = problem_of(pd.DataFrame({"a": values**2, "y": values}), "y")
    assert problem.kind == "numbers"
    assert problem.classes == ()
    assert problem.range == (0.5, 9.5)


TOKENS = ["1", "2,5", "1.234", "1,234", "31%", "$5", "5 €", "<5", "?", "-", "+", "NA", "007", "2020-01-31", "3/4/2020"]
CELLS = st.sampled_from([*TOKENS, "", " ", "red", "inf", "1e400", "-0", "=1+1", "[1]", None])


@given(
    st.lists(st.lists(CELLS, min_size=12, max_size=12), min_size=1, max_size=3),
    st.sampled_from(
        [{}, {"strict": True}, *({name: ("c0",)} for name in ("number", "category", "date")), {"missing": ("1",)}]
    ),
)
def test_any_cells_are_a_problem_or_refused_in_a_sentence_with_settings_that_work(columns, settings):
    cells = {f"c{place}": values for place, values in enumerate(columns)}
    table = pd.DataFrame(cells).assign(size=np.arange(12) * 1.5, kind=["u", "v"] * 6)
    before = table.copy()
    problem = made_in_two_tries(partial(problem_from, open_table(table), "kind"), Reading(**settings))
    assert np.isfinite(problem.numbers().to_numpy()).all()
    pd.testing.assert_frame_equal(table, before)


def made_in_two_tries(make, reading):
    refusal = None
    try:
        return with_suggestion(make, reading)
    except TableRefused as error:
        refusal = error
    assert "\n" not in str(refusal)
    assert refusal.is_tried
    found = refusal.settings
    return make(replace(reading, **merged({name: getattr(reading, name) for name in found}, found)))


TABLE = NamedTable("t.csv", pd.DataFrame(columns=["age", "day", "kind"]))


def test_the_target_is_a_column_or_known_to_the_table():
    assert checked_target(TABLE, "kind", ["age"], Reading(date=("day=%d/%m/%Y",))) == "kind"
    assert checked_target(NamedTable("iris", TABLE.frame, target="age"), None, [], Reading()) == "age"


@pytest.mark.parametrize(
    ("target", "others", "read_as", "message"),
    [
        (None, [], Reading(), r"t.csv needs a target: name the column to predict \(--target COLUMN\). Its columns are"),
        ("kid", [], Reading(), "has no column 'kid'. Did you mean 'kind'. Its columns are 'age', 'day', 'kind'."),
        ("kind", ["size"], Reading(), "has no column 'size'. Its columns"),
        ("kind", [], Reading(number=("dose",)), "has no column 'dose'"),
        ("kind", [], Reading(date=("dat=%Y",)), "has no column 'dat'. Did you mean 'day'"),
    ],
)
def test_other_names_are_refused_with_the_nearest(target, others, read_as, message):
    with pytest.raises(ValueError, match=message):
        checked_target(TABLE, target, others, read_as)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([None, np.nan], "empty"),
        ([3, 3, None], "constant"),
        (["a", "b"], "categories"),
        ([0, 1, None], "yes or no"),
        ([True, False], "yes or no"),
        ([1, 2, 3], "whole numbers"),
        ([1.5, 2.0], "numbers"),
    ],
)
def test_a_column_has_one_kind(values, kind):
    assert kind_of_column(pd.Series(values)) == kind


def test_a_preview_counts_missing_and_distinct_values():
    columns = preview(pd.DataFrame({"a": [1.5, None, 2.5], "b": ["x", "x", "y"]}))
    assert columns.to_dict("list") == {
        "column": ["a", "b"],
        "kind": ["numbers", "categories"],
        "missing": [1, 0],
        "distinct": [2, 2],
    }
    assert summary(columns, 3) == "3 rows, 2 features (numbers: 1, categories: 1); 1 value missing in 1 column"


def test_columns_that_number_the_rows_are_found():
    rows = np.arange(5)
    X = pd.DataFrame({"n": rows, "m": rows + 1.0, "case_id": rows * 7, "width": rows * 7, "id": [1, 1, 2, 3, 4]})
    assert row_names(X.assign(name=list("abcde"), nr=[1, 2, 3, 4, np.nan])) == ["n", "m", "case_id"]


@pytest.mark.parametrize("start", [0, 1])
def test_a_column_that_looks_like_a_row_number_is_a_caveat(frame, start):
    problem = problem_of(
        frame.assign(case=np.arange(start, 60 + start), half=np.arange(60) / 2), "kind", categories="onehot"
    )
    assert "case" in problem.X
    (caveat,) = problem.caveats
    assert "'case' looks like a row number" in caveat
    assert "--drop 'case'" in caveat


TABLE_OF_SETTINGS = pd.DataFrame({"size": [1.0, None, 3.0], "colour": ["red", "blue", "red"]})


@pytest.mark.parametrize(
    "choice",
    [*({"categories": one} for one in get_args(Categories)), *({"impute": one} for one in get_args(Impute))],
    ids=str,
)
def test_every_choice_is_one_of_tables_and_no_other_is(choice):
    assert list(features_of(TABLE_OF_SETTINGS, "t", **{"categories": "auto", "impute": "auto", **choice}).X) == [
        "size",
        "colour",
    ]
    (name,) = choice
    with pytest.raises(ValueError, match=f"{name} must be one of None, auto"):
        features_of(TABLE_OF_SETTINGS, "t", **{name: "other"})
