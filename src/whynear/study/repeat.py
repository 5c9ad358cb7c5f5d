"""The Python code and the shell command that repeat a study."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from whynear.study.settings import VALUES, StudySettings, grouped, option_of
from whynear.tables.settings import written


def python_lines(source: str, target: str, settings: StudySettings) -> str:
    """Return the Python code that repeats a study."""
    words = [repr(source), repr(target), *python_words(settings.changed())]
    return f"import whynear as wn\n\nwn.study({', '.join(words)}).save('study')"


def python_words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as parameters of `whynear.study`.

    >>> python_words({"learner": "lann", "drop": ["a", "b"], "folds": 3})
    ["reading=wn.Reading(drop=['a', 'b'])", 'splitting=wn.Splitting(folds=3)', "learner='lann'"]
    """
    parameters = grouped(settings)
    values = [f"{name}={written(parameters.pop(name))}" for name in VALUES if name in parameters]
    return [*values, *(f"{name}={value!r}" for name, value in parameters.items())]


def shell_line(source: str, target: str, settings: StudySettings) -> str:
    """Return the shell command that repeats a study."""
    return shlex.join(["whynear", "study", source, "--target", target, *option_words(settings.changed())])


def option_words(settings: Mapping[str, Any]) -> list[str]:
    """Return settings as options of the command line.

    >>> option_words({"drop": ["a", "b"], "strict": True, "spectra": False})
    ['--drop', 'a', '--drop', 'b', '--strict', '--no-spectra']
    """
    words: list[str] = []
    for name, value in settings.items():
        for one in value if isinstance(value, list | tuple) else [value]:
            words += _words_of(option_of(name), one)
    return words


def _words_of(option: str, value: Any) -> list[str]:
    """Return an option with its value; in one word if the value could be taken for an option."""
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    return [f"{option}={value}"] if str(value).startswith("-") else [option, str(value)]
