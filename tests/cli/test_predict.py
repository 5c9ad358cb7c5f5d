import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear
from tests.helpers import command_line

FRAME = load_iris(as_frame=True).frame
X, Y = FRAME.drop(columns="target"), load_iris().target_names[FRAME["target"]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A table whose columns stand in another order beside others, and models of all kinds."""
    folder = tmp_path_factory.mktemp("predict")
    shuffled = FRAME[FRAME.columns[::-1]].assign(name=[f"flower {row}" for row in range(len(FRAME))])
    shuffled.to_csv(folder / "iris.csv", index=False)
    X.to_csv(folder / "bare.csv", index=False)
    learner = make_pipeline(StandardScaler(), whynear.GRLVQ(random_state=0)).fit(X, Y)
    models = {
        "classes": learner,
        "numbers": make_pipeline(StandardScaler(), whynear.MinimumNormRegressor()).fit(X, FRAME["target"]),
        "nameless": whynear.GRLVQ(random_state=0).fit(X.to_numpy(), Y),
        "metric": whynear.as_metric(learner),
        "scaler": StandardScaler().fit(X),
        "unfitted": whynear.GRLVQ(),
    }
    for name, model in models.items():
        whynear.save(model, folder / name)
    return folder


run = partial(command_line.run, "predict")


def answer(*words):
    return command_line.answer("predict", *words)["predictions"]


def test_predictions_are_those_of_the_model_whatever_the_order_of_columns(folder):
    rows = answer(folder / "classes", folder / "iris.csv")
    model = whynear.load(folder / "classes")
    assert [row["row"] for row in rows] == list(range(1, 151))
    assert [row["predicted"] for row in rows] == model.predict(X).tolist()
    np.testing.assert_allclose([row["probability"] for row in rows], model.predict_proba(X).max(axis=1))
    assert answer(folder / "classes", "iris") == rows


def test_a_regressor_predicts_numbers_without_a_probability(folder):
    rows = answer(folder / "numbers", folder / "iris.csv", "--index", "name")
    np.testing.assert_allclose([row["predicted"] for row in rows], whynear.load(folder / "numbers").predict(X))
    assert rows[7].keys() == {"row", "predicted", "out_of_range"}
    assert rows[7]["row"] == "flower 7"
    assert "probability" not in run(folder / "numbers", folder / "iris.csv").stdout


def test_a_model_without_names_takes_columns_by_place(folder, tmp_path):
    rows = answer(folder / "nameless", folder / "bare.csv")
    assert [row["predicted"] for row in rows] == whynear.load(folder / "nameless").predict(X.to_numpy()).tolist()
    X.assign(id=range(150)).to_csv(tmp_path / "named.csv", index=False)
    assert len(answer(folder / "nameless", tmp_path / "named.csv", "--index", "id")) == 150


def test_text_and_gaps_are_left_to_a_model_that_encodes_them(tmp_path):
    table = pd.DataFrame({"size": [1.0, None, 3.0, 4.0] * 10, "colour": ["red", "red", "blue", "blue"] * 10})
    encoder = whynear.TableEncoder("onehot", "median")
    model = make_pipeline(encoder, StandardScaler(), whynear.GRLVQ(random_state=0)).fit(table, table["colour"])
    whynear.save(model, tmp_path / "model")
    table.head(4).assign(colour=["red", "blue", "green", None]).to_csv(tmp_path / "new.csv", index=False)
    result = run(tmp_path / "model", tmp_path / "new.csv", "--json")
    assert result.exit_code == 0, result.output
    assert [row["predicted"] for row in json.loads(result.stdout)["predictions"]][:2] == ["red", "blue"]
    assert "Note: Column 'colour' holds 'green'" in result.stderr


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_prediction_that_rests_on_unusual_values_says_so(kind, tmp_path):
    table = pd.DataFrame({"size": [1.0, None, 3.0, 4.5] * 10, "colour": ["red", "red", "blue", "green"] * 10})
    steps = whynear.TableEncoder("onehot", "median"), StandardScaler()
    last = whynear.GRLVQ(random_state=0) if kind == "classes" else whynear.MinimumNormRegressor()
    model = make_pipeline(*steps, last).fit(table, table["colour"] if kind == "classes" else np.arange(40.0))
    whynear.save(model, tmp_path / "model")
    new = pd.DataFrame({"size": [2.0, None, 17000.0, -0.5], "colour": ["red", None, "mauve", "blue"]})
    new.to_csv(tmp_path / "new.csv", index=False)
    rows = answer(tmp_path / "model", tmp_path / "new.csv")
    assert [row["filled_in"] for row in rows] == ["", "size (3); colour (red)", "", ""]
    assert [row["out_of_range"] for row in rows] == ["", "", "size = 17000 (1 to 4.5)", "size = -0.5 (1 to 4.5)"]
    assert [row["unseen_category"] for row in rows] == ["", "", "colour = mauve", ""]
    result = run(tmp_path / "model", tmp_path / "new.csv", "--out", tmp_path / "out.csv")
    assert (
        "Caution: 1 row has missing values that were filled in (filled_in), 2 rows have values outside the training "
        "range (out_of_range).\n"
    ) in result.stderr
    written = pd.read_csv(tmp_path / "out.csv", keep_default_na=False)
    assert written["out_of_range"].tolist() == [row["out_of_range"] for row in rows]
    shown = run(tmp_path / "model", tmp_path / "new.csv").stdout
    assert "out of range" in shown
    assert "unseen category" in shown


def test_predictions_of_ordinary_rows_are_printed_without_cautions(folder):
    result = run(folder / "classes", folder / "iris.csv")
    assert result.stderr == ""
    assert "range" not in result.stdout


def test_a_table_is_printed_for_people_as_far_as_it_is_short(folder):
    shown = run(folder / "classes", folder / "iris.csv").stdout
    assert "predicted" in shown
    assert "and 100 more rows: --out FILE.csv writes all." in shown


def test_what_is_written_is_no_formula_and_says_so(folder, tmp_path):
    FRAME.head(2).assign(**{"=id": ["=cmd()", "+1\x07"]}).to_csv(tmp_path / "odd.csv", index=False)
    result = run(folder / "classes", tmp_path / "odd.csv", "--index", "=id", "--out", tmp_path / "out.csv")
    assert result.stdout == f"2 rows written: {tmp_path / 'out.csv'}\n"
    written = pd.read_csv(tmp_path / "out.csv")
    assert list(written.columns) == ["'=id", "predicted", "probability", "out_of_range"]
    assert written["'=id"].tolist() == ["'=cmd()", "'+1\ufffd"]
    assert written["predicted"].tolist() == ["setosa", "setosa"]


def test_names_cannot_command_the_terminal(folder, tmp_path):
    FRAME.head(2).assign(**{"id\x1b[2J": ["\x1b[31m[red]a", "b"]}).to_csv(tmp_path / "odd.csv", index=False)
    result = run(folder / "classes", tmp_path / "odd.csv", "--index", "id\x1b[2J")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output
    assert "[red]a" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "iris.csv"], "Error: nowhere does not exist"),
        (["iris.csv", "iris.csv"], "Error: iris.csv cannot be read"),
        (["classes", "nowhere.csv"], "Error: nowhere.csv does not exist."),
        (["metric", "iris.csv"], "Error: metric holds only a metric, which cannot predict. Save the learner"),
        (["scaler", "iris.csv"], "Error: scaler holds a StandardScaler without a learner"),
        (["unfitted", "iris.csv"], "Error: unfitted holds a model that is not fitted."),
        (["nameless", "iris.csv"], "Error: iris.csv has 6 columns, and the model takes 4 by position"),
        (["classes", "wine"], "Error: wine lacks 'sepal length (cm)', 'sepal width (cm)'"),
        (["classes", "iris.csv", "--index", "id"], "Error: iris.csv has no column 'id' (--index). Its columns are"),
        (["classes", "iris.csv", "--out", "/no/where.csv"], "Error: /no/where.csv cannot be written"),
        (["classes", "iris.csv", "--out", "iris.csv"], "Error: iris.csv is an input and would be overwritten."),
        (["classes", "iris.csv", "--out", "classes"], "Error: classes is an input and would be overwritten."),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(folder, monkeypatch, words, message):
    monkeypatch.chdir(folder)
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


@pytest.mark.parametrize(
    ("value", "fact"),
    [
        ("long", "cases.csv holds 'long' in column 'petal length (cm)', row 3, and the model takes numbers there."),
        ("", "cases.csv lacks a value in column 'petal length (cm)', row 3, and the model does not fill in missing"),
        ("inf", "cases.csv contains infinity (inf): 1 in column 'petal length (cm)'."),
        ("1e300", "cases.csv holds 1e+300 in column 'petal length (cm)': its square overflows."),
    ],
)
@pytest.mark.parametrize("model", ["classes", "numbers"])
def test_values_that_a_model_cannot_take_are_named_by_column(folder, tmp_path, model, value, fact):
    cases = FRAME.head(5).astype({"petal length (cm)": object})
    cases.loc[2, "petal length (cm)"] = value
    cases.to_csv(tmp_path / "cases.csv", index=False)
    result = run(folder / model, tmp_path / "cases.csv", "--out", tmp_path / "out.csv")
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {fact}")
    assert not (tmp_path / "out.csv").exists()


def test_debug_shows_where_an_error_came_from(folder):
    assert isinstance(run(folder / "metric", "iris", "--debug").exception, TypeError)


@pytest.fixture
def parts(folder, tmp_path):
    (tmp_path / "parts").mkdir()
    FRAME[:60].to_parquet(tmp_path / "parts" / "1.parquet", index=False)
    FRAME[60:].assign(**{"petal width (cm)": 9.0}).to_parquet(tmp_path / "parts" / "2.parquet", index=False)
    return tmp_path / "parts"


def test_a_folder_is_predicted_into_a_parquet_file(folder, parts, tmp_path):
    out = tmp_path / "predictions.parquet"
    result = run(folder / "classes", parts, "--out", out, "--memory", "2GB")
    assert result.exit_code == 0, result.output
    assert f"150 rows written: {out}" in result.stdout.replace("\n", "")
    assert result.stderr == "Caution: 90 rows have values outside the training range (out_of_range).\n"
    written = pd.read_parquet(out)
    assert written["row"].tolist() == list(range(1, 151))
    assert answer(folder / "classes", parts) == written.to_dict("records")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{parts}", "--out", "{out}", "--json"], "--json prints all predictions, and"),
        (["{parts}", "--out", "{parts}/p.parquet"], "would be a file of the table. Choose another folder with --out."),
        (["{parts}", "--memory", "2"], "memory must be a size such as '500MB' or '2GB', got '2' instead"),
        (["{parts}", "--memory", "1MB"], "as Parquet, batch by batch: --out predictions.parquet."),
        (["{parts}", "--memory", "1MB", "--out", "{out}"], "takes at least"),
    ],
)
def test_large_predictions_are_refused_in_a_sentence(folder, parts, tmp_path, words, message):
    result = run(folder / "classes", *(word.format(parts=parts, out=tmp_path / "o.parquet") for word in words))
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (tmp_path / "o.parquet").exists()


def test_accepted_rows_with_unusual_values_are_not_covered_by_the_promise(folder, tmp_path):
    option = whynear.RejectOption(whynear.GRLVQ(random_state=0), accuracy=0.8, random_state=0).fit(X, Y)
    whynear.save(option, tmp_path / "option")
    odd = X.head(3).copy()
    odd.iloc[0, 2] = X.iloc[:, 2].min() - 0.1  # beyond the others of its class
    odd.to_csv(tmp_path / "odd.csv", index=False)
    words = [tmp_path / "option", tmp_path / "odd.csv", "--accuracy", 0.8]
    (row, *_) = answer(*words)
    assert row["accepted"]
    said = "Caution: 1 of 3 accepted rows has such values, and a promise is for rows like those of the study."
    assert said in run(*words).stderr
    assert said in run(*words, "--out", tmp_path / "predictions.parquet").stderr
    usual = [tmp_path / "option", folder / "bare.csv", "--accuracy", 0.8]
    assert "such values" not in run(*usual).stderr


def test_a_percentage_is_not_a_share(folder):
    option = whynear.RejectOption(whynear.GRLVQ(random_state=0), accuracy=0.8, random_state=0).fit(X, Y)
    whynear.save(option, folder / "shares")
    found = run(folder / "shares", folder / "bare.csv", "--accuracy", 99)
    assert found.stderr.startswith(
        "Error: accuracy must be a finite number > 0 and < 1 (a share: 0.99 is 99%), got 99.0"
    )


@pytest.mark.filterwarnings("ignore:.*cannot be promised")
def test_rejected_rows_are_marked(folder):
    option = whynear.RejectOption(whynear.GRLVQ(random_state=0), accuracy=0.9, random_state=0).fit(X, Y)
    whynear.save(option, folder / "option")
    rows = answer(folder / "option", folder / "bare.csv", "--accuracy", 0.8)
    decided = option.set_params(accuracy=0.8).decide(X)
    assert [row["accepted"] for row in rows] == decided.accepted.tolist()
    assert [row["reason"] for row in rows] == decided.reason.tolist()
    shown = run(folder / "option", folder / "bare.csv", "--accuracy", 0.8)
    assert shown.exit_code == 0
    assert "accepted" in shown.stdout
    assert option.promise.sentence in shown.stderr.replace("\n", " ")
    run(folder / "option", folder / "bare.csv", "--accuracy", 0.8, "--out", folder / "rejected.csv")
    written = pd.read_csv(folder / "rejected.csv", keep_default_na=False)
    assert written["accepted"].tolist() == decided.accepted.tolist()
    assert {"certainty", "reason"} <= set(written)


def test_an_accuracy_for_a_model_without_held_out_predictions_is_refused(folder):
    result = run(folder / "classes", folder / "bare.csv", "--accuracy", 0.99)
    assert result.exit_code == 2
    assert "does not know how often its predictions" in result.output.replace("\n", " ")
    assert run(folder / "option", folder / "bare.csv", "--accuracy", 2).exit_code == 2


def test_a_column_of_names_may_be_called_like_a_result(folder, tmp_path):
    FRAME.head(3).assign(predicted=["a", "b", "c"]).to_csv(tmp_path / "new.csv", index=False)
    result = run(folder / "classes", tmp_path / "new.csv", "--index", "predicted", "--out", tmp_path / "out.csv")
    assert result.exit_code == 0, result.output
    written = pd.read_csv(tmp_path / "out.csv")
    assert written["row"].tolist() == ["a", "b", "c"]
    assert set(written["predicted"]) == {"setosa"}
