"""A study on the disk: everything as JSON, tables as CSV, figures as SVG, the model, and the page."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from operator import methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from whynear.metric import save
from whynear.metric.archive import write_whole
from whynear.report.comparison import Comparison
from whynear.report.figure_tables import figure_tables
from whynear.report.figures import figures
from whynear.report.page import render
from whynear.report.wording import harmless, printable

if TYPE_CHECKING:
    from whynear.report.result import Study

FORMAT = 1
UNFINISHED = "unfinished"  # the folder for files that do not stand for a whole study yet
FILES = ("study.json", "model.whynear", "relevance.csv", "cases.csv", "scores.csv", "predictions.csv", "report.html")


def write_study(study: Study, folder: Path) -> list[Path]:
    """Write all files beside the folder's older ones, then put them in their places: never a mix of two studies."""
    check_folder(folder)
    new = folder / UNFINISHED
    new.mkdir(parents=True, exist_ok=True)
    pictures = dict(figures(study))
    texts = {
        "study.json": json.dumps(content(study), indent=1, allow_nan=False, ensure_ascii=False) + "\n",
        "relevance.csv": csv_text(study.frame()),
        "cases.csv": csv_text(_cases(study)),
        **{name: csv_text(frame) for name, frame in comparison_tables(study.comparison).items()},
        **{f"{name}.svg": svg for name, svg in pictures.items()},
        **{name: csv_text(frame) for name, frame in figure_tables(study)},
        "report.html": render(study, pictures),
    }
    names = ("model.whynear", *texts)
    try:
        _save_model(study.model, new, folder)
        for name, text in texts.items():
            data = text.encode()
            write_whole(new / name, methodcaller("write", data), len(data))
    except OSError:
        shutil.rmtree(new, ignore_errors=True)
        raise
    for name in names:
        os.replace(new / name, folder / name)
    shutil.rmtree(new, ignore_errors=True)
    return [folder / name for name in names]


def _save_model(model: Any, new: Path, folder: Path) -> None:
    """Save the model, and warn of what it contains under the name it will have."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        save(model, new / "model.whynear")
    for warning in caught:
        warnings.warn(str(warning.message).replace(str(new), str(folder)), stacklevel=3)


def content(study: Study) -> dict[str, Any]:
    """Everything a study holds, as plain numbers, strings and lists; equal studies give equal content."""
    dimension = study.interpretation.dimension
    held = {
        "format": FORMAT,
        "source": study.problem.source,
        "target": study.problem.target,
        "rows": len(study.problem.X),
        "columns": study.problem.columns.to_dict("records"),
        "measure": study.comparison.measure,
        "finding": study.finding(),
        "settings": dict(study.settings),
        "chosen": study.comparison.chosen,
        "accuracy": study.comparison.accuracy.to_dict("list"),
        f"honest_{study.comparison.measure}": study.comparison.honest.tolist(),
        "relevance": study.relevance.to_dict(),
        "substitutes": {name: list(others) for name, others in study.relevance.substitutes.of.items()},
        "groups": [list(group) for group in study.relevance.substitutes.groups],
        "effective_dimension": None if dimension is None else dimension.curve.to_dict("list"),
        "averaged": study.interpretation.averaged,
        "profiles": {str(label): column.tolist() for label, column in study.profiles.items()},
        "maps": {name: points.tolist() for name, points in study.maps.items()},
        "cases": [
            {"row": case.row, "kind": case.kind, "true": case.true, "why": case.why.to_dict()} for case in study.cases
        ],
        "caveats": list(study.caveats),
    }
    return plain_values(held)


def plain_values(value: Any) -> Any:
    """The value as JSON takes it: numpy's numbers as Python's, no NaN."""
    match value:
        case dict():
            return {str(key): plain_values(item) for key, item in value.items()}
        case list() | tuple():
            return [plain_values(item) for item in value]
        case np.ndarray():
            return plain_values(value.tolist())
        case np.generic():
            return plain_values(value.item())
        case float():
            return value if np.isfinite(value) else None
        case None | bool() | int() | str():
            return value
    return str(value)


def _cases(study: Study) -> pd.DataFrame:
    columns = ["row", "kind", "true", "predicted", "probability", "nearest_other", "held_off_by"]
    rows = [
        (
            case.row,
            case.kind,
            case.true,
            case.why.prediction,
            float(case.why.probabilities.max()),
            None if case.why.nearest_other is None else case.why.nearest_other.label,
            ", ".join(map(str, case.why.held_off_by.index[:3])),
        )
        for case in study.cases
    ]
    return pd.DataFrame(rows, columns=columns)


def comparison_tables(comparison: Comparison) -> dict[str, pd.DataFrame]:
    """The scores of each fold, and the prediction of each row, as they are written."""
    return {
        "scores.csv": comparison.accuracy.reset_index(),
        "predictions.csv": comparison.predictions.rename_axis("index").reset_index(),
    }


def csv_text(frame: pd.DataFrame) -> str:
    """Comma-separated values that no spreadsheet takes for a formula."""
    safe = frame.copy()
    for name in safe.columns:
        safe[name] = [harmless(value) if isinstance(value, str) else value for value in safe[name]]
    return str(safe.rename(columns=lambda name: harmless(printable(str(name)))).to_csv(index=False))


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that a study could not be saved in, by a trial that leaves nothing behind."""
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FileExistsError(f"{place} is in the way: it is not a folder. Choose another folder with --out.")
    for path in _written(Path(folder)):
        if path.is_dir():
            raise FileExistsError(f"{path} is in the way: it is a folder. Choose another folder with --out.")
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise type(error)(
            f"{place} cannot be written into ({error.strerror}). Choose another folder with --out."
        ) from error


def _written(folder: Path) -> Iterator[Path]:
    return (folder / name for name in FILES)
