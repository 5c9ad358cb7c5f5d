"""The study that a folder holds already, and the files that belong to it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from whynear.study.settings import StudySettings

RECORD = "study.json"
FILES = (RECORD, "model.whynear", "relevance.csv", "cases.csv", "scores.csv", "predictions.csv", "report.html")
MOST_LETTERS = 200  # of what a file says about its study, in a message
WAY_OUT = "Choose another folder (--out), or replace {what} (--overwrite; in Python overwrite=True)."


def check_no_other_study(
    folder: Path, source: str, target: str, settings: StudySettings, *, overwrite: bool = False
) -> None:
    """Refuse a folder with a study of another table, target or settings, or with files of no study in the way."""
    if overwrite:
        return
    if not (folder / RECORD).exists():
        in_the_way = [name for name in FILES if (folder / name).exists()]
        if in_the_way:
            raise FileExistsError(
                f"{folder} has a file {in_the_way[0]}, which belongs to no study and would be replaced. "
                + WAY_OUT.format(what="it")
            )
        return
    held = _record(folder)
    known = {"source", "target", "given"} <= held.keys()
    if known and (held["source"], held["target"], held["given"]) == (source, target, settings.changed()):
        return
    raise FileExistsError(f"{folder} holds another study{_described(held)}. {WAY_OUT.format(what='that study')}")


def files_of_study(folder: Path) -> set[str]:
    """Return the names of the files of the study that a folder holds; those outside the folder are not its files."""
    names = _record(folder).get("files", FILES) if (folder / RECORD).exists() else ()
    listed = names if isinstance(names, list | tuple) else FILES
    return {name for name in listed if isinstance(name, str) and Path(name).name == name and (folder / name).is_file()}


def _record(folder: Path) -> dict[str, Any]:
    """Return the content of ``study.json``; nothing if it is damaged."""
    try:
        held = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return held if isinstance(held, dict) else {}


def _described(held: dict[str, Any]) -> str:
    if not {"source", "target"} <= held.keys():
        return ""
    given = held.get("given")
    settings = {"target": held["target"], **(given if isinstance(given, dict) else {})}
    words = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    return f": of {str(held['source'])[:MOST_LETTERS]}, {words[:MOST_LETTERS]}"
