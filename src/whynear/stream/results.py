"""The files that a stream writes, and how an unfinished one goes on."""

from __future__ import annotations

import io
import json
import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whynear.data.delimited import write_csv
from whynear.data.numbers import DECIMALS, Decimal
from whynear.model.files import load, save
from whynear.stream.estimator import SelfAdjustingMemory
from whynear.stream.history import StreamHistory
from whynear.utils import html
from whynear.utils.arrays import ByValue, plain_values
from whynear.utils.files import sync_folder, write_data
from whynear.utils.text import counted

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body style="font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em"><h1>{title}</h1>{body}</body></html>
"""


COUNTED_ROWS = ("n_predicted", "n_right", "n_same", "n_late", "n_repeated", "n_unnamed", "n_without_target")


@dataclass(frozen=True, eq=False, repr=False)
class StreamResult(ByValue):
    """What a run over a stream counted.

    Attributes
    ----------
    source, target : str
        The table and the column with the classes.
    n_rows, n_predicted, n_right : int
        Rows read, rows predicted before they were learned, and those predicted rightly.
    n_same : int
        Rows of the class of the row before, which is what predicting no change would get right.
    n_late, n_repeated, n_without_target : int
        Rows of an earlier time than one before, rows left out because their name came again, and rows left out because
        their target is missing.
    history : StreamHistory
        Accuracy, memories, metrics and relevances over time.
    model : SelfAdjustingMemory
        The learner after the last row.
    n_unnamed : int
        Rows whose name is missing.
    """

    source: str
    target: str
    n_rows: int
    n_predicted: int
    n_right: int
    n_same: int
    n_late: int
    n_repeated: int
    n_without_target: int
    history: StreamHistory
    model: SelfAdjustingMemory
    n_unnamed: int = 0

    @property
    def accuracy(self) -> float:
        """The share of predictions that are right."""
        return self.n_right / self.n_predicted

    @property
    def no_change_accuracy(self) -> float:
        """The share that predicting the class of the row before would get right."""
        return self.n_same / self.n_predicted

    def finding(self) -> str:
        """Return what was found, in words."""
        best = "" if self.accuracy > self.no_change_accuracy else " Predicting no change is better here."
        said = (
            f"{self.target!r} was predicted in {counted(self.n_predicted, 'row')} of {self.source} before they were "
            f"learned, {self.accuracy:.1%} rightly; the class of the row before is right in "
            f"{self.no_change_accuracy:.1%}.{best}"
        )
        aside = [
            (self.n_late, "late row", "late rows"),
            (self.n_repeated, "repeated row left out", "repeated rows left out"),
            (self.n_unnamed, "row without a name", "rows without a name"),
            (self.n_without_target, "row without target left out", "rows without target left out"),
        ]
        facts = ", ".join(counted(*each) for each in aside if each[0])
        return " ".join([said, *self.history.sentences(), *([f"{facts}."] if facts else [])])

    def frame(self) -> pd.DataFrame:
        """Return the history as a table."""
        return self.history.frame()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the history."""
        return self.history.plot(ax)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the learner as plain numbers, strings and lists."""
        return {
            **{name: getattr(self, name) for name in ("source", "target", "n_rows", *COUNTED_ROWS)},
            "accuracy": self.accuracy,
            "no_change_accuracy": self.no_change_accuracy,
            "finding": self.finding(),
            "settings": plain_values(self.model.get_params()),
            "history": self.history.to_dict(),
        }

    def __repr__(self) -> str:
        return f"StreamResult({self.source}: {counted(self.n_predicted, 'row')}, accuracy {self.accuracy:.1%})"


def write_result(result: StreamResult, folder: Path) -> None:
    """Write all files of a result but the predictions, each completely or not at all; stream.json last."""
    figure = _figure(result)
    write_csv(result.frame(), folder / "history.csv")
    write_data(folder / "history.svg", figure)
    write_data(folder / "report.html", _page(result, figure))
    save(result.model, folder / "model.whynear")
    write_data(folder / "stream.json", json.dumps(result.to_dict(), allow_nan=False, indent=1))


def _figure(result: StreamResult) -> str:
    """Return the figure of the history; equal results give equal text."""
    with mpl.rc_context({"svg.hashsalt": "whynear", "svg.fonttype": "none"}):
        figure, buffer = Figure(figsize=(7.5, 3.6), layout="constrained"), io.BytesIO()
        result.plot(figure.subplots())
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    return buffer.getvalue().decode()


def _page(result: StreamResult, figure: str) -> str:
    drawn = Markup(figure[figure.index("<svg") :])
    table = result.history.table.tail(html.MOST_ROWS)
    latest = html.table(list(table.columns), [tuple(row) for row in table.itertuples(index=False)])
    notes = html.table(["case", "note"], result.history.notes[: html.MOST_ROWS]) if result.history.notes else ""
    said = [html.note(result.finding()), drawn, html.heading("The latest intervals"), latest]
    body = html.block(*said, *([html.heading("Notes"), notes] if notes else []))
    return Markup(PAGE).format(title=html.text(f"Stream: {result.source}"), body=body)


UNFINISHED = "unfinished.whynear"  # the model and the counts after the latest part
PREDICTIONS, PART_OF_PREDICTIONS = "predictions.csv", "predictions.csv.part"
RECORD = "stream.json"
FILES = (RECORD, PREDICTIONS, "history.csv", "history.svg", "report.html", "model.whynear")


MOST_ROWS = 2**53
FOUND = ("decimal", "time_form")  # in the rows, or given


@dataclass
class Counts:
    """What a run has counted so far, and of which columns; all of it is in the file for an unfinished run."""

    source: str
    target: str
    index: str | None = None
    time: str | None = None
    drop: list[str] = field(default_factory=list)
    decimal: Decimal | None = None  # the sign before the decimals, once it is known
    time_form: str | None = None  # of the times, once it is known
    digest: str = ""  # of the rows read
    n_rows: int = 0  # read
    n_predicted: int = 0
    n_right: int = 0
    n_same: int = 0  # of the class of the row before
    n_late: int = 0
    n_repeated: int = 0
    n_unnamed: int = 0
    n_without_target: int = 0
    n_bytes: int = 0  # of the predictions written
    latest: float | None = None  # the latest time so far
    last_label: str | None = None
    names: list[str] = field(default_factory=list)  # of the latest rows

    @property
    def columns(self) -> list[str]:
        """The columns that are no features."""
        return [self.target, *(name for name in (self.index, self.time) if name is not None), *self.drop]

    def is_of(self, other: Counts) -> bool:
        """Return whether both count the same columns of the same table, and neither contradicts what is known of it."""
        names = ("source", "target", "index", "time", "drop")
        known = [name for name in FOUND if None not in (getattr(self, name), getattr(other, name))]
        return all(getattr(self, name) == getattr(other, name) for name in (*names, *known))


def continued(folder: Path, model: SelfAdjustingMemory, counts: Counts) -> tuple[SelfAdjustingMemory, Counts]:
    """Return model and counts of the unfinished run in a folder, or those given if there is none.

    A finished run, and an unfinished one of another table or with other settings, are refused.
    """
    if (folder / UNFINISHED).exists():
        path = folder / UNFINISHED
        kept = load(path)
        state: Any = getattr(kept, "counts_", None)
        if not isinstance(kept, SelfAdjustingMemory) or not _are_counts(state):
            raise ValueError(f"{path} is not the state of an unfinished run. Begin anew with --overwrite.")
        before = Counts(**state)
        if before.is_of(counts) and repr(kept) == repr(model):
            return kept, replace(before, **{name: getattr(before, name) or getattr(counts, name) for name in FOUND})
        raise FileExistsError(
            f"{folder} holds an unfinished run of {before.source} with the target {before.target!r}, or with other "
            "columns or settings. Choose another folder with --out, or --overwrite it."
        )
    if (folder / RECORD).exists():
        raise FileExistsError(f"{folder} holds a finished run. Choose another folder with --out, or --overwrite it.")
    return model, counts


def _are_counts(counts: Any) -> bool:
    """Return whether all counts are there, each of its kind."""
    wanted = asdict(Counts("", ""))
    if not isinstance(counts, dict) or counts.keys() != wanted.keys():
        return False
    optional = {name: counts[name] for name, value in wanted.items() if value is None}
    plain = {name: value for name, value in counts.items() if name not in optional}
    return (
        all(type(value) is type(wanted[name]) for name, value in plain.items())
        and all(value >= 0 for value in plain.values() if isinstance(value, int))
        and counts["n_rows"] <= MOST_ROWS
        and all(counts[name] <= counts["n_rows"] for name in COUNTED_ROWS)
        and all(isinstance(name, str) for name in (*counts["names"], *counts["drop"]))
        and isinstance(optional.pop("latest"), float | None)
        and optional["decimal"] in (None, *DECIMALS)
        and all(isinstance(value, str | None) for value in optional.values())
    )


def opened_predictions(folder: Path, n_bytes: int) -> IO[bytes]:
    """Open the file of predictions at the end of those that are counted; later ones are removed."""
    path, finished = folder / PART_OF_PREDICTIONS, folder / PREDICTIONS
    if n_bytes and not path.exists() and finished.exists():  # killed while it finished
        os.replace(finished, path)
    if n_bytes and (not path.exists() or path.stat().st_size < n_bytes):
        raise ValueError(f"{path} lacks predictions of the unfinished run. Begin anew with --overwrite.")
    file = path.open("r+b" if n_bytes else "wb")
    sync_folder(folder)  # after a power cut there must be no state that counts predictions without their file
    file.truncate(n_bytes)
    file.seek(n_bytes)
    return file


def remove_run(folder: Path) -> None:
    """Remove all files of a run; those that mark it as a run are removed from the disk first."""
    for name in (UNFINISHED, RECORD):
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)
    for name in {PART_OF_PREDICTIONS, *FILES} - {RECORD}:
        (folder / name).unlink(missing_ok=True)
