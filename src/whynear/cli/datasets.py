"""``whynear datasets``: the data sets that can be used by name."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain

if TYPE_CHECKING:
    from whynear.data.catalog import KnownSet


def datasets(as_json: options.JsonNotTable = False, debug: options.Debug = False) -> None:
    """List the data sets that can be used by name instead of a file."""
    with errors_in_a_sentence(debug):
        found = wn.datasets.known_sets()
        if as_json:
            typer.echo(json.dumps([asdict(known) for known in found]))
        else:
            _show(Console(), found)


def _show(console: Console, found: list[KnownSet]) -> None:
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
