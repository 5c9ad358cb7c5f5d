"""``whynear reproduce``: the tables and figures of the papers, made by the folder ``papers`` of the repository."""

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Literal

import typer

from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence

REPOSITORY = Path(__file__).parents[3]  # of an editable install


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
        _command().run(name, protocol, out, as_json, n_jobs=n_jobs, engine=engine, address=address)


def _command() -> ModuleType:
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
