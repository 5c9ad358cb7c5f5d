import json
import re
from functools import partial

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear
from tests.helpers import command_line
from whynear.cli import explain as explain_printing

FRAME = load_iris(as_frame=True).frame
X, Y = FRAME.drop(columns="target"), load_iris().target_names[FRAME["target"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    names = [f"flower {row}" for row in range(1, 150)] + ["flower 1"]
    FRAME[FRAME.columns[::-1]].assign(name=names).to_csv(folder / "iris.csv", index=False)
    X.to_csv(folder / "bare.csv", index_label="id")
    learner = make_pipeline(StandardScaler(), whynear.GMLVQ(random_state=0)).fit(X, Y)
    whynear.save(learner, folder / "model")
    whynear.save(whynear.as_metric(learner), folder / "metric")
    whynear.save(whynear.GRLVQ(random_state=0).fit(X.to_numpy(), Y), folder / "nameless")
    return folder


run = partial(command_line.run, "explain")


def test_the_explanation_is_that_of_the_library(folder):
    result = run(folder / "model", folder / "iris.csv", "--row", 71, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == whynear.explain(whynear.load(folder / "model"), X.iloc[70]).to_dict()


def test_what_the_features_that_are_not_shown_add_is_summed(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    wide = pd.DataFrame({f"x{place}": X.iloc[:, place % 4] + place * X.iloc[:, 0] for place in range(13)})
    whynear.save(make_pipeline(StandardScaler(), whynear.GMLVQ(random_state=0)).fit(wide, Y), tmp_path / "model")
    wide.to_csv(tmp_path / "wide.csv", index=False)
    lines = run(tmp_path / "model", tmp_path / "wide.csv", "--row", 71).stdout.splitlines()
    held_off = whynear.explain(whynear.load(tmp_path / "model"), wide.iloc[70]).frame()["held_off_by"]
    rest = held_off[held_off.abs().sort_values(ascending=False).index[10:]].sum()
    (more,) = [line.split() for line in lines if "3 more" in line]
    assert float(more[-1]) == pytest.approx(rest, rel=0.01)


def test_parts_that_are_nothing_beside_the_largest_are_shown_as_such():
    shown = explain_printing.part_of(-2.52e-07, 0.354)
    assert shown == "~0"
    assert [explain_printing.part_of(part, 0.354) for part in (0.0, 0.354, -0.001)] == ["+0", "+0.354", "-0.001"]


def test_a_column_may_name_the_row(folder):
    by_name = run(folder / "model", folder / "iris.csv", "--row", "flower 71", "--index", "name", "--json")
    assert by_name.stdout == run(folder / "model", folder / "iris.csv", "--row", 71, "--json").stdout


def test_a_model_without_names_takes_columns_by_place(folder):
    result = run(folder / "nameless", folder / "bare.csv", "--row", 70, "--index", "id", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["values"] == X.iloc[70].tolist()


def test_sentence_votes_and_features_are_printed_for_people(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = run(folder / "model", folder / "iris.csv", "--row", 71)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0].startswith("predicted 'virginica' with probability 0.")
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["prototype", "label", "distance", "vote"] in lines
    assert ["feature", "value", "nearest", "prototype", "other", "prototype", "adds"] in lines
    assert sum(line[:1] == ["petal"] for line in lines) == 2


def test_text_and_gaps_are_explained_in_the_columns_of_the_table(tmp_path):
    table = pd.DataFrame({"size": [1.0, None, 3.0, 4.0] * 10, "colour": ["red", "red", "blue", "blue"] * 10})
    steps = whynear.TableEncoder("onehot", "median"), StandardScaler(), whynear.GRLVQ(random_state=0)
    whynear.save(make_pipeline(*steps).fit(table, table["colour"]), tmp_path / "model")
    table.to_csv(tmp_path / "cases.csv", index=False)
    result = run(tmp_path / "model", tmp_path / "cases.csv", "--row", 2)
    assert result.exit_code == 0, result.output
    assert "predicted 'red'" in result.stdout
    assert "colour" in result.stdout
    assert "colour=" not in result.stdout


@pytest.mark.parametrize(("name", "start"), [("a.svg", b"<?xml"), ("a.PNG", b"\x89PNG"), ("a.pdf", b"%PDF")])
def test_the_figure_is_written_beside_either_answer(folder, tmp_path, name, start):
    result = run(folder / "model", folder / "iris.csv", "--row", 71, "--plot", tmp_path / name, "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["prediction"] == "virginica"
    assert result.stderr == f"Drawn: {tmp_path / name}\n"
    assert (tmp_path / name).read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["metric", "iris.csv", "--row", 1], "Error: metric holds only a metric, which cannot predict."),
        (["model", "iris.csv", "--row", 151], "Error: iris.csv has rows 1 to 150, got --row 151 instead."),
        (["model", "iris.csv", "--row", 0], "Error: iris.csv has rows 1 to 150, got --row 0 instead."),
        (["model", "iris.csv", "--row", "x"], "Error: iris.csv has rows 1 to 150, got --row x instead."),
        (["model", "iris.csv", "--row", "x", "--index", "name"], "Error: iris.csv has 0 rows with 'x' in column"),
        (["model", "iris.csv", "--row", "flower 1", "--index", "name"], "Error: iris.csv has 2 rows with 'flower 1'"),
        (["model", "iris.csv", "--row", 1, "--index", "id"], "Error: iris.csv has no column 'id' (--index)."),
        (["model", "wine", "--row", 1], "Error: wine, row 1, lacks 'sepal length (cm)'"),
        (["nameless", "wine", "--row", 1], "Error: wine, row 1, has 14 columns, and the model takes 4 by position"),
        (["model", "iris.csv", "--row", 1, "--plot", "a.gif"], "Error: a.gif must end in .svg, .png, .pdf, got .gif"),
        (["model", "iris.csv", "--row", 1, "--plot", "/no/a.svg"], "Error: /no/a.svg cannot be written"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    files = sorted(path.name for path in folder.iterdir())
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == files


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        ("long", "cases.csv, row 3, holds 'long' in column 'petal length (cm)', and the model takes numbers there."),
        ("", "cases.csv, row 3, lacks a value in column 'petal length (cm)', and the model does not fill in missing"),
    ],
)
def test_values_that_a_model_cannot_take_are_named_by_row_and_column(folder, tmp_path, value, fact):
    cases = FRAME.head(5).astype({"petal length (cm)": object})
    cases.loc[2, "petal length (cm)"] = value
    cases.to_csv(tmp_path / "cases.csv", index=False)
    result = run(folder / "model", tmp_path / "cases.csv", "--row", 3)
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {fact}")
    assert run(folder / "model", tmp_path / "cases.csv", "--row", 4).exit_code == 0


def test_dates_are_no_numbers(folder, tmp_path):
    X.assign(**{"petal length (cm)": pd.Timestamp("2020-01-01")}).to_parquet(tmp_path / "cases.parquet")
    result = run(folder / "model", tmp_path / "cases.parquet", "--row", 3)
    assert result.exit_code == 2
    assert "row 3, holds '2020-01-01 00:00:00' in column 'petal length (cm)'" in result.stderr


def test_names_and_labels_cannot_command_the_terminal(tmp_path):
    odd = X.rename(columns={"petal width (cm)": "\x1b[31m[red]petal"})
    whynear.save(whynear.GRLVQ(random_state=0).fit(odd, [f"\x1b[2J{label}" for label in Y]), tmp_path / "model")
    odd.to_csv(tmp_path / "odd\x07.csv", index=False)
    result = run(tmp_path / "model", tmp_path / "odd\x07.csv", "--row", 3)
    assert result.exit_code == 0, result.output
    assert not set(result.output) & set("\x1b\x07")
    assert "[red]petal" in result.stdout


def test_debug_shows_where_an_error_came_from(folder):
    assert isinstance(run(folder / "metric", "iris", "--row", 1, "--debug").exception, TypeError)


def test_an_unusual_value_is_part_of_the_answer(folder, tmp_path):
    X.iloc[[70]].assign(**{"petal width (cm)": 17.0}).to_csv(tmp_path / "new.csv", index=False)
    shown = " ".join(run(folder / "model", tmp_path / "new.csv", "--row", 1).stdout.split())
    assert "Caution, it rests on 'petal width (cm)' = 17, outside the training range 0.1 to 2.5" in shown
    sent = json.loads(run(folder / "model", tmp_path / "new.csv", "--row", 1, "--json").stdout)["unusual"]
    assert [(one["column"], one["kind"], one["value"]) for one in sent] == [("petal width (cm)", "out_of_range", 17.0)]
    assert (sent[0]["low"], sent[0]["high"]) == (pytest.approx(0.1), pytest.approx(2.5))


def test_a_case_of_another_class_that_is_nearer_and_outvoted_is_not_called_more_distant(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    rows = pd.DataFrame({"a": [0.0, 9.0, 9.1, 9.2, 9.3, 1.0, 1.1, 1.2, 1.3, 1.4]})
    whynear.save(whynear.LMNN(n_neighbors=4, random_state=0).fit(rows, ["u"] * 5 + ["v"] * 5), tmp_path / "model")
    pd.DataFrame({"a": [0.45, 1.05]}).to_csv(tmp_path / "cases.csv", index=False)
    outvoted = run(tmp_path / "model", tmp_path / "cases.csv", "--row", 1).stdout
    assert re.search(r"is nearer, at 0\.\d+, but outvoted", " ".join(outvoted.split()))
    assert "beyond that of row 6" in outvoted
    assert "more distant than" not in outvoted
    assert "Why row 1, the nearest of another class, is more distant than" in (
        run(tmp_path / "model", tmp_path / "cases.csv", "--row", 2).stdout
    )
