"""``whynear compare``: what differs between two studies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain
from whynear.utils.text import counted

if TYPE_CHECKING:
    from whynear.study.differences import StudyDifferences

MOST_FEATURES = 30


def compare(
    first: Annotated[Path, typer.Argument(metavar="STUDY", help="A folder written by `whynear study`.")],
    second: Annotated[Path, typer.Argument(metavar="STUDY", help="Another folder; or the study.json in a folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text and tables.")] = False,
    debug: options.Debug = False,
) -> None:
    """Show what differs between two studies."""
    with errors_in_a_sentence(debug):
        differences = wn.compare_studies(first, second)
        if as_json:
            typer.echo(json.dumps(differences.to_dict()))
        else:
            _show(Console(), differences)


def _show(console: Console, differences: StudyDifferences) -> None:
    console.print(plain(" ".join(differences.sentences())), style="bold", highlight=False)
    console.print(_fact_table(differences))
    if differences.changed or differences.gained or differences.lost:
        console.print(_verdict_table(differences))
    for study, caveats in (("first", differences.caveats_of_first), ("second", differences.caveats_of_second)):
        for caveat in caveats:
            console.print(f"[yellow]Caveat of the {study} only:[/yellow] {plain(caveat)}", highlight=False)


def _fact_table(differences: StudyDifferences) -> Table:
    from whynear.study.score import name_of

    first, second = differences.first, differences.second
    table = Table("", "first", "second", box=None)
    for name, of_first, of_second in (
        ("study", first.name, second.name),
        ("table", first.source, second.source),
        ("target", first.target, second.target),
        ("rows", first.rows, second.rows),
        ("chosen", first.chosen, second.chosen),
        (f"held-out {name_of(first.measure)}", first.score, second.score),
        ("effective dimension", first.effective_dim, second.effective_dim),
        *(setting for setting in differences.settings if setting[0] != "effective dimension"),
    ):
        table.add_row(plain(name), *("" if value is None else plain(value) for value in (of_first, of_second)))
    return table


def _verdict_table(differences: StudyDifferences) -> Table:
    table = Table("feature", "first", "second", title="Verdicts on features", title_justify="left", box=None)
    rows = [
        *differences.changed,
        *((name, "", verdict) for name, verdict in differences.gained),
        *((name, verdict, "") for name, verdict in differences.lost),
    ]
    for row in rows[:MOST_FEATURES]:
        table.add_row(*map(plain, row))
    if (more := len(rows) - MOST_FEATURES) > 0:
        table.caption, table.caption_justify = (
            f"and {counted(more, 'more feature', 'more features')}: --json shows all",
            "left",
        )
    return table
