"""The lines of Python, and of the shell, that repeat a study."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from whynear.study.result import Study

# What a study is asked for, and what it does without being asked; on the command line with dashes.
USUAL: dict[str, Any] = {
    "learner": "auto",
    "drop": [],
    "index": None,
    "bins": None,
    "categories": None,
    "impute": None,
    "folds": 5,
    "drop_missing_target": False,
    "effective_dim": None,
    "encoding": "utf-8",
    "seed": 0,
}


def python_lines(study: Study) -> str:
    """The call that repeats a study."""
    given = {("random_state" if name == "seed" else name): value for name, value in _given(study)}
    words = [repr(study.problem.source), repr(study.problem.target), *(f"{n}={v!r}" for n, v in given.items())]
    return f"import whynear as wn\n\nwn.study({', '.join(words)}).save('study')"


def shell_line(study: Study) -> str:
    """The command that repeats a study."""
    words = ["whynear", "study", study.problem.source, "--target", study.problem.target]
    for name, value in _given(study):
        option = f"--{name.replace('_', '-')}"
        for one in value if isinstance(value, list) else [value]:
            words += [option] if one is True else [option, str(one)]
    return shlex.join(words)


def _given(study: Study) -> list[tuple[str, Any]]:
    return [(name, study.settings[name]) for name, usual in USUAL.items() if study.settings[name] != usual]
