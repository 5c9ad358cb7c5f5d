"""The list of data sets that can be opened by name."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from pathlib import Path

from numpy.lib import format as npy

from whynear.datasets.bundled import LOADERS, bundled
from whynear.datasets.openml import TABLE


@dataclass(frozen=True)
class KnownSet:
    """A data set with a name; sizes are None if unknown without reading it, classes also for a numeric target.

    Examples
    --------
    >>> KnownSet("iris", rows=150, features=4, classes=3, origin="scikit-learn").classes  # `known_sets` lists them
    3
    """

    name: str
    rows: int | None
    features: int | None
    classes: int | None
    origin: str


def known_sets() -> list[KnownSet]:
    """Return all data sets by name, each from the source that `load` uses.

    >>> next(known for known in known_sets() if known.name == "breast_cancer").classes
    2
    """
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
    """Return the shape of an array from its header alone; None if it is missing or the file is damaged."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{array}.npy") as part:
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            return tuple(readers[npy.read_magic(part)](part)[0])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None
