import json
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import whynear as wn
from tests.helpers.studies import small_study
from whynear.cli.app import app
from whynear.study.settings import grouped, python_lines, shell_line

pytestmark = pytest.mark.usefixtures("blank_figures")


def write_cases():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.random((40, 3)), columns=["a", "it's", "b c"]).assign(name=[f"P{i}" for i in range(40)])
    table.assign(kind=np.where(table["a"] > 0.5, "u", "v")).to_csv("my cases.csv", index=False)


@pytest.fixture(scope="module")
def first_study(tmp_path_factory):
    settings = {"learner": "grlvq", "folds": 3, "drop": ["it's"], "index": "name", "random_state": 7}
    settings |= {"drop_missing_target": True, "encoding": "latin-1"}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("first"))
        write_cases()
        return wn.study("my cases.csv", "kind", **grouped(settings))


@pytest.fixture
def study(first_study, tmp_path, monkeypatch):
    """A study of a table that is in the current folder, where nothing else is."""
    monkeypatch.chdir(tmp_path)
    write_cases()
    return first_study


def asked(study):
    return study.problem.source, study.problem.target, study.inputs


@pytest.mark.slow
def test_the_lines_of_python_repeat_the_study(study):
    exec(python_lines(*asked(study)), {})
    with open("study/study.json") as file:
        assert json.load(file)["relevance"]["upper"] == study.relevance.upper.tolist()


@pytest.mark.slow
def test_the_command_repeats_the_study(study):
    program, *words = shlex.split(shell_line(*asked(study)))
    assert program == "whynear"
    assert words[:4] == ["study", "my cases.csv", "--target", "kind"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    with open("study/study.json") as file:
        assert json.load(file)["relevance"]["upper"] == study.relevance.upper.tolist()


def test_what_is_usual_is_not_said():
    assert python_lines(*asked(small_study())).splitlines()[-1] == (
        "wn.study('iris', 'target', splitting=wn.Splitting(folds=2), learner='grlvq').save('study')"
    )


def test_the_folds_that_were_asked_for_are_repeated_where_fewer_could_be_made():
    table = pd.DataFrame({"a": np.arange(23.0), "kind": ["u"] * 20 + ["v"] * 3})
    study = wn.study(table, "kind", learner="grlvq", splitting=wn.Splitting(folds=4))
    assert study.settings["folds"] == len(study.accuracy) == 3
    assert "--folds 4" in shell_line(*asked(study))
