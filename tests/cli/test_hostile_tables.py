"""Tables that mean harm or were damaged: escaped, neutralised, or refused by line."""

import codecs
import csv
import io
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pandas as pd
import pytest

from tests.helpers.command_line import run
from tests.helpers.fault_tables import answer, cases, refused, sentence_of, studied, write

SCRIPT, FORMULA, IMAGE, SUM = "<script>alert(1)</script>", "=cmd()", "<img src=x onerror=alert(2)>", "@SUM(A1)"
NUMBER = re.compile(r"-?\d+(\.\d+)?(e-?\d+)?")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A study of a table, marked by a byte order mark, whose names are code; one of them stands there twice."""
    folder = tmp_path_factory.mktemp("hostile")
    table = cases().assign(y=[IMAGE, SUM] * 12, id=[f"=1+{row}" for row in range(24)])
    text = table.set_axis([SCRIPT, FORMULA, FORMULA, "y", "id"], axis=1).to_csv(index=False)
    path = write(folder, codecs.BOM_UTF8 + text.encode(), "<b>cases.csv")
    return studied(folder, path, "--index", "id")


class _Dangers(HTMLParser):
    """Collects what a browser would run or fetch of the names above."""

    def __init__(self):
        super().__init__()
        self.found, self.tag = [], ""

    def handle_starttag(self, tag, attrs):
        self.tag = tag
        self.found += [(tag, name) for name, value in attrs if name.startswith("on") or "alert" in (value or "")]
        self.found += [tag] if tag in ("b", "img") else []

    def handle_data(self, data):
        self.found += ["script"] if self.tag == "script" and "alert" in data else []


def test_markup_in_names_is_text_in_the_page(hostile):
    page = (hostile.folder / "report.html").read_text()
    assert page.count("<script") == page.count("</script") == 2  # its own: its data, and what makes it alive
    page = page[: page.index("<script")]
    parser = _Dangers()
    parser.feed(page)
    assert parser.found == []
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "&lt;img src=x onerror=alert(2)&gt;" in page


def test_markup_in_names_is_text_in_every_figure(hostile):
    figures = sorted(hostile.folder.glob("*.svg"))
    assert len(figures) > 5
    for path in figures:
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.parse(path).iter()}
        assert not tags & {"script", "img"}, path.name


def test_no_field_of_a_table_is_a_formula(hostile):
    assert list(hostile.relevance.index[:1]) == [SCRIPT]
    assert f"'{FORMULA}" in hostile.relevance.index
    for path in hostile.folder.glob("*.csv"):
        fields = [field for row in csv.reader(io.StringIO(path.read_text())) for field in row]
        texts = [field for field in fields if not NUMBER.fullmatch(field)]
        assert not [field for field in texts if field.startswith(("=", "+", "-", "@"))], path.name
    assert "'=1+0,'@SUM(A1)" not in (hostile.folder / "predictions.csv").read_text()
    assert f"'=1+0,{IMAGE}" in (hostile.folder / "predictions.csv").read_text()


def test_names_stay_as_they_are_where_they_harm_nothing(hostile):
    assert sorted(hostile.content["profiles"]) == [IMAGE, SUM]
    assert {column["column"] for column in hostile.content["columns"]} >= {SCRIPT, FORMULA}


def test_duplicate_names_are_suffixed_and_reported(hostile):
    assert "Duplicate column names were suffixed: '=cmd()' (column 3) is now '=cmd().1'." in hostile.caveats
    assert sorted(hostile.content["relevance"]["features"]) == [SCRIPT, FORMULA, f"{FORMULA}.1"]


def test_a_byte_order_mark_is_no_part_of_the_first_name(hostile):
    assert hostile.content["relevance"]["features"][0] == SCRIPT


TEXT = cases().to_csv(index=False)
LINES = TEXT.splitlines(keepends=True)


def _with_line(number, line):
    return "".join([*LINES[: number - 1], line, *LINES[number:]])


@pytest.mark.parametrize(
    ("table", "fact", "remedy"),
    [
        (_with_line(5, "1,2\0,3,u\n"), "line 5: a text table must not have NUL bytes", "Remove it"),
        (_with_line(7, "1,2,3,u,4\n"), "line 7: every row must have 4 fields as the header has, got 5", "quote"),
        (_with_line(1, "Measured in May\n"), "line 2: every row must have 1 field as the header has, got 4", "a title"),
        (_with_line(8, "1,2,u\n"), "line 8: every row must have 4 fields as the header has, got 3", "Complete"),
        (_with_line(9, '1,2,3,"u\n'), "line 9: quotes must be closed", "Correct the quotes."),
        (_with_line(3, "1,2,3,ü\n").encode("latin-1"), "got 0xfc at byte offset", "--encoding latin-1"),
        (TEXT.encode("utf-16"), "must be utf-8 text, got 0xff at byte offset 0 (line 1)", "--encoding utf-16"),
        (b"PK\x03\x04\0\0", "line 1: a text table must not have NUL bytes", "Remove it"),
    ],
    ids=["NUL", "long row", "title", "short row", "open quote", "latin-1", "utf-16", "no text at all"],
)
def test_damaged_text_is_refused_by_line(tmp_path, table, fact, remedy):
    said = refused(tmp_path, table, "--strict")
    assert str(tmp_path / "cases.csv") in said
    assert fact in said
    assert remedy in said
    if "--encoding" not in remedy:
        assert refused(tmp_path, table) == said


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_another_encoding_is_read_where_it_is_named(tmp_path):
    table = cases().rename(columns={"size": "größe"}).to_csv(index=False).encode("latin-1")
    assert "größe" in studied(tmp_path, table, "--encoding", "latin-1").relevance.index


# Rows that stand in a table more than once, through the command line.


CONTRADICTED = "4 rows share all features with a row of another class: no metric can separate them."


@pytest.mark.usefixtures("figures")
@pytest.mark.slow
def test_duplicate_rows_are_studied_and_counted(tmp_path):
    result = studied(tmp_path, pd.concat([cases(), cases().head(6)]))
    assert result.relevance.loc["size", "verdict"] == "indispensable"
    assert "6 rows repeat the features of an earlier row, which makes held-out results optimistic." in result.caveats


@pytest.mark.usefixtures("figures")
@pytest.mark.slow
def test_duplicate_rows_with_different_labels_are_studied_and_counted(tmp_path):
    result = studied(tmp_path, pd.concat([cases(), cases().head(2).assign(y=["v", "u"])]))
    assert result.relevance.loc["size", "verdict"] in ("indispensable", "undecided")
    assert CONTRADICTED in result.caveats


@pytest.fixture(scope="module")
def at_distance_zero(tmp_path_factory, figures):
    """A study by nearest cases of rows that stand twice; the first stands twice under either label."""
    rows = cases(8)
    table = pd.concat([rows, rows, rows.head(1).assign(y="v"), rows.head(1).assign(y="v")])
    return studied(tmp_path_factory.mktemp("twice"), table, "--learner", "lann")


@pytest.mark.usefixtures("figures")
def test_cases_at_distance_zero_share_the_vote(at_distance_zero):
    table = at_distance_zero.folder.parent / "cases.csv"
    predicted = answer("predict", at_distance_zero.model, table)["predictions"]
    assert [row["probability"] for row in predicted] == [0.5, *[1] * 7, 0.5, *[1] * 7, 0.5, 0.5]
    votes = [
        case["vote"]
        for case in answer("explain", at_distance_zero.model, table, "--row", 1)["neighbors"]
        if case["distance"] == 0
    ]
    assert len(votes) == 4
    assert len(set(votes)) == 1
    assert CONTRADICTED in at_distance_zero.caveats


@pytest.mark.usefixtures("figures")
def test_what_decides_is_not_irrelevant_where_every_case_has_its_own_map(at_distance_zero):
    assert at_distance_zero.relevance.loc["size", "upper"] > 0


# Columns that are no numbers, and tables for prediction that differ from the one learned from.


COLOURED = cases().assign(colour=["red", "green", "blue"] * 8)
TYPED = cases().assign(
    colour=pd.Categorical(COLOURED["colour"]),
    name=[f"case {row}" for row in range(24)],
    day=pd.date_range("2020-01-01", periods=24),
    lasted=pd.to_timedelta(range(24), unit="h"),
)


@pytest.mark.usefixtures("figures")
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


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize("words", [[], ["--categories", "onehot"]])
def test_dates_are_no_categories(tmp_path, words):
    TYPED.to_parquet(tmp_path / "cases.parquet")
    said = refused(tmp_path, tmp_path / "cases.parquet", *words)
    assert said.startswith("cases.parquet: 2 of 7 columns are not numeric: 'day' (dates, ")
    assert said.endswith("take dates as days (--date 'day'), or leave columns out (--drop 'lasted').")


@pytest.mark.usefixtures("figures")
def test_dates_in_a_text_file_are_no_categories_either(tmp_path):
    for words in ([], ["--categories", "onehot"]):
        assert "'day' (dates" in refused(tmp_path, cases().assign(day=TYPED["day"]), *words)


@pytest.mark.usefixtures("figures")
def test_a_text_for_each_row_is_no_category(tmp_path):
    table = cases(60).assign(name=[f"case {row}" for row in range(60)])
    said = refused(tmp_path, table, "--categories", "onehot")
    assert said.startswith("cases.csv: column 'name' holds 60 different texts, such as 'case 0': too many")
    assert "--drop 'name'" in said


@pytest.fixture(scope="module")
def coloured(tmp_path_factory):
    """The study of a table with a column of categories."""
    return studied(tmp_path_factory.mktemp("coloured"), COLOURED)


@pytest.mark.usefixtures("figures")
@pytest.mark.slow
def test_categories_are_one_column_again_in_the_answer(coloured):
    assert sorted(coloured.relevance.index) == ["colour", "drift", "noise", "size"]
    assert coloured.content["settings"]["categories"] == "auto"
    assert "Text was taken as categories in 'colour' (3); --drop COLUMN leaves a column out." in coloured.caveats
    kinds = {column["column"]: column["kind"] for column in coloured.content["columns"]}
    assert kinds["colour"] != kinds["size"]


@pytest.mark.usefixtures("figures")
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


@pytest.mark.usefixtures("figures")
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


@pytest.mark.usefixtures("figures")
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


@pytest.mark.usefixtures("figures")
@pytest.mark.parametrize("words", [["predict"], ["explain", "--row", 2]])
def test_missing_columns_are_named_beside_those_there_are(plain, tmp_path, words):
    table = write(tmp_path, cases().rename(columns={"size": "Size"}).drop(columns="drift"))
    said = sentence_of(run(words[0], plain.model, table, *words[1:]))
    assert said.startswith("cases.csv")
    assert "lacks 'size', 'drift', which the model was fitted to. Add them, or rename the columns that hold" in said
    assert said.endswith("Its columns are 'Size', 'noise', 'y'.")


@pytest.mark.usefixtures("figures")
def test_a_row_name_that_stands_twice_is_refused(plain, tmp_path):
    table = write(tmp_path, cases().assign(id=["twice", "twice", *range(22)]))
    said = sentence_of(run("explain", plain.model, table, "--index", "id", "--row", "twice"))
    assert said.startswith("cases.csv has 2 rows with 'twice' in column 'id', and one is needed. Name another")
