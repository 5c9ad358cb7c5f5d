"""The command line: one command, one call into the library."""

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from pandas import DataFrame
from rich.bar import Bar
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from whynear import Study, __version__
from whynear import study as run_study
from whynear.commands import compare, datasets, explain, learn, predict, retrieve
from whynear.commands.shell import errors_in_a_sentence, plain
from whynear.report.result import check_folder

app = typer.Typer(
    help="Which features truly decide that two cases are near?",
    epilog="Exit codes: 0 done; 2 bad input, told in one sentence; 130 interrupted; 1 unexpected, or --debug.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line, on terminals of any encoding."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    app()


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"whynear {__version__}")
        raise typer.Exit


@app.callback()
def _whynear(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Which features truly decide that two cases are near?"""


@app.command()
def study(
    table: Annotated[
        str, typer.Argument(help="A file (CSV, TSV, Parquet) or the name of a data set.")
    ] = "breast_cancer",
    target: Annotated[str | None, typer.Option(help="The column to predict; data sets know theirs.")] = None,
    learner: Annotated[
        str, typer.Option(help="auto compares several; or grlvq, gmlvq, lmnn, lgrlvq, lgmlvq, lann.")
    ] = "auto",
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and the model.")] = Path("study"),
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    bins: Annotated[int | None, typer.Option(help="Sort a numeric target into so many classes of equal size.")] = None,
    folds: Annotated[int, typer.Option(help="Number of folds to hold out in turn.")] = 5,
    effective_dim: Annotated[
        int | None, typer.Option(help="Directions of the data that count; chosen on held-out rows without it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same study.")] = 0,
    encoding: Annotated[str, typer.Option(help="Encoding of a text file.")] = "utf-8",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Learn a metric from a table and report which features matter."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        check_folder(out)
        with _live_progress(console) as show:
            result = run_study(
                table,
                target,
                learner=learner,
                drop=drop or [],
                bins=bins,
                folds=folds,
                effective_dim=effective_dim,
                random_state=seed,
                encoding=encoding,
                progress=show,
            )
            written = result.save(out)
        _print_result(console, result, written)


app.command()(learn)
app.command()(predict)
app.command()(explain)
app.command()(retrieve)
app.command()(compare)
app.command()(datasets)


def _print_result(console: Console, result: Study, written: list[Path]) -> None:
    console.print()
    console.print(plain(result.finding()), style="bold")
    console.print(_relevance_table(result.frame().head(10), ascii_only=console.options.ascii_only))
    for caveat in result.caveats:
        console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}")
    console.print(f"Written: {plain(str(written[-1]))} and {len(written) - 1} files beside it")


def _relevance_table(frame: DataFrame, ascii_only: bool, width: int = 30) -> Table:
    table = Table(title="Most relevant features (per standard deviation)", title_justify="left", box=None)
    table.add_column("feature", overflow="fold")
    table.add_column("least", justify="right")
    table.add_column("most", justify="right")
    table.add_column("strength")
    table.add_column("", width=width)
    largest = max(frame["upper"].max(), sys.float_info.min)
    for feature, lower, upper, strength in frame[["feature", "lower", "upper", "strength"]].to_numpy().tolist():
        first, last = round(width * lower / largest), round(width * upper / largest)
        bar = " " * first + "#" * max(1, last - first) if ascii_only else Bar(largest, lower, upper, color="blue")
        table.add_row(plain(feature), f"{lower:.3g}", f"{upper:.3g}", strength, bar)
    return table


@contextmanager
def _live_progress(console: Console) -> Iterator:
    columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("start", total=1.0)
        yield lambda step, share: bar.update(task, description=step, completed=share)
