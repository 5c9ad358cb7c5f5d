"""``whynear studio``: a local page with studies, their tables, and answers to questions about single cases."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, terminated_as_interrupted
from whynear.utils.text import printable

NEEDED = ("fastapi", "uvicorn")


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
        if missing := [name for name in NEEDED if find_spec(name) is None]:
            raise ImportError(
                f'The studio needs {" and ".join(missing)}; not installed. Type: pip install "whynear[studio]"'
            )
        from whynear.studio.server import serve  # here, since it is an extra

        serve(table, folder, port, _say, typer.launch if browser else None)


def _say(address: str) -> None:
    typer.echo(f"Open {printable(address)}")
    typer.echo("The address works once. Ctrl-C ends the studio; its studies stay in the project.", err=True)
