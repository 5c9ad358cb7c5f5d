"""The command line with all its commands."""

import io
import sys
from typing import Annotated

import typer

from whynear import __version__
from whynear.cli.compare import compare
from whynear.cli.datasets import datasets
from whynear.cli.explain import explain
from whynear.cli.learn import learn
from whynear.cli.predict import predict
from whynear.cli.reproduce import reproduce
from whynear.cli.retrieve import retrieve
from whynear.cli.shell import RememberingGroup
from whynear.cli.stream import stream
from whynear.cli.studio import studio
from whynear.cli.study import study

app = typer.Typer(
    help="Which features truly decide that two cases are near?",
    epilog="Exit codes: 0 success; 2 invalid input; 130 interrupted; 1 unexpected error, or any error with --debug.",
    no_args_is_help=True,
    cls=RememberingGroup,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line on a terminal of any encoding."""
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors="replace")
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


for command in (study, learn, predict, explain, retrieve, stream, compare, datasets, studio, reproduce):
    app.command()(command)
