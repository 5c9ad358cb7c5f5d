"""Columns that are no numbers, and tables for prediction that differ from the one learned from."""

import pandas as pd
import pytest

from tests.helpers.command_line import run
from tests.helpers.fault_tables import answer, cases, refused, sentence_of, studied, write

pytestmark = pytest.mark.usefixtures("figures")

COLOURED = cases().assign(colour=["red", "green", "blue"] * 8)
TYPED = cases().assign(
    colour=pd.Categorical(COLOURED["colour"]),
    name=[f"case {row}" for row in range(24)],
    day=pd.date_range("2020-01-01", periods=24),
    lasted=pd.to_timedelta(range(24), unit="h"),
)


def test_text_categories_and_dates_are_refused_by_kind_and_row_if_the_study_is_strict(tmp_path):
    TYPED.to_parquet(tmp_path / "cases.parquet")
    said = refused(tmp_path, tmp_path / "cases.parquet", "--strict")
    assert said.startswith("cases.parquet: 4 of 7 columns are not numeric: ")
    for kind in (
        "'colour' (categories, such as 'red' in row 1)",
        "'name' (text, such as 'case 0' in row 1)",
        "'day' (dates, such as '2020-01-01 00:00:00' in row 1)",
        "'lasted' (durations, such as '0 days 00:00:00' in row 1)",
    ):
        assert kind in said
    assert said.endswith(
        "take dates as days (--date 'day'), take text as categories (--category 'colour'), or leave columns out "
        "(--drop 'name')."
    )


@pytest.mark.parametrize("words", [[], ["--categories", "onehot"]])
def test_dates_are_no_categories(tmp_path, words):
    TYPED.to_parquet(tmp_path / "cases.parquet")
    said = refused(tmp_path, tmp_path / "cases.parquet", *words)
    assert said.startswith("cases.parquet: 2 of 7 columns are not numeric: 'day' (dates, ")
    assert said.endswith("take dates as days (--date 'day'), or leave columns out (--drop 'lasted').")


def test_dates_in_a_text_file_are_no_categories_either(tmp_path):
    for words in ([], ["--categories", "onehot"]):
        assert "'day' (dates" in refused(tmp_path, cases().assign(day=TYPED["day"]), *words)


def test_a_text_for_each_row_is_no_category(tmp_path):
    table = cases(60).assign(name=[f"case {row}" for row in range(60)])
    said = refused(tmp_path, table, "--categories", "onehot")
    assert said.startswith("cases.csv: column 'name' holds 60 different texts, such as 'case 0': too many")
    assert "--drop 'name'" in said


@pytest.fixture(scope="module")
def coloured(tmp_path_factory):
    """The study of a table with a column of categories."""
    return studied(tmp_path_factory.mktemp("coloured"), COLOURED)


@pytest.mark.slow
def test_categories_are_one_column_again_in_the_answer(coloured):
    assert sorted(coloured.relevance.index) == ["colour", "drift", "noise", "size"]
    assert coloured.content["settings"]["categories"] == "auto"
    assert "Text was taken as categories in 'colour' (3); --drop COLUMN leaves a column out." in coloured.caveats
    kinds = {column["column"]: column["kind"] for column in coloured.content["columns"]}
    assert kinds["colour"] != kinds["size"]


def test_an_unseen_category_is_predicted_and_told_of(coloured, tmp_path):
    table = write(tmp_path, COLOURED.head(3).assign(colour=["red", "purple", "blue"]))
    for words in (["predict", coloured.model, table], ["explain", coloured.model, table, "--row", 2]):
        result = run(*words, "--json")
        assert result.exit_code == 0, result.output
        assert result.stderr == (
            "Note: Column 'colour' holds 'purple', which is none of the categories the model was fitted with: "
            "it is encoded as none of them.\n"
        )
    predicted = answer("predict", coloured.model, table)["predictions"]
    assert [row["predicted"] for row in predicted] == ["u", "v", "u"]
    assert answer("explain", coloured.model, table, "--row", 2)["values"][-1] == "purple"


@pytest.mark.parametrize(
    ("column", "value"), [("colour", None), ("noise", None), ("noise", "loud"), ("noise", "inf"), ("noise", "1e300")]
)
def test_values_that_a_model_with_categories_cannot_take_are_named(coloured, tmp_path, column, value):
    values = COLOURED[column].head(3).astype(object)
    values[1] = value
    table = write(tmp_path, COLOURED.head(3).assign(**{column: values}))
    said = sentence_of(run("predict", coloured.model, table))
    assert said.startswith("cases.csv")
    assert f"column {column!r}" in said


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The study of a table of numbers."""
    return studied(tmp_path_factory.mktemp("plain"), cases())


@pytest.mark.slow
def test_columns_are_found_by_name_and_rows_keep_their_odd_names(plain, tmp_path):
    names = [f"{'no' if row % 2 else 'No'}. {-row}" for row in range(24)]
    odd = cases()[["drift", "y", "size", "noise"]].assign(remark="said nothing", id=names)
    table, usual = write(tmp_path, odd), write(tmp_path, cases(), "usual.csv")
    rows = answer("predict", plain.model, table, "--index", "id")["predictions"]
    expected = answer("predict", plain.model, usual)["predictions"]
    assert [row["row"] for row in rows] == names
    assert [{**row, "row": place} for place, row in enumerate(rows, 1)] == expected
    why = answer("explain", plain.model, table, "--index", "id", "--row", names[6])
    assert why == answer("explain", plain.model, usual, "--row", 7)


@pytest.mark.parametrize("words", [["predict"], ["explain", "--row", 2]])
def test_missing_columns_are_named_beside_those_there_are(plain, tmp_path, words):
    table = write(tmp_path, cases().rename(columns={"size": "Size"}).drop(columns="drift"))
    said = sentence_of(run(words[0], plain.model, table, *words[1:]))
    assert said.startswith("cases.csv")
    assert "lacks 'size', 'drift', which the model was fitted to. Add them, or rename the columns that hold" in said
    assert said.endswith("Its columns are 'Size', 'noise', 'y'.")


def test_a_row_name_that_stands_twice_is_refused(plain, tmp_path):
    table = write(tmp_path, cases().assign(id=["twice", "twice", *range(22)]))
    said = sentence_of(run("explain", plain.model, table, "--index", "id", "--row", "twice"))
    assert said.startswith("cases.csv has 2 rows with 'twice' in column 'id', and one is needed. Name another")
