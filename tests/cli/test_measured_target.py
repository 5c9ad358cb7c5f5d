"""A measured target on the command line: learn, predict, explain, retrieve."""

import json

import pandas as pd
import pytest

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.measured_tables import houses, numbers, write_houses


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("measured")
    write_houses(folder / "houses.csv")
    learned = run(
        "learn", folder / "houses.csv", "--target", "price", "--index", "id", "--out", folder / "model.whynear"
    )
    assert learned.exit_code == 0, learned.output
    return folder


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def explained(folder, row, *words):
    result = run("explain", folder / "model.whynear", folder / "houses.csv", "--row", row, *words)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_explanation_is_that_of_the_library(folder):
    held = json.loads(explained(folder, "h05", "--json"))
    X, _ = houses()
    assert held == wn.explain(wn.load(folder / "model.whynear"), X.loc[["h05"]]).to_dict()
    assert held["interval"][0] < held["prediction"] < held["interval"][1]


def test_sentence_contributions_and_rows_are_printed_for_people(folder):
    text = explained(folder, "h05")
    assert text.startswith("predicted ")
    assert "(90% interval " in text
    lines = [line.split() for line in text.splitlines()]
    assert ["feature", "value", "mean", "per", "unit", "adds"] in lines
    assert ["row", "measured", "predicted", "distance", "differs", "most", "in"] in lines
    (size,) = (line for line in lines if line[:1] == ["size"])
    assert size[3] == f"{3:+.4g}" or abs(float(size[3]) - 3) < 0.4
    (town,) = (line for line in lines if line[:1] == ["town"])
    assert len(town) == 3  # a category has no mean and no coefficient
    assert "What each feature adds to the mean" in text
    assert "Rows with the most similar contributions" in text


def test_a_missing_value_is_named_and_cautioned(folder):
    text = explained(folder, "h03")
    assert "Caution, it rests on 'age', which is missing and was taken as" in text
    assert any(line.split()[:2] == ["age", "missing"] for line in text.splitlines())


def test_many_features_are_summed(tmp_path):
    X, y = numbers(40)
    for j in range(12):
        X[f"more{j}"] = X["a"] * (j + 1) ** 0.5 + X["b"].sample(frac=1, random_state=j).to_numpy()
    X.assign(y=y).to_csv(tmp_path / "wide.csv", index=False)
    run("learn", tmp_path / "wide.csv", "--target", "y", "--out", tmp_path / "m")
    result = run("explain", tmp_path / "m", tmp_path / "wide.csv", "--row", 1)
    assert "5 more" in result.stdout


def test_the_same_rows_are_near_in_explain_and_in_retrieve(tmp_path):
    X, y = numbers(40)
    X.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    run("learn", tmp_path / "t.csv", "--target", "y", "--out", tmp_path / "m")
    held = json.loads(run("explain", tmp_path / "m", tmp_path / "t.csv", "--row", 7, "--json").stdout)
    words = ["--build", tmp_path / "t.csv", "--metric", tmp_path / "m", "--query", tmp_path / "t.csv", "--row", 7]
    found = json.loads(run("retrieve", tmp_path / "base", *words, "-k", 5, "--json").stdout)
    assert [case["row"] for case in found["cases"]] == [near["row"] for near in held["neighbors"]]
    for case, near in zip(found["cases"], held["neighbors"], strict=True):
        assert case["sq_distance"] == pytest.approx(near["sq_distance"], rel=1e-4, abs=1e-6)
        assert case["payload"]["y"] == pytest.approx(near["measured"])


def test_the_same_prediction_and_interval_in_predict_and_explain(folder):
    rows = json.loads(run("predict", folder / "model.whynear", folder / "houses.csv", "--json").stdout)["predictions"]
    held = json.loads(explained(folder, "h05", "--json"))
    (row,) = (row for row in rows if row["row"] == "h05")
    assert [row["predicted"], row["low"], row["high"]] == pytest.approx([held["prediction"], *held["interval"]])


def test_predict_prints_and_writes_the_interval(folder, tmp_path):
    result = run("predict", folder / "model.whynear", folder / "houses.csv")
    assert result.stdout.splitlines()[0].split() == ["id", "predicted", "low", "high", "filled", "in"]
    assert "Low to high: of the values measured in held-out rows, 90% lay within such an interval." in result.stdout
    run("predict", folder / "model.whynear", folder / "houses.csv", "--out", tmp_path / "p.csv")
    assert list(pd.read_csv(tmp_path / "p.csv"))[:4] == ["id", "predicted", "low", "high"]


def test_learn_says_what_the_target_is_and_how_well_it_is_predicted(folder):
    words = ["--target", "price", "--index", "id", "--out", folder / "again"]
    text = run("learn", folder / "houses.csv", *words).stdout
    assert text.startswith("minimum norm learned from houses.csv: 80 rows, 4 columns, a measured target from ")
    assert "% of the variance of held-out cases explained (5 folds).\n" in text


def test_a_learner_of_classes_needs_bins(folder, tmp_path):
    words = ["learn", folder / "houses.csv", "--target", "price", "--index", "id", "--out", tmp_path / "m"]
    refused = run(*words, "--learner", "gmlvq")
    assert refused.exit_code == 2
    assert "'price' is numeric with " in refused.stderr
    assert "and gmlvq predicts classes. Sort it into classes of equal size (--bins 3), or leave out" in refused.stderr
    binned = run(*words, "--bins", 3)
    assert "gmlvq learned from houses.csv: 80 rows, 4 columns, 3 classes ('bin 1 of 3'" in binned.stdout
    near = run("explain", tmp_path / "m", folder / "houses.csv", "--row", "h05").stdout
    assert near.startswith("predicted 'bin ")


def test_the_figure_is_written(folder, tmp_path):
    explained(folder, "h05", "--plot", tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")


def test_names_and_values_cannot_command_the_terminal(tmp_path):
    X, y = houses(30)
    odd = X.rename(columns={"size": "\x1b[31m[red]size"}).assign(town=X["town"] + "\x1b[2J")
    wn.save(wn.learn_table(odd.assign(price=y), "price").model, tmp_path / "m")
    odd.to_csv(tmp_path / "t.csv")
    result = run("explain", tmp_path / "m", tmp_path / "t.csv", "--row", "h00")
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.stdout
    assert "[red]size" in result.stdout
