"""The command line with all its commands; the short ones are here."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.explain import explain
from whynear.cli.predict import predict
from whynear.cli.retrieve import retrieve
from whynear.cli.shell import (
    RememberingGroup,
    errors_in_a_sentence,
    plain,
    step_bar,
    terminated_as_interrupted,
    warnings_in_a_sentence,
)
from whynear.cli.study import study
from whynear.learn.registry import LEARNERS, MINIMUM_NORM, OF_NUMBERS
from whynear.study.settings import grouped
from whynear.utils.files import check_file
from whynear.utils.text import counted, printable

if TYPE_CHECKING:
    from whynear.data.catalog import KnownSet
    from whynear.study.differences import StudyDifferences

NEEDED_BY_THE_STUDIO = ("fastapi", "uvicorn")
MOST_VERDICTS = 30  # of those that differ between two studies
REPOSITORY = Path(__file__).parents[3]  # of an editable install

app = typer.Typer(
    help="Which features truly decide that two cases are near?",
    epilog="Exit codes: 0 success; 2 invalid input; 130 interrupted; 1 unexpected error, or any error with --debug.",
    no_args_is_help=True,
    cls=RememberingGroup,
    pretty_exceptions_enable=False,
)


@options.with_settings(
    "learner out raw score drop index group time weight class_weight bins categories impute missing category number "
    "date drop_missing_target strict spectra random_state encoding",
    learner=f"One of {', '.join(LEARNERS)}; for a measured target {' or '.join(OF_NUMBERS)}; auto is gmlvq, or "
    f"{MINIMUM_NORM} for a measured target.",
)
def learn(
    table: options.Table,
    target: options.Target = None,
    *,
    out: Annotated[Path, typer.Option(help="The file for the model.")] = Path("model.whynear"),
    raw: Annotated[bool, typer.Option("--raw", help="Do not standardise the columns.")] = False,
    score: Annotated[bool, typer.Option("--score", help="Also show the accuracy on held-out folds.")] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
    **settings: Any,
) -> None:
    """Learn a metric from a table and save it, for use by `retrieve` and whynear.load."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        check_file(out)
        with warnings_in_a_sentence(quiet=quiet), console.status(f"learn with {plain(settings['learner'])}"):
            learned = wn.learn_table(table, target, raw=raw, score=score, **grouped(settings))
            wn.save(learned.model, out)
        console.print(plain(learned.finding()), soft_wrap=True, highlight=False)
        console.print(plain(f"Saved: {out}"), soft_wrap=True, highlight=False)
        for caveat in learned.problem.caveats:
            console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}", soft_wrap=True, highlight=False)


def stream(
    table: Annotated[
        str, typer.Argument(help="A file (CSV, TSV, Parquet), a pipe, - for standard input, or the name of a data set.")
    ],
    target: options.Target = None,
    out: Annotated[Path, typer.Option(help="The folder for the results; an unfinished run in it goes on.")] = Path(
        "stream"
    ),
    drop: options.Drop = None,
    index: Annotated[
        str | None, typer.Option(help="The column with the names of the rows; a row that comes again is left out.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", help="The column with the times of the rows; 'COLUMN=%d/%m/%Y' gives their format."),
    ] = None,
    neighbors: Annotated[int, typer.Option(help="Number of remembered rows that vote.")] = 5,
    max_size: Annotated[int, typer.Option(help="The most rows to remember, for each metric.")] = 5000,
    metric: Annotated[
        Literal["guarded", "plain", "raw", "z-scores"],
        typer.Option(help="Metrics that learn along, guarded by accuracy, or one of them alone."),
    ] = "guarded",
    every: Annotated[
        int, typer.Option(help="Rows between two states on disk, from which a killed run goes on.")
    ] = 5000,
    seed: options.Seed = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew where the folder holds a run.")] = False,
    encoding: options.Encoding = "auto",
    decimal: Annotated[
        Literal["auto", ".", ","],
        typer.Option(help="The sign before the decimals; auto takes the one that a number shows first."),
    ] = "auto",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict each row of a stream before it is learned, and say what drifts."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        from whynear.stream.running import run_stream  # here, since it imports pandas and matplotlib

        bar = step_bar("read", quiet=quiet)
        with terminated_as_interrupted(), warnings_in_a_sentence(quiet=quiet), bar as report:
            result = run_stream(
                table, target, out, drop=drop or [], index=index, time=time, every=every, overwrite=overwrite,
                encoding=encoding, decimal=decimal, progress=report, n_neighbors=neighbors, max_size=max_size,
                metric=metric, random_state=seed,
            )  # fmt: skip
        console.print(plain(result.finding()), style="bold")
        console.print(f"Written: {plain(out / 'report.html')} and 5 other files", highlight=False)


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
            _show_differences(Console(), differences)


def _show_differences(console: Console, differences: StudyDifferences) -> None:
    console.print(plain(" ".join(differences.sentences())), style="bold", highlight=False)
    console.print(_fact_table(differences))
    if differences.changed or differences.gained or differences.lost:
        console.print(_verdict_table(differences))
    for which, caveats in (("first", differences.caveats_of_first), ("second", differences.caveats_of_second)):
        for caveat in caveats:
            console.print(f"[yellow]Caveat of the {which} only:[/yellow] {plain(caveat)}", highlight=False)


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
    for row in rows[:MOST_VERDICTS]:
        table.add_row(*map(plain, row))
    if (more := len(rows) - MOST_VERDICTS) > 0:
        table.caption = f"and {counted(more, 'more feature', 'more features')}: --json shows all"
        table.caption_justify = "left"
    return table


def datasets(as_json: options.JsonNotTable = False, debug: options.Debug = False) -> None:
    """List the data sets that can be used by name instead of a file."""
    with errors_in_a_sentence(debug):
        found = wn.datasets.known_sets()
        if as_json:
            typer.echo(json.dumps([asdict(known) for known in found]))
        else:
            _show_sets(Console(), found)


def _show_sets(console: Console, found: list[KnownSet]) -> None:
    table = Table("name", box=None)
    for name in ("rows", "features", "classes"):
        table.add_column(name, justify="right")
    table.add_column("from")
    for known in found:
        counts = ("" if count is None else f"{count:,}" for count in (known.rows, known.features))
        classes = "numeric" if known.classes is None and known.rows is not None else str(known.classes or "")
        table.add_row(plain(known.name), *counts, classes, known.origin)
    console.print(table, highlight=False)
    folder = os.environ.get("WHYNEAR_DATA")
    hint = (
        f"WHYNEAR_DATA is {folder}."
        if folder
        else "WHYNEAR_DATA is not set. Set it to a folder of .npz files for more."
    )
    console.print(plain(hint), highlight=False, soft_wrap=True)


def studio(
    table: Annotated[
        str | None, typer.Argument(help="A file that is added to the project, or the name of a data set to study.")
    ] = None,
    port: Annotated[int, typer.Option(help="The port; the next free one if it is in use.", min=1, max=65_535)] = 8777,
    folder: Annotated[Path, typer.Option(help="The folder of the project.")] = Path("studio"),
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    debug: options.Debug = False,
) -> None:
    """Open a local page to study tables and to ask about single cases."""
    with errors_in_a_sentence(debug), terminated_as_interrupted():
        if missing := [name for name in NEEDED_BY_THE_STUDIO if find_spec(name) is None]:
            raise ImportError(
                f'The studio needs {" and ".join(missing)}; not installed. Type: pip install "whynear[studio]"'
            )
        from whynear.studio.server import serve  # here, since it is an extra

        serve(table, folder, port, _say_address, typer.launch if browser else None)


def _say_address(address: str) -> None:
    typer.echo(f"Open {printable(address)}")
    typer.echo("The address works once. Ctrl-C ends the studio; its studies stay in the project.", err=True)


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="A table or figure, a paper, or all; without it, all names are listed.")
    ] = None,
    protocol: Annotated[
        Literal["fifth", "tenfold"] | None,
        typer.Option(help="For lann-table1: fit to a fifth of the rows, or to nine tenths; both without it."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for JSON, figures and finished cells.")] = Path("reproduction"),
    n_jobs: Annotated[int, typer.Option(help="Number of processes; all cores without it.")] = -1,
    engine: options.Engine = "processes",
    address: options.Address = None,
    as_json: options.JsonNotTables = False,
    debug: options.Debug = False,
) -> None:
    """Make the tables and figures of the papers, with our values beside the published ones.

    Needs the folder papers of the repository. Finished cells are kept in the folder of --out, so that an interrupted
    run can be continued.
    """
    with errors_in_a_sentence(debug):
        _papers().run(name, protocol, out, as_json, n_jobs=n_jobs, engine=engine, address=address)


def _papers() -> ModuleType:
    """The module with the command, from the current folder or from the repository of an editable install."""
    for folder in (Path.cwd(), REPOSITORY):
        if (folder / "papers" / "command.py").is_file():
            sys.path.insert(0, str(folder))
            return import_module("papers.command")
    raise FileNotFoundError(
        "The folder papers, which makes the tables and figures, is not part of the installed package: get a copy of "
        "the repository or the source archive (pip download --no-binary whynear --no-deps whynear), and run "
        "whynear reproduce in its folder."
    )


def main() -> None:
    """Run the command line on a terminal of any encoding."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="replace")
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"whynear {wn.__version__}")
        raise typer.Exit


@app.callback()
def _whynear(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Which features truly decide that two cases are near?"""


for command in (study, learn, predict, explain, retrieve, stream, compare, datasets, studio, reproduce):
    app.command()(command)
