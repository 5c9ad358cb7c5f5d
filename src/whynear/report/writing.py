"""Writing a study: everything as JSON, tables as CSV, figures as SVG, the model, and the page."""

from __future__ import annotations

import json
import shutil
import warnings
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from whynear.metric import save
from whynear.report.earlier import FILES, RECORD, UNFINISHED, check_no_other_study, move_in
from whynear.report.figures import figures
from whynear.report.page import render
from whynear.report.tables import tables
from whynear.tables.writing import csv_text
from whynear.utils.files import check_folder, make_folder, write_data

if TYPE_CHECKING:
    from whynear.study.result import Study

FILES_AT_ONCE = 8  # since the disk is waited for after each


def write_study(study: Study, folder: Path, *, overwrite: bool = False) -> list[Path]:
    """Write all files into a subfolder, then move them into the folder, so that two studies are never mixed.

    Files of the same study, made earlier, are replaced or removed; those of another one only with ``overwrite``.
    """
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
        # Last, because it says that all others are there.
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
        save(model, new / "model.whynear")
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(new), str(folder)), stacklevel=3)
