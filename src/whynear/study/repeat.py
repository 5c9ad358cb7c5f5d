"""The Python code and the shell command that repeat a study."""

from __future__ import annotations

import shlex

from whynear.study.settings import StudySettings, option_of


def python_lines(source: str, target: str, settings: StudySettings) -> str:
    """Return the Python code that repeats a study."""
    words = [repr(source), repr(target), *(f"{name}={value!r}" for name, value in settings.changed().items())]
    return f"import whynear as wn\n\nwn.study({', '.join(words)}).save('study')"


def shell_line(source: str, target: str, settings: StudySettings) -> str:
    """Return the shell command that repeats a study."""
    words = ["whynear", "study", source, "--target", target]
    for name, value in settings.changed().items():
        for one in value if isinstance(value, list) else [value]:
            words += [option_of(name)] if one is True else [option_of(name), str(one)]
    return shlex.join(words)
