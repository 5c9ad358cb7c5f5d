"""``whynear reproduce``: the tables and figures of the papers, ours beside the published."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from whynear.commands.reproduction_printing import print_outcome, progress_line
from whynear.commands.shell import errors_in_a_sentence, plain, terminated_as_interrupted
from whynear.report.result import check_folder
from whynear.reproduce import EXPERIMENTS, names_of
from whynear.reproduce import reproduce as reproduce_papers


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A table or figure, a paper, or all; without it, what there is.")
    ] = None,
    protocol: Annotated[
        Literal["fifth", "tenfold"] | None,
        typer.Option(help="For lann-table1: learn from a fifth of the cases, or from nine tenths; both without it."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for JSON, figures and finished cells.")] = Path("reproduction"),
    n_jobs: Annotated[int, typer.Option(help="Number of processes; all cores without it.")] = -1,
    backend: Annotated[
        Literal["processes", "dask", "ray"], typer.Option(help="Processes here, or the workers of a cluster.")
    ] = "processes",
    address: Annotated[
        str | None, typer.Option(help="Where the scheduler of the cluster is; without it one is started here.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Make the tables and figures of the papers, ours beside the published.

    What is finished is kept in the folder: a run that was stopped goes on where it was.
    """
    console = Console(quiet=as_json)
    with errors_in_a_sentence(debug):
        if name is None:
            _list(console, as_json)
            return
        names = names_of(name, protocol)
        check_folder(out)
        with terminated_as_interrupted(), progress_line(console, out) as watch:
            outcomes = reproduce_papers(
                names,
                out,
                n_jobs=n_jobs,
                backend=backend,
                address=address,
                watch=watch,
                finished=lambda outcome: print_outcome(console, outcome),
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
