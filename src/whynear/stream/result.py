"""The result of a whole stream, and its files."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pandas as pd
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from whynear.metric import save
from whynear.stream.estimator import SelfAdjustingMemory
from whynear.stream.history import StreamHistory
from whynear.tables.writing import write_csv
from whynear.utils import html
from whynear.utils.files import write_data
from whynear.utils.plain import plain_values
from whynear.utils.text import counted
from whynear.utils.values import ByValue

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<meta name="viewport" content="width=device-width"><title>{title}</title></head>
<body style="font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em"><h1>{title}</h1>{body}</body></html>
"""


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
        counts = ("n_rows", "n_predicted", "n_right", "n_same", "n_late", "n_repeated", "n_unnamed", "n_without_target")
        return {
            **{name: getattr(self, name) for name in ("source", "target", *counts)},
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
