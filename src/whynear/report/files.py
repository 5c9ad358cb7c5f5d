"""The files of a study: everything as JSON, tables as CSV, figures as SVG, the model, and the page.

They are written beside an earlier study in the same folder, which they replace when all of them are complete.
"""

from __future__ import annotations

import json
import os
import shutil
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from whynear.data.delimited import csv_text, write_csv
from whynear.model.files import save as save_model
from whynear.report.page import render
from whynear.study.cases import cases_frame
from whynear.study.settings import StudySettings
from whynear.utils.files import check_folder, make_folder, sync_folder, write_data

if TYPE_CHECKING:
    from whynear.study.comparison import Comparison
    from whynear.study.result import Study

RECORD = "study.json"
OLDER = "older.json"  # the record of a study that is being replaced
UNFINISHED = "unfinished"  # the folder for files until all of them are written
FITS = "fits"  # the folder of fitted learners in it, from which the same study goes on
FILES = (RECORD, "model.whynear", "relevance.csv", "cases.csv", "scores.csv", "predictions.csv", "report.html")
FILES_AT_ONCE = 8  # since the disk is waited for after each
MOST_LETTERS = 200  # of what a file says about its study, in a message
WAY_OUT = "Choose another folder (--out), or replace {what} (--overwrite; in Python overwrite=True)."


def save(study: Study, folder: str | os.PathLike[str], *, overwrite: bool = False) -> list[Path]:
    """Write the study into a folder, each file completely or not at all; the README lists the files.

    A folder with a study of another table, target or settings is refused; with ``overwrite`` it is replaced. Files of
    the same study, made earlier, are replaced or removed. All are written into a subfolder and then moved, so that two
    studies are never mixed.
    """
    from whynear.report.figures import figures  # here, since it imports matplotlib

    folder = Path(folder)
    check_folder(folder, FILES)
    check_no_other_study(folder, study.problem.source, study.problem.target, study.inputs, overwrite=overwrite)
    new = folder / UNFINISHED
    make_folder(new)
    (new / RECORD).unlink(missing_ok=True)  # of a study that was never moved, since another one is in the folder
    pictures = dict(figures(study))
    texts = {
        **{name: csv_text(frame) for name, frame in tables(study)},
        **{f"{name}.svg": svg for name, svg in pictures.items()},
        "report.html": render(study),
    }
    names = (RECORD, "model.whynear", *texts)
    record = {**study.to_dict(), "files": list(names)}
    for name in names:
        (new / name).unlink(missing_ok=True)  # a part that was kept while the study was computed
    try:
        _save_model(study.model, new, folder)
        with ThreadPoolExecutor(FILES_AT_ONCE) as writers:
            deque(writers.map(lambda name: write_data(new / name, texts[name]), texts), maxlen=0)
        # Last: where it exists, all others do.
        write_data(new / RECORD, json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False) + "\n")
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    move_in(folder, names)
    shutil.rmtree(new, ignore_errors=True)
    return [folder / name for name in names]


def _save_model(model: Any, new: Path, folder: Path) -> None:
    """Save the model; warnings about its content name the file by its final path."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save_model(model, new / "model.whynear")
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(new), str(folder)), stacklevel=3)


def tables(study: Study) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield file name and table; figures whose data are in another table have no table of the same name."""
    yield "relevance.csv", study.frame()
    yield "cases.csv", cases_frame(study.cases)
    compared = comparison_tables(study.comparison)
    if study.rejection is not None:
        compared["predictions.csv"]["certainty"] = study.rejection.certainty
        yield "rejection.csv", study.rejection.curve.frame()
        yield "rejected.csv", study.rejection.frame()
    yield from compared.items()
    yield from ((f"{name}.csv", frame) for name, frame in study.errors.tables().items())
    if study.spectra is not None:
        yield "spectrum.csv", study.spectra.frame()
        yield "preprocessing.csv", study.spectra.choice.frame()
    sets = study.verdicts.sets.frame()
    yield "sets.csv", sets.assign(features=["; ".join(names) for names in sets["features"]])
    yield "stand-ins.csv", study.verdicts.stand_ins.frame()
    if study.interpretation.tolerance is not None:
        yield "tolerance.csv", study.interpretation.tolerance.frame()
    found = study.comparison.predictions
    for name, points in study.maps.items():
        place = pd.DataFrame(points, index=found.index, columns=["across", "up"])
        shown = pd.concat([place, found[["true", "predicted"]]], axis=1)
        yield f"map-{name}.csv", shown.rename_axis("row").reset_index()
    yield "profiles.csv", study.profiles.reset_index()
    for number, case in enumerate(study.cases, start=1):
        yield f"case-{number}.csv", case.why.frame()
        yield f"{'votes' if study.errors.classes else 'near'}-{number}.csv", case.neighbors_frame()


def comparison_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """Return the scores of each fold and the prediction of each row, by file name."""
    return {
        "scores.csv": comparison.scores.reset_index(),
        "predictions.csv": comparison.predictions.rename_axis("row").reset_index(),
    }


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


class Unfinished:
    """Keeps finished parts in a folder, which is removed at the end of the study and kept after an interrupt."""

    def __init__(self, out: Path) -> None:
        self.folder, self.begun = out / UNFINISHED, False
        self.fits = self.folder / FITS

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if not self.begun:
            return  # what another study left there is not ours
        if not isinstance(error, KeyboardInterrupt):
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self.folder.is_dir():
            kept = ", ".join(sorted(path.name for path in self.folder.iterdir()))
            again = " The same command goes on from there." if self.fits.is_dir() else ""
            raise KeyboardInterrupt(f"The finished parts are in {self.folder}: {kept}.{again}") from None

    def keep(self, part: str, value: Any) -> None:
        """Write a finished part."""
        if part == "problem":
            # What an earlier run left goes; its fits are found by what they were fitted to.
            for path in self.folder.iterdir() if self.folder.is_dir() else ():
                if path.is_dir() and path != self.fits:
                    shutil.rmtree(path, ignore_errors=True)
                elif path.is_file():
                    path.unlink()
            self.begun = True
            return
        make_folder(self.folder)
        if part == "model":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # shown when the study is saved
                save_model(value, self.folder / "model.whynear")
            return
        tables = comparison_tables(value) if part == "comparison" else {"relevance.csv": value.frame()}
        for name, frame in tables.items():
            write_csv(frame, self.folder / name)
