import inspect
import json
import shlex
import subprocess
import sys
from dataclasses import fields, replace
from typing import get_args, get_type_hints

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import whynear as wn
from tests.helpers.studies import small_study
from whynear.cli.app import app
from whynear.cli.study import study as command
from whynear.data.options import Categories, Impute
from whynear.study.settings import (
    HOMES,
    SETTINGS,
    VALUES,
    ClassScore,
    ClassWeight,
    StudySettings,
    grouped,
    option_of,
    python_lines,
    shell_line,
)

SEEDS = (-1, 2**32, None, 1.5, True)


@pytest.mark.parametrize("name", [name for name in SETTINGS if name not in HOMES])
def test_the_call_has_the_defaults_of_the_settings(name):
    assert inspect.signature(wn.study).parameters[name].default == SETTINGS[name].default


@pytest.mark.parametrize("name", SETTINGS)
def test_the_command_has_the_defaults_of_the_settings(name):
    app = typer.Typer()
    app.command()(command)
    options = {option.opts[0]: option.default for option in typer.main.get_command(app).params}
    default = StudySettings()[name]
    assert options[option_of(name)] == (None if default == () else default)


def test_every_setting_is_in_one_value_and_in_the_order_of_the_record():
    every = [one.name for kind in (StudySettings, *VALUES.values()) for one in fields(kind)]
    assert len(set(every)) == len(every)
    assert set(every) - {"keep"} == {*SETTINGS, *VALUES}


def test_nothing_else_can_be_set():
    parameters = set(inspect.signature(wn.study).parameters)
    assert parameters - {"table", "target", "progress"} == {one.name for one in fields(StudySettings)}
    assert len(parameters) <= 12


CHOICES = [
    ("categories", Categories, wn.Reading),
    ("impute", Impute, wn.Reading),
    ("score", ClassScore, wn.study),
    ("class_weight", ClassWeight, wn.study),
]


@pytest.mark.parametrize(("name", "kind", "value"), CHOICES)
def test_the_call_and_the_command_take_the_choices_of_the_settings(name, kind, value):
    for asked in (value, command):
        assert get_args(get_type_hints(asked)[name]) == get_args(kind)


def test_only_changed_settings_are_listed_and_threads_never():
    settings = StudySettings.of(drop=("a", "b"), folds=3, n_jobs=2)
    assert settings.changed() == {"drop": ["a", "b"], "folds": 3}
    assert "n_jobs" not in settings.to_dict()
    assert settings == replace(settings, n_jobs=1)


def test_where_a_study_is_computed_makes_no_other_settings():
    settings = StudySettings.of(engine="dask", address="tcp://host:8786", keep="fits")
    assert settings == StudySettings()
    assert settings.changed() == {}
    assert settings != StudySettings.of(memory="2GB")


@pytest.mark.parametrize("home", VALUES)
def test_a_value_is_immutable_and_repeats_itself(home):
    given = {"reading": {"drop": 3, "missing": ["?", -999]}, "splitting": {"time": 0}, "running": {"memory": "2GB"}}
    (value,) = grouped(given[home]).values()
    assert replace(value) == value
    assert hash(value) == hash(replace(value))
    with pytest.raises(AttributeError):
        setattr(value, next(iter(given[home])), None)


def test_names_are_text_and_one_name_is_one_of_several():
    assert wn.Reading(drop=3, index=0, missing=(-999, "?")) == wn.Reading(drop=["3"], index="0", missing=["-999", "?"])
    assert wn.Reading(drop=None) == wn.Reading()
    assert wn.Splitting(group=2).group == "2"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(({"random_state": seed}, rf"from 0 to 4294967295, got {seed} instead \(--seed 0\)") for seed in SEEDS),
        ({"impute": None}, "impute must be one of 'auto', 'median', 'most_frequent', got None instead. strict=True"),
        ({"categories": "hot"}, "categories must be one of 'auto', 'onehot', got 'hot' instead"),
        ({"spectra": "yes"}, r"spectra must be True, False or None \(found from the columns\), got 'yes' instead"),
        ({"folds": 1}, "folds=1 leaves no rows"),
        ({"folds": 2.5}, r"folds=2.5 leaves no rows .* Use a whole number"),
        ({"learner": "svm"}, r"no learner 'svm'. Use one of auto, grlvq, .*lann, minimum norm \(--learner\)"),
        ({"group": "a", "time": "b"}, "group='a' and time='b' ask for different folds"),
        ({"engine": "threads"}, r"engine must be 'processes' or 'dask', got 'threads' instead"),
        ({"address": "tcp://host:8786"}, "needs a cluster"),
        ({"memory": "much"}, "memory must be a size such as '500MB'"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        StudySettings.of(**settings)
    with pytest.raises(ValueError, match=message):
        wn.study("iris", **grouped(settings))


def test_a_parameter_of_a_value_leads_to_it():
    with pytest.raises(TypeError, match=r"study has no parameter 'drop'. .*wn.Reading\(drop=...\)"):
        wn.study("iris", drop="petal width (cm)")
    with pytest.raises(TypeError, match=r"learn_table .* Write splitting=wn.Splitting\(group=...\)."):
        wn.learn_table("iris", group="petal width (cm)")
    with pytest.raises(TypeError, match="unexpected keyword argument 'finished'"):
        wn.study("iris", finished=print)
    with pytest.raises(TypeError, match=r"reading must be a Reading, got 'x' .*wn.Reading"):
        wn.study("iris", reading="x")


def test_the_settings_are_imported_without_the_libraries_that_learn():
    heavy = "numpy", "pandas", "sklearn", "matplotlib"
    code = f"import sys, whynear.study.settings; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


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


@pytest.mark.usefixtures("blank_figures")
@pytest.mark.slow
def test_the_lines_of_python_repeat_the_study(study):
    exec(python_lines(*asked(study)), {})
    with open("study/study.json") as file:
        assert json.load(file)["relevance"]["upper"] == study.relevance.upper.tolist()


@pytest.mark.usefixtures("blank_figures")
@pytest.mark.slow
def test_the_command_repeats_the_study(study):
    program, *words = shlex.split(shell_line(*asked(study)))
    assert program == "whynear"
    assert words[:4] == ["study", "my cases.csv", "--target", "kind"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    with open("study/study.json") as file:
        assert json.load(file)["relevance"]["upper"] == study.relevance.upper.tolist()


@pytest.mark.usefixtures("blank_figures")
def test_what_is_usual_is_not_said():
    assert python_lines(*asked(small_study())).splitlines()[-1] == (
        "wn.study('iris', 'target', splitting=wn.Splitting(folds=2), learner='grlvq').save('study')"
    )


@pytest.mark.usefixtures("blank_figures")
def test_the_folds_that_were_asked_for_are_repeated_where_fewer_could_be_made():
    table = pd.DataFrame({"a": np.arange(23.0), "kind": ["u"] * 20 + ["v"] * 3})
    study = wn.study(table, "kind", learner="grlvq", splitting=wn.Splitting(folds=4))
    assert study.settings["folds"] == len(study.accuracy) == 3
    assert "--folds 4" in shell_line(*asked(study))
