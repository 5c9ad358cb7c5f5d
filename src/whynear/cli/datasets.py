"""``whynear datasets``: the data sets that can be named in place of a file."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from numpy.lib import format as npy
from rich.console import Console
from rich.table import Table

from whynear.cli.shell import errors_in_a_sentence, plain
from whynear.datasets.bundled import LOADERS, bundled
from whynear.datasets.openml import TABLE


@dataclass(frozen=True)
class KnownSet:
    """A data set that has a name; None for what is not known without reading it, and for classes of a number."""

    name: str
    rows: int | None
    features: int | None
    classes: int | None
    origin: str


def datasets(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """List the data sets that can be named in place of a file."""
    with errors_in_a_sentence(debug):
        found = known_sets()
        if as_json:
            typer.echo(json.dumps([asdict(known) for known in found]))
        else:
            _show(Console(), found)


def known_sets() -> list[KnownSet]:
    """All sets by name, each from where `whynear.datasets.load` would take it."""
    sets = {name: _downloaded(name) for name in TABLE}
    sets |= {name: _bundled(name) for name in LOADERS}
    if folder := os.environ.get("WHYNEAR_DATA"):
        sets |= {path.stem: _kept(path) for path in Path(folder).glob("*.npz") if path.stem.isprintable()}
    return [sets[name] for name in sorted(sets)]


def _downloaded(name: str) -> KnownSet:
    entry = TABLE[name]
    rows, features = entry["shape"]
    classes = entry.get("labels", entry.get("counts"))
    origin = f"OpenML {entry['id']}, downloaded on first use"
    return KnownSet(name, rows, features, None if classes is None else len(classes), origin)


def _bundled(name: str) -> KnownSet:
    data = bundled(name)
    rows, features = data.X.shape
    return KnownSet(name, rows, features, len(data.target_names), "scikit-learn")


def _kept(path: Path) -> KnownSet:
    shape, classes = _shape(path, "X"), _shape(path, "target_names")
    rows, features = shape if shape is not None and len(shape) == 2 else (None, None)
    return KnownSet(path.stem, rows, features, classes[0] if classes else None, "file in WHYNEAR_DATA")


def _shape(path: Path, array: str) -> tuple[int, ...] | None:
    """The shape of an array from its header alone; None where there is none, or the file is damaged."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{array}.npy") as part:
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            return tuple(readers[npy.read_magic(part)](part)[0])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None


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
    place = f"WHYNEAR_DATA is {folder}." if folder else "WHYNEAR_DATA is not set: it may name a folder of .npz files."
    console.print(plain(place), highlight=False, soft_wrap=True)
