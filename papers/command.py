"""The command ``whynear reproduce``: it prints our values beside the published ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from papers import wording
from papers.catalog import EXPERIMENTS, names_of
from papers.computations import Cell, RunState, Watch
from papers.outcome import Line, Outcome
from papers.reproduction import reproduce
from whynear.cli.shell import plain, terminated_as_interrupted
from whynear.utils.files import check_folder

MOST_COLUMNS = 6


def run(name: str | None, protocol: str | None, out: Path, as_json: bool, **workers: Any) -> None:
    """Make and print what a name stands for; without it, list all names."""
    console = Console(quiet=as_json)
    if name is None:
        _list(console, as_json)
        return
    names = names_of(name, protocol)
    check_folder(out)
    with terminated_as_interrupted(), progress_line(console, out) as watch:
        outcomes = reproduce(
            names, out, **workers, watch=watch, finished=lambda outcome: print_outcome(console, outcome)
        )
    if as_json:
        typer.echo(json.dumps([outcome.to_dict() for outcome in outcomes]))
    console.print(f"Written: {plain(out)}, a JSON and an SVG file for each, and reproduction.md", highlight=False)


def _list(console: Console, as_json: bool) -> None:
    titles = {name: make().plan.title for name, make in EXPERIMENTS.items()}
    if as_json:
        typer.echo(json.dumps(titles))
        return
    table = Table("name", "shows", box=None)
    for name, title in titles.items():
        table.add_row(name, title)
    console.print(table, highlight=False)
    console.print("whynear reproduce NAME makes one of them; all makes all.", highlight=False)


@contextmanager
def progress_line(console: Console, out: Path) -> Iterator[Watch]:
    """Show a line with the number of finished cells and the time left; an interrupt says how to continue."""
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    left = TimeElapsedColumn(), TextColumn("{task.fields[left]}")
    with Progress(*columns, *left, console=console, transient=True) as bar:
        task = bar.add_task("start", total=None, left="")

        def show(cell: Cell, state: RunState) -> None:
            text = "" if state.seconds_left is None else f"{_clock(state.seconds_left)} left"
            name = cell.name.rpartition("-")[0][:60]
            bar.update(task, description=name, completed=state.done, total=state.total, left=text)

        try:
            yield show
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"Finished cells are kept in {out}; the same command continues.") from None


def print_outcome(console: Console, outcome: Outcome) -> None:
    """Print the values that are published or have a criterion, then the others."""
    plan = EXPERIMENTS[outcome.name]().plan
    console.print()
    console.print(f"{outcome.name}: {plan.title}", style="bold", highlight=False)
    compared = [line for line in outcome.lines if _is_compared(line)]
    shown = [line for line in outcome.lines if not _is_compared(line)]
    if compared:
        console.print(_compared(compared, plan.rows), highlight=False)
    if shown:
        console.print(_shown(shown, plan.rows), highlight=False)
    summary = wording.summary(outcome)
    console.print(f"{summary}; {outcome.seconds:,.0f} s of CPU time", style="dim", highlight=False)
    if text := wording.substitute(plan):
        console.print(f"Data not available: {text}", highlight=False, soft_wrap=True)


def _is_compared(line: Line) -> bool:
    return line.published is not None or line.criterion is not None


def _compared(lines: list[Line], rows: str) -> Table:
    """A line for each value: ours, the published one, the criterion, the difference, and whether it is met."""
    one_column = len({line.column for line in lines}) == 1
    table = Table(rows, *([] if one_column else [""]), box=None, pad_edge=False, collapse_padding=True)
    for header in ("ours", "published", "criterion", "difference", "met"):
        table.add_column(header, justify="right", no_wrap=True)
    for line in lines:
        words = wording
        columns = (words.ours, words.published, words.criterion, words.difference, words.met)
        cells = [text_of(line) for text_of in columns]
        style = "yellow" if line.met is False else None
        table.add_row(line.row, *([] if one_column else [line.column]), *cells, style=style)
    return table


def _shown(lines: list[Line], rows: str) -> Table:
    """A line for each row, with a column for each of its values."""
    columns = list(dict.fromkeys(line.column for line in lines))
    by_row: dict[str, dict[str, str]] = {}
    for line in lines:
        by_row.setdefault(line.row, {})[line.column] = wording.ours(line)
    if len(columns) > MOST_COLUMNS:
        return Table(f"{len(by_row)} rows of {len(columns)} values are in the JSON file", box=None)
    table = Table(rows, *columns, box=None, pad_edge=False)
    for row, values in by_row.items():
        table.add_row(row, *(values.get(column, "") for column in columns))
    return table


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
