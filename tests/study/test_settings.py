import inspect
import subprocess
import sys
from dataclasses import fields, replace
from typing import get_args, get_type_hints

import pytest
import typer

import whynear as wn
from whynear.cli.study import study as command
from whynear.study.settings import ClassScore, ClassWeight, StudySettings, option_of
from whynear.utils import choices

SETTINGS = [setting.name for setting in fields(StudySettings)]
SEEDS = (-1, 2**32, None, 1.5, True)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_call_has_the_defaults_of_the_settings(name):
    assert inspect.signature(wn.study).parameters[name].default == getattr(StudySettings(), name)


@pytest.mark.parametrize("name", SETTINGS)
def test_the_command_has_the_defaults_of_the_settings(name):
    app = typer.Typer()
    app.command()(command)
    options = {option.opts[0]: option.default for option in typer.main.get_command(app).params}
    default = getattr(StudySettings(), name)
    assert options[option_of(name)] == (None if default == () else default)


def test_nothing_else_can_be_set():
    others = {"table", "target", "progress", "finished", "keep", "engine", "address"}
    assert set(inspect.signature(wn.study).parameters) - others == set(SETTINGS)


CHOICES = [
    ("categories", choices.Categories),
    ("impute", choices.Impute),
    ("score", ClassScore),
    ("class_weight", ClassWeight),
]


@pytest.mark.parametrize(("name", "kind"), CHOICES)
def test_the_call_and_the_command_take_the_choices_of_the_settings(name, kind):
    for asked in (StudySettings, wn.study, command):
        assert get_args(get_type_hints(asked)[name]) == get_args(kind)


def test_only_changed_settings_are_listed_and_threads_never():
    settings = StudySettings(drop=("a", "b"), folds=3, n_jobs=2)
    assert settings.changed() == {"drop": ["a", "b"], "folds": 3}
    assert "n_jobs" not in settings.to_dict()
    assert settings == replace(settings, n_jobs=1)


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
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        StudySettings(**settings)
    with pytest.raises(ValueError, match=message):
        wn.study("iris", **settings)


def test_the_settings_are_imported_without_the_libraries_that_learn():
    heavy = "numpy", "pandas", "sklearn", "matplotlib"
    code = f"import sys, whynear.study.settings; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
