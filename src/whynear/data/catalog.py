"""Data sets by name: bundled, in a folder, or from OpenML."""

from __future__ import annotations

import difflib
import os
import tomllib
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.lib import format as npy
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from whynear.utils.text import counted

LOADERS: dict[str, Callable[..., Bunch]] = {
    "breast_cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}


def bundled(name: str) -> Bunch:
    """Return one of scikit-learn's bundled sets in the form of `load`."""
    found = LOADERS[name](as_frame=True)
    X = found.data.astype(float)
    return Bunch(
        X=X,
        y=found.target.to_numpy(dtype=np.int64),
        feature_names=list(X.columns),
        target_names=[str(label) for label in found.target_names],
        split=None,
        columns=list(X.columns),
        source=f"Bundled with scikit-learn (sklearn.datasets.load_{name}).",
        name=name,
    )


TABLE: dict[str, dict[str, Any]] = tomllib.loads((files(__package__) / "openml.toml").read_text(encoding="utf-8"))


class Unreachable(Exception):
    """Raised if OpenML cannot be reached; the message has the reason."""


def download(name: str) -> Bunch:
    """Download one set of the table, check its shape and classes, and return it in the form of `load`."""
    entry = TABLE[name]
    try:
        found = fetch_openml(data_id=entry["id"], as_frame=True, parser="auto", n_retries=1, delay=0.5, cache=True)
    except (OSError, HTTPException, ValueError) as error:
        raise Unreachable(str(error).strip("<>")) from error

    X = _features(found.data, entry)
    target = pd.Series(found.target).iloc[: entry.get("rows")]
    if X.shape != tuple(entry["shape"]) or len(target) != len(X):
        raise _changed(
            name, f"has {counted(X.shape[0], 'row')} and {counted(X.shape[1], 'feature')}, expected {entry['shape']}"
        )
    y, target_names = _target(name, target, entry)
    return Bunch(
        X=X,
        y=y,
        feature_names=list(X.columns),
        target_names=target_names,
        split=None,
        columns=[c for c in X.columns if c not in entry.get("unused", ())],
        source=f"Downloaded from OpenML (data set {entry['id']}) by scikit-learn's fetch_openml.",
        name=name,
    )


def _features(frame: pd.DataFrame, entry: dict[str, Any]) -> pd.DataFrame:
    keep = [c for c in frame.columns if c not in entry.get("omit", ())]
    keep = [c for c in keep if str(c).startswith(entry.get("prefix", ""))]
    X = frame.loc[:, keep].iloc[: entry.get("rows")].reset_index(drop=True).astype(float)
    X.columns = pd.Index([str(c).strip("'\"").rstrip(":") for c in keep])
    return X


def _target(
    name: str, target: pd.Series, entry: dict[str, Any]
) -> tuple[NDArray[np.float64] | NDArray[np.int64], list[str] | None]:
    if "labels" not in entry and "counts" not in entry:
        values = target.to_numpy(dtype=float)
        begins = entry.get("begins", [])
        if not np.allclose(values[: len(begins)], begins):
            raise _changed(name, f"has a target that begins {values[: len(begins)]}, expected {begins}")
        return values, None
    found = target.astype(str).str.strip("'\"")
    if "labels" in entry:
        labels = entry["labels"]
    else:
        label_of = {int(count): str(label) for label, count in found.value_counts().items()}
        if sorted(label_of) != sorted(entry["counts"]):
            raise _changed(name, f"has classes of {sorted(label_of)} rows, expected {sorted(entry['counts'])}")
        labels = [label_of[count] for count in entry["counts"]]
    if set(found) != set(labels):
        raise _changed(name, f"has the classes {sorted(set(found))}, expected {labels}")
    codes = found.map({label: code for code, label in enumerate(labels)})
    return codes.to_numpy(dtype=np.int64), list(entry.get("names", labels))


def _changed(name: str, fact: str) -> ValueError:
    return ValueError(
        f"OpenML's data set {TABLE[name]['id']} is not the {name!r} of the papers: it {fact}. "
        f"Put a file {name}.npz in a folder and set WHYNEAR_DATA to it, or pass data_dir."
    )


def read_npz(path: Path, name: str) -> Bunch:
    """Read one file without pickle and check that its arrays fit together; errors name the file."""
    arrays = _arrays(path)
    missing = [key for key in ("X", "y", "feature_names") if key not in arrays]
    if missing:
        raise _damaged(path, f"it lacks the arrays {', '.join(missing)}")
    X, y = arrays.pop("X"), arrays.pop("y")
    names = [str(feature) for feature in np.atleast_1d(arrays.pop("feature_names"))]
    classes = arrays.pop("target_names", None)
    split = arrays.pop("split", None)
    used = arrays.pop("paper_columns", None)

    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise _damaged(path, f"X must be a numeric table, got shape {X.shape} of {X.dtype} instead")
    n, d = X.shape
    if y.shape != (n,) or y.dtype.kind not in "fiub":
        raise _damaged(path, f"y must have {n} numbers, got shape {y.shape} of {y.dtype} instead")
    if len(names) != d or len(set(names)) != d:
        raise _damaged(path, f"feature_names must be {d} different names, got {len(set(names))} instead")
    if used is not None and (used.shape != (d,) or used.dtype != bool):
        raise _damaged(path, f"paper_columns must be {d} booleans, got {used.shape} of {used.dtype} instead")
    if split is not None and split.shape != (n,):
        raise _damaged(path, f"split must have {n} entries, got shape {split.shape} instead")
    if classes is not None:
        if not np.isin(y, np.arange(len(classes))).all():
            raise _damaged(path, f"y must hold codes from 0 to {len(classes) - 1}, as target_names says")
        y = y.astype(np.int64)

    # extra arrays come first, so that none of them replaces one of the documented names
    return Bunch(
        **{
            **arrays,
            "X": pd.DataFrame(X.astype(float), columns=names),
            "y": y.astype(float) if y.dtype.kind == "f" else y.astype(np.int64),
            "feature_names": names,
            "target_names": None if classes is None else [str(label) for label in classes],
            "split": split,
            "columns": names if used is None else [f for f, u in zip(names, used, strict=True) if u],
            "source": f"Read from the file {path}.",
            "name": name,
        }
    )


def _arrays(path: Path) -> dict[str, Any]:
    # checked first, because numpy takes a file that is no archive for a pickle and advises to load it
    if os.access(path, os.R_OK) and not zipfile.is_zipfile(path):
        raise _damaged(path, "it is not a whole archive of named arrays")
    try:
        with np.load(path, allow_pickle=False) as found:
            return {key: found[key] for key in found.files}
    except PermissionError:
        raise PermissionError(f"{path} must be readable; it is not. Change its permissions.") from None
    except (OSError, ValueError, EOFError, KeyError, MemoryError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, f"numpy reports: {error}") from error


def _damaged(path: Path, fact: str) -> ValueError:
    fact = fact.rstrip(".")
    return ValueError(f"{path} is damaged or no data set file: {fact}. Replace or remove the file.")


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
    sets = {}
    for name, entry in TABLE.items():
        rows, features = entry["shape"]
        classes, origin = entry.get("labels", entry.get("counts")), f"OpenML {entry['id']}, downloaded on first use"
        sets[name] = KnownSet(name, rows, features, None if classes is None else len(classes), origin)
    for name in LOADERS:
        data = bundled(name)
        rows, features = data.X.shape
        sets[name] = KnownSet(name, rows, features, len(data.target_names), "scikit-learn")
    for path in Path(os.environ["WHYNEAR_DATA"]).glob("*.npz") if os.environ.get("WHYNEAR_DATA") else ():
        if path.stem.isprintable():
            shape, classes = _shape(path, "X"), _shape(path, "target_names")
            rows, features = shape if shape is not None and len(shape) == 2 else (None, None)
            count = classes[0] if classes else None
            sets[path.stem] = KnownSet(path.stem, rows, features, count, "file in WHYNEAR_DATA")
    return [sets[name] for name in sorted(sets)]


def _shape(path: Path, array: str) -> tuple[int, ...] | None:
    """Return the shape of an array from its header alone; None if it is missing or the file is damaged."""
    try:
        with zipfile.ZipFile(path) as archive, archive.open(f"{array}.npy") as part:
            readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
            return tuple(readers[npy.read_magic(part)](part)[0])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile):
        return None


# sets of the papers, and replacements for them, that no public service offers in this form
ONLY_AS_FILES = frozenset([
    "colon", "covertype_10k", "hia_hou_mordred", "moving_squares", "outdoor", "pac_retention", "sea", "weather",
    "wine_spectra",
])  # fmt: skip


def load(name: str, data_dir: str | os.PathLike[str] | None = None) -> Bunch:
    """Load a data set by name.

    The sources are, in this order: ``<name>.npz`` in `data_dir`, ``<name>.npz`` in the folder that the environment
    variable ``WHYNEAR_DATA`` names, the sets bundled with scikit-learn, and OpenML.

    Parameters
    ----------
    name : str
        For example ``"iris"``, ``"tecator"``, ``"letter"``. The error for an unknown name lists all.
    data_dir : path or None, default=None
        A folder of ``.npz`` files, each with arrays ``X``, ``y``, ``feature_names`` and, for classes,
        ``target_names``. They are read without pickle.

    Returns
    -------
    Bunch
        ``X`` (DataFrame of float), ``y`` (class codes as int64, or a float target), ``feature_names``,
        ``target_names`` (None for regression), ``split`` ("train", "test" or "monitor" per row, or None),
        ``columns`` (names of the features that the papers keep), ``source`` (where it was found), ``name``,
        and further arrays of the file by their names in it.

    Raises
    ------
    ValueError
        If the name is unknown or no plain name, or a file is damaged.
    FileNotFoundError
        If the set is known but found in none of the sources.

    Examples
    --------
    >>> iris = load("iris")
    >>> iris.X.shape, iris.target_names
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    """
    if not isinstance(name, str) or not name or not name.isprintable() or set(name) & set('/\\:*?"<>|'):
        raise ValueError(f"name must be a plain name such as 'iris', without a path, got {name!r} instead.")
    looked: list[str] = []
    names: set[str] = set()
    places = {"data_dir": data_dir, "$WHYNEAR_DATA": os.environ.get("WHYNEAR_DATA") or None}
    for label, folder in ((label, Path(place)) for label, place in places.items() if place is not None):
        path = folder / f"{name}.npz"
        if path.is_file():
            return read_npz(path, name)
        looked.append(f"{path} ({label}: {'no such file' if folder.is_dir() else 'no such folder'})")
        names.update(file.stem for file in folder.glob("*.npz"))
    if not os.environ.get("WHYNEAR_DATA"):
        looked.append("$WHYNEAR_DATA (not set)")
    if data_dir is None:
        looked.append("data_dir (not given)")

    if name in LOADERS:
        return bundled(name)
    looked.append("the sets bundled with scikit-learn (not one of them)")
    if name in TABLE:
        try:
            return download(name)
        except Unreachable as error:
            looked.append(f"OpenML data set {TABLE[name]['id']} (not reached: {error})")
    else:
        looked.append("OpenML (not in the table of known sets)")

    found = "; ".join(looked)
    remedy = f"Set the environment variable WHYNEAR_DATA to a folder that holds {name}.npz, or pass data_dir=<folder>"
    offer = f"Names that need no download: {', '.join(sorted(names | set(LOADERS)))}."
    if name in TABLE or name in ONLY_AS_FILES:
        online = ", or try again with a network connection" if name in TABLE else ""
        raise FileNotFoundError(f"The data set {name!r} was not found. Looked in: {found}. {remedy}{online}. {offer}")
    every = sorted(names | set(LOADERS) | set(TABLE) | ONLY_AS_FILES)
    close = difflib.get_close_matches(name, every, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"name must be a known data set, got {name!r} instead.{guess} Looked in: {found}. {offer} "
        f"Names from OpenML: {', '.join(sorted(TABLE))}. "
        f"Names only from files: {', '.join(sorted(ONLY_AS_FILES))}. {remedy}."
    )
