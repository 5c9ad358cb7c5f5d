import inspect
import subprocess
import sys
from dataclasses import fields, replace
from typing import get_args, get_type_hints

import pytest
import typer

import whynear as wn
from whynear.cli.study import study as command
from whynear.data.settings import Categories, Impute
from whynear.study.settings import HOMES, SETTINGS, VALUES, ClassScore, ClassWeight, StudySettings, grouped, option_of

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
        ({"learner": "svm"}, r"no learner 'svm'. Use one of auto, grlvq, .*lann \(--learner\)"),
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
    with pytest.raises(TypeError, match=r"study has no parameter 'drop'. Write reading=wn.Reading\(drop=...\)."):
        wn.study("iris", drop="petal width (cm)")
    with pytest.raises(TypeError, match=r"learn_table .* Write splitting=wn.Splitting\(group=...\)."):
        wn.learn_table("iris", group="petal width (cm)")
    with pytest.raises(TypeError, match="unexpected keyword argument 'finished'"):
        wn.study("iris", finished=print)
    with pytest.raises(TypeError, match=r"reading must be a Reading, got 'x' instead. Write reading=wn.Reading"):
        wn.study("iris", reading="x")


def test_the_settings_are_imported_without_the_libraries_that_learn():
    heavy = "numpy", "pandas", "sklearn", "matplotlib"
    code = f"import sys, whynear.study.settings; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
