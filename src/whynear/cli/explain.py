"""``whynear explain``: explain the prediction of a saved model for one row of a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.explain_value import show_value
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.utils.files import check_file
from whynear.utils.text import counted, printable, short_number

if TYPE_CHECKING:
    import pandas as pd

MOST_NEIGHBORS = 10
MOST_FEATURES = 10
NOTHING = 1e-4  # of the largest part
FIGURE_ENDINGS = (".svg", ".png", ".pdf")


def explain(
    model: Annotated[Path, typer.Argument(help="The file of a saved model.")],
    table: options.Table,
    row: Annotated[
        str,
        typer.Option(help="The name of the row: its number, from 1 below the header; with --index, its value there."),
    ],
    index: options.Index = None,
    plot: Annotated[Path | None, typer.Option(help="A file for the figure: .svg, .png or .pdf.")] = None,
    as_json: options.JsonNotTables = False,
    encoding: options.Encoding = "auto",
    debug: options.Debug = False,
) -> None:
    """Explain the prediction of a saved model for one row of a table."""
    with errors_in_a_sentence(debug):
        if plot is not None:
            _check_figure(plot)
        with warnings_in_a_sentence():
            why = wn.explain_row(model, table, row, index=index, encoding=encoding)
            if plot is not None:
                _draw(why, plot)
        if as_json:
            typer.echo(json.dumps(why.to_dict()))
        elif isinstance(why, wn.ValueExplanation):
            show_value(Console(), why)
        else:
            _show(Console(), why)
        if plot is not None:
            typer.echo(f"Drawn: {printable(str(plot))}", err=as_json)


def _check_figure(path: Path) -> None:
    if path.suffix.lower() not in FIGURE_ENDINGS:
        raise ValueError(
            f"{path} must end in {', '.join(FIGURE_ENDINGS)}, got {path.suffix or 'no extension'} instead (--plot)."
        )
    check_file(path)


def _draw(why: wn.Explanation | wn.ValueExplanation, path: Path) -> None:
    from whynear.explain.picture import write_picture

    write_picture(why, path, MOST_FEATURES)


def _show(console: Console, why: wn.Explanation) -> None:
    console.print(plain(repr(why)), style="bold", highlight=False)
    kind = why.nearest.kind
    console.print(f"{kind.capitalize()}s that vote, nearest first", style="italic", highlight=False)
    console.print(_neighbor_table(why.neighbors.head(MOST_NEIGHBORS), kind))
    if (more := len(why.neighbors) - MOST_NEIGHBORS) > 0:
        console.print(f"and {counted(more, f'more distant {kind}', f'more distant {kind}s')}", highlight=False)
    console.print(_heading(why), style="italic", highlight=False)
    console.print(_feature_table(why))
    if why.preprocessing:
        console.print(f"Values of channels are those after {why.preprocessing}.", highlight=False)


def _neighbor_table(neighbors: pd.DataFrame, kind: str) -> Table:
    table = Table(box=None)
    table.add_column(kind, justify="right", overflow="fold")
    table.add_column("label", overflow="fold")
    table.add_column("distance", justify="right")
    table.add_column("vote", justify="right")
    for name, label, distance, vote in neighbors[[kind, "label", "distance", "vote"]].itertuples(index=False):
        table.add_row(plain(name), plain(label), f"{distance:.4g}", f"{vote:.3g}")
    return table


def _heading(why: wn.Explanation) -> str:
    near, other = f"{why.nearest.kind} {plain(why.nearest.name)}", why.nearest_other
    if other is None:
        return f"Contributions to the distance of {near}"
    far = f"{other.kind} {plain(other.name)}, the nearest of another class,"
    if other.sq_distance > why.nearest.sq_distance:
        return f"Why {far} is more distant than {near}"
    return f"What features add to the distance of {far} beyond that of {near}"


def _feature_table(why: wn.Explanation) -> Table:
    """The features that make the nearest case of another class more distant; without one, those of the distance."""
    frame, alone = why.frame(), why.nearest_other is None
    by = "nearest_contribution" if alone else "held_off_by"
    ranked = frame[by].abs().sort_values(ascending=False, kind="stable")
    largest, others = float(ranked.iloc[0]), frame.loc[ranked.index[MOST_FEATURES:], by]
    frame = frame.loc[ranked.index[:MOST_FEATURES]]
    frame = frame.sort_values(by, ascending=False, kind="stable")
    table = Table(box=None)
    table.add_column("feature", overflow="fold")
    shown = ["value", "nearest_value", *([] if alone else ["other_value"]), by]
    for name in shown:
        heading = "adds" if name == by else name.replace("_", " ")
        table.add_column(heading, justify="right", overflow="fold")
    for row in frame.astype(object).where(frame.notna(), None).to_dict("records"):
        parts = [_cell(row[name]) for name in shown if name != by]
        table.add_row(plain(row["feature"]), *parts, part_of(row[by], largest))
    if len(others):
        table.add_row(f"{len(others):,} more", *[""] * (len(shown) - 1), part_of(others.sum(), largest))
    return table


def part_of(value: float, largest: float) -> str:
    """What a feature adds, with its sign; what is nothing beside the largest part is said to be about 0."""
    return "~0" if 0 < abs(value) < NOTHING * largest else short_number(value, 3, signed=True)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return short_number(value) if isinstance(value, float) else plain(value)
