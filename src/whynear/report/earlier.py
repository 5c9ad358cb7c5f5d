"""The study that a folder holds already, and the files that belong to it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from whynear.study.settings import StudySettings
from whynear.utils.files import sync_folder

RECORD = "study.json"
OLDER = "older.json"  # the record of a study that is being replaced
UNFINISHED = "unfinished"  # the folder for files until all of them are written
FILES = (RECORD, "model.whynear", "relevance.csv", "cases.csv", "scores.csv", "predictions.csv", "report.html")
MOST_LETTERS = 200  # of what a file says about its study, in a message
WAY_OUT = "Choose another folder (--out), or replace {what} (--overwrite; in Python overwrite=True)."


def check_no_other_study(
    folder: Path, source: str, target: str, settings: StudySettings, *, overwrite: bool = False
) -> None:
    """Refuse a folder with a study of another table, target or settings, or with files of no study in the way."""
    finish_moving(folder)
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
    held = _record(folder / RECORD)
    known = {"source", "target", "given"} <= held.keys()
    if known and (held["source"], held["target"], held["given"]) == (source, target, settings.changed()):
        return
    raise FileExistsError(f"{folder} holds another study{_described(held)}. {WAY_OUT.format(what='that study')}")


def move_in(folder: Path, names: Iterable[str]) -> None:
    """Move the files of a study, all of them written, into its folder, in place of an older study.

    Without its record the folder holds no study: that of the older one goes first, and that of the new one comes last,
    so that a process killed in between leaves no mixture that is taken for a study. `finish_moving` goes on from there.
    Each of these steps is on the disk before the next one, since a power cut may undo any of those that are not.
    """
    new = folder / UNFINISHED
    if (folder / RECORD).exists():
        os.replace(folder / RECORD, new / OLDER)
        sync_folder(folder)
    outdated = _names(new / OLDER) - {*names, RECORD} if (new / OLDER).exists() else set()
    for name in outdated:
        if (folder / name).is_file():  # a damaged record may list a folder
            (folder / name).unlink()
    for name in sorted(names, key=RECORD.__eq__):
        if name == RECORD:
            sync_folder(folder)
        if (new / name).exists():
            os.replace(new / name, folder / name)
    sync_folder(folder)


def finish_moving(folder: Path) -> None:
    """Move the rest of the files of a study that was written completely before its process was killed."""
    new = folder / UNFINISHED
    if not (folder / RECORD).exists() and (new / RECORD).is_file():
        move_in(folder, _names(new / RECORD))


def _names(record: Path) -> set[str]:
    """Return the names of files that a record lists, without those outside its folder."""
    listed = _record(record).get("files", FILES)
    listed = listed if isinstance(listed, list | tuple) else FILES
    return {name for name in listed if isinstance(name, str) and Path(name).name == name}


def _record(path: Path) -> dict[str, Any]:
    """Return the content of a record; nothing if it is damaged."""
    try:
        held = json.loads(path.read_text(encoding="utf-8"))
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
