"""``whynear explain``: why a saved model predicts what it does for one row of a table."""

from __future__ import annotations

import io
import json
from operator import methodcaller
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.table import Table
from sklearn.base import is_regressor

from whynear.cli.learn import check_file
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.cli.tables import place_of, table_from
from whynear.explain import Explanation
from whynear.explain import explain as explain_case
from whynear.study.saved_models import cases_for, faults_by_name, predictor_from
from whynear.utils.files import write_whole
from whynear.utils.text import counted, printable

MOST_NEIGHBORS = 10
MOST_FEATURES = 10
PICTURES = (".svg", ".png", ".pdf")


def explain(
    model: Annotated[Path, typer.Argument(help="The file of a saved classifier.")],
    table: Annotated[str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")],
    row: Annotated[str, typer.Option(help="The row, counted from 1 below the header; with --index, its name.")],
    index: Annotated[str | None, typer.Option(help="The column that names the rows.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A file for the figure: .svg, .png or .pdf.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of a text file.")] = "utf-8",
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Tell why a saved model predicts what it does for one row of a table."""
    with errors_in_a_sentence(debug):
        if plot is not None:
            _check_picture(plot)
        with warnings_in_a_sentence():
            classifier = predictor_from(model)
            if is_regressor(classifier):
                raise TypeError(
                    f"{model} holds a regressor, and only a classifier shows the cases behind a prediction. "
                    "Use whynear predict for its numbers."
                )
            frame, source = table_from(table, encoding)
            why = _explained(classifier, frame, place_of(row, frame, index, source), index, source)
            if plot is not None:
                _draw(why, plot)
        if as_json:
            typer.echo(json.dumps(why.to_dict()))
        else:
            _show(Console(), why)
        if plot is not None:
            typer.echo(f"Drawn: {printable(str(plot))}", err=as_json)


def _check_picture(path: Path) -> None:
    if path.suffix.lower() not in PICTURES:
        raise ValueError(
            f"{path} must end in {', '.join(PICTURES)}, got {path.suffix or 'no extension'} instead (--plot)."
        )
    check_file(path)


def _explained(model: Any, frame: pd.DataFrame, place: int, index: str | None, source: str) -> Explanation:
    """The explanation of one row; as a table of one it keeps whole numbers and text apart, which a Series may not."""
    source = f"{source}, row {place + 1},"
    cases = cases_for(model, frame.iloc[[place]], source, index)
    with faults_by_name(model, cases, source):
        return explain_case(model, cases)


def _draw(why: Explanation, path: Path) -> None:
    """Draw on a figure that needs no display, and write it whole or not at all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 1.8 + 0.34 * min(len(why.values), MOST_FEATURES + 1)), layout="constrained")
    why.plot(figure.add_subplot(), most=MOST_FEATURES)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=path.suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    write_whole(path, methodcaller("write", buffer.getvalue()), buffer.tell())


def _show(console: Console, why: Explanation) -> None:
    console.print(plain(repr(why)), style="bold", highlight=False)
    console.print(_neighbor_table(why.neighbors.head(MOST_NEIGHBORS)))
    if (more := len(why.neighbors) - MOST_NEIGHBORS) > 0:
        console.print(f"and {counted(more, 'more vote', 'more votes')} from farther off", highlight=False)
    console.print(_feature_table(why))


def _neighbor_table(neighbors: pd.DataFrame) -> Table:
    table = Table(title="Who votes, nearest first", title_justify="left", box=None)
    table.add_column("case", justify="right")
    table.add_column("label", overflow="fold")
    table.add_column("distance", justify="right")
    table.add_column("vote", justify="right")
    for case, label, distance, vote in neighbors[["case", "label", "distance", "vote"]].itertuples(index=False):
        table.add_row(str(case), plain(label), f"{distance:.4g}", f"{vote:.3g}")
    return table


def _feature_table(why: Explanation) -> Table:
    """The features that add most to what holds the other case off, or to the only distance there is."""
    frame, alone = why.frame(), why.nearest_other is None
    by = "nearest_contribution" if alone else "held_off_by"
    frame = frame.loc[frame[by].abs().sort_values(ascending=False, kind="stable").index[:MOST_FEATURES]]
    frame = frame.sort_values(by, ascending=False, kind="stable")
    title = "What makes up the distance" if alone else "What holds the nearest case of another class off"
    table = Table(title=title, title_justify="left", box=None)
    table.add_column("feature", overflow="fold")
    shown = ["value", "nearest_value", *([] if alone else ["other_value"]), by]
    for name in shown:
        heading = "adds" if name == "nearest_contribution" else name.replace("_", " ")
        table.add_column(heading, justify="right", overflow="fold")
    for row in frame.to_dict("records"):
        table.add_row(plain(row["feature"]), *(_cell(row[name], signed=name == by) for name in shown))
    return table


def _cell(value: Any, signed: bool) -> str:
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, float):
        return f"{value:+.3g}" if signed else f"{value:.4g}"
    return plain(value)
