"""Awkward files through the command line: each is studied at once, and what is said about it is compared."""

import numpy as np
import pandas as pd
import pytest

from tests.helpers.command_line import run
from tests.helpers.fault_tables import QUICK, answer, cases, studied, write
from tests.helpers.problems import problem_of

pytestmark = pytest.mark.usefixtures("blank_figures")

PLAIN = cases(40).round(3)


def swapped(values):
    """Numbers as they are written in most of Europe."""
    return [f"{value:,.3f}".translate(str.maketrans(",.", ".,")) for value in values]


def table(separator=",", **columns):
    return PLAIN.assign(**columns).to_csv(index=False, sep=separator)


def with_cells(column, cells):
    values = [str(value) for value in PLAIN[column]]
    for row, cell in cells.items():
        values[row] = cell
    return values


COMMAS = [column.replace(".", ",") for column in map("{:.3f}".format, PLAIN["noise"])]
THOUSANDS = PLAIN["noise"] * 9000
EMPTY_U = [None if row % 2 == 0 and row < 30 else value for row, value in enumerate(PLAIN["noise"])]
BIG = np.where(np.arange(40) < 20, 1234.0, 2345.0) + np.arange(40)

# name: the file, its name, further words, and what is said
FILES = {
    "semicolons and decimal commas": (
        table(";", size=swapped(PLAIN["size"]), noise=COMMAS, drift=swapped(PLAIN["drift"])),
        "cases.csv",
        [],
        [
            "The columns were read as separated by semicolons, not commas.",
            "Columns 'size', 'noise', 'drift' are written with decimal commas: '0,126' in 'size' was taken as 0.126.",
        ],
    ),
    "quoted decimal commas": (
        table(noise=COMMAS),
        "cases.csv",
        [],
        ["Column 'noise' is written with decimal commas: '-1,259' in 'noise' was taken as -1.259."],
    ),
    "tabs and decimal commas": (
        table("\t", noise=COMMAS),
        "cases.tsv",
        [],
        ["Column 'noise' is written with decimal commas: '-1,259' in 'noise' was taken as -1.259."],
    ),
    "vertical bars": (table("|"), "cases.txt", [], ["The columns were read as separated by vertical bars, not tabs."]),
    "thousands": (
        table(noise=[f"{value:,.1f}" for value in THOUSANDS]),
        "cases.csv",
        [],
        ["Column 'noise' is written with thousands separators: '-11,331.0' in 'noise' was taken as -11331."],
    ),
    "points for thousands": (
        table(";", size=swapped(PLAIN["size"]), noise=[f"{value:,.0f}".replace(",", ".") for value in BIG]),
        "cases.csv",
        [],
        ["Column 'noise' is written with thousands separators: '1.234' in 'noise' was taken as 1234."],
    ),
    "percent": (
        table(noise=[f"{value:.1f} %" for value in PLAIN["noise"]]),
        "cases.csv",
        [],
        ["Column 'noise' is written with percent signs: '-1.3 %' in 'noise' was taken as -1.3."],
    ),
    "currency": (
        table(noise=[f"€ {value}" for value in PLAIN["noise"]]),
        "cases.csv",
        [],
        ["Column 'noise' is written with currency signs: '€ -1.259' in 'noise' was taken as -1.259."],
    ),
    "question marks": (
        table(noise=with_cells("noise", {1: "?", 5: "?", 6: "n/a"})),
        "cases.csv",
        [],
        ["'?' was taken as missing: 2 values, in 'noise' (2).", "3 missing values were filled in by the median"],
    ),
    "dashes and points": (
        table(noise=with_cells("noise", {1: "-", 5: "."}), drift=with_cells("drift", {7: "-"})),
        "cases.csv",
        [],
        [
            "'-' was taken as missing: 2 values, in 'noise' (1), 'drift' (1).",
            "'.' was taken as missing: 1 value, in 'noise' (1).",
        ],
    ),
    "a code for missing": (
        table(noise=with_cells("noise", {1: "-999", 5: "-999"})),
        "cases.csv",
        ["--missing=-999"],
        ["'-999' was taken as missing: 2 values, in 'noise' (2)."],
    ),
    "limits": (
        table(noise=with_cells("noise", {1: "<0.01", 5: "<0.01", 8: ">100"})),
        "cases.csv",
        [],
        ["Column 'noise': 3 values are only known as a limit, such as '<0.01': taken at the limit."],
    ),
    "latin-1": (
        PLAIN.rename(columns={"size": "größe"}).to_csv(index=False).encode("latin-1"),
        "cases.csv",
        [],
        ["The file is not UTF-8 and was read as latin-1; --encoding names another."],
    ),
    "Excel's Unicode text": (
        PLAIN.to_csv(index=False, sep="\t").encode("utf-16"),
        "cases.txt",
        [],
        ["The file is not UTF-8 and was read as utf-16; --encoding names another."],
    ),
    "dates": (
        table(day=pd.date_range("2020-01-01", periods=40).strftime("%d.%m.%Y")),
        "cases.csv",
        ["--date", "day"],
        ["Column 'day' holds dates from 2020-01-01 to 2020-02-09: taken as days since 1970-01-01."],
    ),
    "codes": (table(ward=[1, 2, 3, 4] * 10), "cases.csv", ["--category", "ward"], []),
    "codes with zeros": (
        table(ward=["007", "010"] * 20),
        "cases.csv",
        [],
        ["Text was taken as categories in 'ward' (2); --drop COLUMN leaves a column out."],
    ),
    "stray text": (
        table(noise=with_cells("noise", {1: "broken", 5: "lost"})),
        "cases.csv",
        ["--number", "noise"],
        ["Column 'noise': 2 values that are not numbers were taken as missing, such as 'broken'."],
    ),
    "names and numbers of rows": (
        table(id=range(40), who=[f"Ms {row}" for row in range(40)]),
        "cases.csv",
        [],
        [
            "Column 'id' was set aside: it looks like a row number, which says nothing about a case; --number 'id' "
            "takes it as a feature.",
            "Column 'who' was set aside: it holds a different text in every row, such as 'Ms 0', like names; "
            "--category 'who' takes it as categories.",
        ],
    ),
    "gaps that say something": (
        table(noise=EMPTY_U),
        "cases.csv",
        [],
        [
            "15 missing values were filled in by the median",
            "Whether a value is missing depends on the target in column 'noise': the column has an indicator of it; "
            "--impute median leaves it out.",
        ],
    ),
}


SOME = ("semicolons and decimal commas", "gaps that say something")  # that are studied in quick tests too


@pytest.mark.parametrize(
    "name", [name if name in SOME else pytest.param(name, marks=pytest.mark.slow) for name in FILES]
)
def test_a_file_is_studied_and_what_was_done_with_it_is_said(tmp_path, name):
    content, file_name, words, said = FILES[name]
    path = write(tmp_path, content, file_name)
    result = studied(tmp_path, path, *words)
    for sentence in said:
        assert any(caveat.startswith(sentence) for caveat in result.caveats), result.caveats
    assert result.content["rows"] == 40
    check_predictions(result.model, path)


@pytest.mark.parametrize("name", FILES)
def test_a_model_is_learned_from_a_file_and_takes_the_file(tmp_path, name):
    content, file_name, words, said = FILES[name]
    path, model = write(tmp_path, content, file_name), tmp_path / "model"
    result = run("learn", path, "--target", "y", "--learner", "grlvq", "--out", model, *words)
    assert result.exit_code == 0, result.output
    for sentence in said:
        assert f"Caveat: {sentence}" in result.stdout
    check_predictions(model, path)


def check_predictions(model, path):
    predicted = answer("predict", model, path)["predictions"]
    assert np.mean([row["predicted"] == true for row, true in zip(predicted, PLAIN["y"], strict=True)]) > 0.8
    assert answer("explain", model, path, "--row", 1)["prediction"] == predicted[0]["predicted"]


@pytest.mark.parametrize("name", ["semicolons and decimal commas", "quoted decimal commas", "Excel's Unicode text"])
def test_numbers_are_those_of_the_plain_file(tmp_path, name):
    content, file_name, _, _ = FILES[name]
    problem = problem_of(write(tmp_path, content, file_name), "y")
    pd.testing.assert_frame_equal(problem.X, PLAIN.drop(columns="y").set_axis(range(1, len(PLAIN) + 1)))


@pytest.mark.parametrize("name", ["semicolons and decimal commas", "thousands", "currency", "Excel's Unicode text"])
def test_rows_of_a_file_are_stored_and_found_again(tmp_path, name):
    content, file_name, _, said = FILES[name]
    path, model = write(tmp_path, content, file_name), tmp_path / "model"
    assert run("learn", path, "--target", "y", "--out", model).exit_code == 0
    built = run("retrieve", tmp_path / "base", "--build", path, "--metric", model)
    assert built.exit_code == 0, built.output
    assert all(sentence in built.stderr for sentence in said)
    found = answer("retrieve", tmp_path / "base", "--query", path, "--row", 3, "-k", 1)
    assert found["cases"][0]["sq_distance"] == pytest.approx(0, abs=1e-6)
    assert found["cases"][0]["payload"] == {"y": PLAIN["y"][2]}


def test_a_workbook_is_read_as_it_is_written(tmp_path):
    days = pd.date_range("2020-01-01", periods=40)
    table = PLAIN.assign(noise=COMMAS, day=days, drift=with_cells("drift", {3: "?", 5: "n/a"}))
    table.to_excel(tmp_path / "cases.xlsx", index=False)
    learn = ["learn", tmp_path / "cases.xlsx", "--target", "y", "--learner", "grlvq", "--out", tmp_path / "model"]
    assert "take dates as days (--date 'day')" in run(*learn).stderr
    learned = run(*learn, "--date", "day")
    for sentence in (
        "Column 'noise' is written with decimal commas: '-1,259' in 'noise' was taken as -1.259.",
        "Column 'day' holds dates from 2020-01-01 to 2020-02-09",
        "'?' was taken as missing: 1 value, in 'drift' (1).",
        "'n/a' was taken as missing: 1 value, in 'drift' (1).",
        "2 missing values were filled in",
    ):
        assert sentence in learned.stdout
    check_predictions(tmp_path / "model", tmp_path / "cases.xlsx")


@pytest.mark.slow
def test_what_was_decided_is_said_once_before_anything_is_fitted(tmp_path):
    content, _, _, said = FILES["names and numbers of rows"]
    path = write(tmp_path, content)
    printed = run("study", path, *QUICK[:-1], "--out", tmp_path / "out").stdout
    for sentence in said:
        assert printed.count(sentence) == 1
        assert printed.index(f"- {sentence}") < printed.index("compare")
    assert "3 features" in printed


def test_one_row_is_predicted_as_the_whole_file(tmp_path):
    content, file_name, _, _ = FILES["semicolons and decimal commas"]
    path, model = write(tmp_path, content, file_name), tmp_path / "model"
    assert run("learn", path, "--target", "y", "--out", model).exit_code == 0
    header, first, *_ = content.splitlines()
    alone = write(tmp_path, f"{header}\n{first}\n", "alone.csv")
    assert answer("predict", model, alone)["predictions"] == answer("predict", model, path)["predictions"][:1]


def test_every_decision_is_undone_by_the_flag_that_is_named(tmp_path):
    content = FILES["names and numbers of rows"][0]
    learn = ["learn", write(tmp_path, content), "--target", "y", "--out", tmp_path / "model"]
    assert "40 rows, 3 columns" in run(*learn).stdout
    kept = run(*learn, "--number", "id", "--category", "who").stdout
    assert "40 rows, 5 columns" in kept
    assert "set aside" not in kept
    write(tmp_path, FILES["gaps that say something"][0])
    assert "indicator" in run(*learn).stdout
    assert "indicator" not in run(*learn, "--impute", "median").stdout


@pytest.mark.slow
def test_settings_are_recorded_and_repeated(tmp_path):
    words = ["--missing", "?", "--category", "ward", "--date", "day", "--number", "noise"]
    days = pd.date_range("2020-01-01", periods=40)
    result = studied(tmp_path, table(ward=[1, 2] * 20, day=days), *words)
    settings = result.content["settings"]
    assert {name: settings[name] for name in ("missing", "category", "number", "date", "strict")} == {
        "missing": ["?"],
        "category": ["ward"],
        "number": ["noise"],
        "date": ["day"],
        "strict": False,
    }
    page = (result.folder / "report.html").read_text()
    assert "--category ward" in page
    kinds = {column["column"]: column["kind"] for column in result.content["columns"]}
    assert (kinds["ward"], kinds["day"]) == ("categories", "dates")
