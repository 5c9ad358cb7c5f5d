"""``whynear explain``: explain the prediction of a saved model for one row of a table."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from math import isnan
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.utils.files import check_file
from whynear.utils.text import counted, printable, short_number

MOST_NEIGHBORS = 10
MOST_FEATURES = 10
NOTHING = 1e-4  # of the largest part
NUMBERS = ("distance", "vote", "mean", "per unit", "adds", "measured", "predicted")
FIGURE_ENDINGS = (".svg", ".png", ".pdf")
Shown = tuple[str, Table, str]  # a table with its heading, and a line below it


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
            if plot.suffix.lower() not in FIGURE_ENDINGS:
                kind = plot.suffix or "no extension"
                raise ValueError(f"{plot} must end in {', '.join(FIGURE_ENDINGS)}, got {kind} instead (--plot).")
            check_file(plot)
        with warnings_in_a_sentence():
            why = wn.explain_row(model, table, row, index=index, encoding=encoding)
            if plot is not None:
                from whynear.explain.case_explanation import write_figure  # here, since it imports matplotlib

                write_figure(why, plot, MOST_FEATURES)
        if as_json:
            typer.echo(json.dumps(why.to_dict()))
        else:
            _show(Console(), why)
        if plot is not None:
            typer.echo(f"Drawn: {printable(str(plot))}", err=as_json)


def _show(console: Console, why: wn.Explanation | wn.ValueExplanation) -> None:
    console.print(plain(repr(why)), style="bold", highlight=False)
    shown = [_added(why), _neighbors(why)] if isinstance(why, wn.ValueExplanation) else [_neighbors(why), _distant(why)]
    for heading, table, below in shown:
        if table.row_count:
            console.print(heading, style="italic", highlight=False)
            console.print(table)
            if below:
                console.print(below, highlight=False)


def _neighbors(why: wn.Explanation | wn.ValueExplanation) -> Shown:
    """Return the cases that vote, or the nearest rows, with what all other rows add."""
    kind, columns, near = why.kind, why.facts, why.neighbors.head(MOST_NEIGHBORS)
    lines = [
        [short_number(fact, 3 if name == "vote" else 4) if name in NUMBERS else plain(fact) for name, fact in facts]
        for facts in (zip(columns, row, strict=True) for row in near[columns].itertuples(index=False))
    ]
    heading = f"{kind.capitalize()}s that vote, nearest first"
    if isinstance(why, wn.ValueExplanation):
        heading, columns = f"{kind.capitalize()}s with the most similar contributions", [*columns, "differs most in"]
        for line, parts in zip(lines, why.distance_shares.to_numpy(), strict=False):
            line.append(plain(why.values.index[int(parts.argmax())] if parts.any() else ""))
    elif why.of_numbers:
        heading = f"{kind.capitalize()}s nearest, with what they add"
    left = len(why.neighbors) - MOST_NEIGHBORS
    below = [f"and {counted(left, f'more distant {kind}')}"] if left > 0 else []
    below += [plain(why.remark)] if why.remark else []
    return heading, _table(columns, lines, NUMBERS), "\n".join(below)


def _heading(why: wn.Explanation) -> str:
    near, other = f"{why.nearest.kind} {plain(why.nearest.name)}", why.nearest_other
    if other is None:
        return f"Contributions to the distance of {near}"
    far = f"{other.kind} {plain(other.name)}, the nearest of another class,"
    if other.sq_distance > why.nearest.sq_distance:
        return f"Why {far} is more distant than {near}"
    return f"What features add to the distance of {far} beyond that of {near}"


def _distant(why: wn.Explanation) -> Shown:
    """Return the features that make the nearest case of another class more distant; without one, those of the distance.

    A prototype is called so beside its values, which no row need have.
    """
    frame, alone = why.frame(), why.nearest_other is None
    by = "nearest_contribution" if alone else "held_off_by"
    ranked = frame[by].abs().sort_values(ascending=False, kind="stable")
    largest, others = float(ranked.iloc[0]), frame.loc[ranked.index[MOST_FEATURES:], by]
    frame = frame.loc[ranked.index[:MOST_FEATURES]].sort_values(by, ascending=False, kind="stable")
    held = ["value", "nearest_value", *([] if alone else ["other_value"])]
    lines = [
        (plain(row["feature"]), *(_cell(row[name]) for name in held), part_of(row[by], largest))
        for row in frame.to_dict("records")
    ]
    if len(others):
        lines.append((f"{len(others):,} more", *[""] * len(held), part_of(others.sum(), largest)))
    of = "prototype" if why.nearest.kind == "prototype" else "value"
    names = ["value", *(name.replace("value", of).replace("_", " ") for name in held[1:])]
    units = f"Values of channels are those after {why.preprocessing}." if why.preprocessing else ""
    return _heading(why), _table(["feature", *names, "adds"], lines), units


def _added(why: wn.ValueExplanation) -> Shown:
    """Return what each feature adds to the prediction of a linear map."""
    ranked = why.ranked
    lines = [
        (
            plain(name),
            _cell(why.values[name]) or "missing",
            _cell(why.mean_values[name]),
            _cell(why.coefficients[name], signed=True),
            short_number(part, signed=True),
        )
        for name, part in zip(map(str, ranked.index[:MOST_FEATURES]), ranked, strict=False)
    ]
    if (more := len(ranked) - MOST_FEATURES) > 0:
        lines.append((f"{more:,} more", "", "", "", short_number(ranked.iloc[MOST_FEATURES:].sum(), signed=True)))
    start = f"the mean {short_number(why.mean_prediction)}" if why.mean_prediction else "zero"
    dated = any(isinstance(mean, str) for mean in why.mean_values)
    features = _table(["feature", "value", "mean", "per unit", "adds"], lines, NUMBERS)
    return f"What each feature adds to {start}", features, "The unit of dates is the day." if dated else ""


def _table(columns: Sequence[str], lines: Iterable[Sequence[str]], cut: Sequence[str] = ()) -> Table:
    """Return a table with features and classes at the left of their columns; what is wide is folded, or ``cut``."""
    table = Table(box=None)
    for name in columns:
        left = name in ("feature", "label", "differs most in")
        table.add_column(name, justify="left" if left else "right", overflow="ellipsis" if name in cut else "fold")
    for line in lines:
        table.add_row(*line)
    return table


def part_of(value: float, largest: float) -> str:
    """What a feature adds, with its sign; what is nothing beside the largest part is said to be about 0."""
    return "~0" if 0 < abs(value) < NOTHING * largest else short_number(value, 3, signed=True)


def _cell(value: Any, signed: bool = False) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else short_number(value, signed=signed)
    return "" if value is None else plain(value)
