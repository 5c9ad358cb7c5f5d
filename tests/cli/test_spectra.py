"""Spectra through the commands: found, said, undone, and predicted again."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.command_line import run
from tests.helpers.gasoline import gasoline
from tests.helpers.pages import words_of
from whynear.spectra import SavitzkyGolay, StandardNormalVariate

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("blank_figures")]  # whole studies
LINE = "The 121 columns, '900nm' to '1620nm', were taken as a spectrum over 900 to 1,620 nm"


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("spectra") / "gasoline.csv"
    gasoline(50).to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def studied(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("studied")
    return run("study", table, "--target", "octane", "--folds", 2, "--out", folder), folder


def test_a_spectrum_is_found_and_said_in_the_preview(studied):
    result, folder = studied
    assert result.exit_code == 0, result.output
    assert f"- {LINE}; --no-spectra takes them as separate features." in result.stdout
    assert "bands" in result.stdout
    held = json.loads((folder / "study.json").read_text())
    assert held["spectra"]["unit"] == "nm"
    assert held["given"] == {"folds": 2}
    assert "--no-spectra" not in words_of(folder / "report.html").split("To repeat this study")[1]


def test_the_model_predicts_the_table_again(studied, table, tmp_path):
    _, folder = studied
    made = tmp_path / "made.csv"
    result = run("predict", folder / "model.whynear", table, "--out", made)
    assert result.exit_code == 0, result.output
    predicted = pd.read_csv(made)["predicted"]
    assert np.corrcoef(predicted, pd.read_csv(table)["octane"])[0, 1] > 0.9


def test_a_flag_undoes_it_and_the_lines_to_repeat_it_say_so(table, tmp_path):
    result = run("study", table, "--target", "octane", "--folds", 2, "--no-spectra", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "spectrum" not in result.stdout
    held = json.loads((tmp_path / "study.json").read_text())
    assert held["given"]["spectra"] is False
    assert "spectra" not in held
    page = (tmp_path / "report.html").read_text()
    assert "--no-spectra" in page
    assert "spectra=False" in page


def test_asking_for_spectra_where_there_are_none_is_an_error(tmp_path):
    path = tmp_path / "plain.csv"
    pd.DataFrame({"a": range(20), "b": np.arange(20) % 3, "y": ["u", "v"] * 10}).to_csv(path, index=False)
    result = run("study", path, "--target", "y", "--spectra", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "no columns form a spectrum" in result.stderr
    assert not (tmp_path / "out" / "study.json").exists()


def test_strict_asks_and_its_suggestion_works(table, tmp_path):
    result = run("study", table, "--target", "octane", "--strict", "--folds", 2, "--out", tmp_path)
    assert result.exit_code == 2
    assert "look like a spectrum" in result.stderr
    assert "--spectra" in result.stderr.split("Try:")[-1]


@pytest.fixture(scope="module")
def of_classes(tmp_path_factory):
    """A table of two classes, and models of its spectra: behind a derivative, and behind SNV."""
    folder = tmp_path_factory.mktemp("classes")
    table = gasoline(40, two_classes=True)
    table.to_csv(folder / "grades.csv", index=False)
    X, y = table.drop(columns="grade"), table["grade"].to_numpy()
    for name, step in (("slope", SavitzkyGolay(5, 2, 1)), ("snv", StandardNormalVariate())):
        model = make_pipeline(step.set_output(transform="pandas"), StandardScaler(), wn.GRLVQ(random_state=0))
        wn.save(model.fit(X, y), folder / f"{name}.whynear")
    return folder


def test_explain_says_that_values_are_preprocessed(of_classes):
    result = run("explain", of_classes / "slope.whynear", of_classes / "grades.csv", "--row", 3)
    assert result.exit_code == 0, result.output
    assert "Values of channels are those after first derivative." in result.stdout


def test_retrieval_measures_the_table_as_the_model_does_or_refuses(of_classes, tmp_path):
    table, base = of_classes / "grades.csv", tmp_path / "cases.db"
    words = ("--build", table, "--query", table, "--row", 3, "-k", 2, "--json")
    result = run("retrieve", base, "--metric", of_classes / "slope.whynear", *words)
    assert result.exit_code == 0, result.output
    model = wn.load(of_classes / "slope.whynear")
    X = pd.read_csv(table).drop(columns="grade")
    distances = model[-1].metric_.sq_distances(model[:2].transform(X))[2]
    found = json.loads(result.stdout)
    assert found["cases"][1]["sq_distance"] == pytest.approx(np.sort(distances)[1], rel=1e-4)
    refused = run("retrieve", tmp_path / "other.db", "--metric", of_classes / "snv.whynear", *words)
    assert refused.exit_code == 2
    assert "StandardNormalVariate divides each row by its own deviation" in refused.stderr
