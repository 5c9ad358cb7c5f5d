"""Real data sets by name: from files, from scikit-learn, from OpenML, in this order."""

from __future__ import annotations

import difflib
import os
from pathlib import Path

from sklearn.utils import Bunch

from whynear.datasets.bundled import LOADERS, bundled
from whynear.datasets.npz import read_npz
from whynear.datasets.openml import TABLE, Unreachable, download

# sets of the papers, and replacements for them, that no public service offers in this form
ONLY_AS_FILES = frozenset(
    {
        "colon",
        "covertype_10k",
        "hia_hou_mordred",
        "moving_squares",
        "outdoor",
        "pac_retention",
        "sea",
        "weather",
        "wine_spectra",
    }
)


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
    for folder, label in _folders(data_dir):
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

    places = "; ".join(looked)
    remedy = f"Set the environment variable WHYNEAR_DATA to a folder that holds {name}.npz, or pass data_dir=<folder>"
    offer = f"Names that need no download: {', '.join(sorted(names | set(LOADERS)))}."
    if name in TABLE or name in ONLY_AS_FILES:
        online = ", or try again with a network connection" if name in TABLE else ""
        raise FileNotFoundError(f"The data set {name!r} was not found. Looked in: {places}. {remedy}{online}. {offer}")
    every = sorted(names | set(LOADERS) | set(TABLE) | ONLY_AS_FILES)
    close = difflib.get_close_matches(name, every, n=1)
    guess = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(
        f"name must be a known data set, got {name!r} instead.{guess} Looked in: {places}. {offer} "
        f"Names from OpenML: {', '.join(sorted(TABLE))}. "
        f"Names only from files: {', '.join(sorted(ONLY_AS_FILES))}. {remedy}."
    )


def _folders(data_dir: str | os.PathLike[str] | None) -> list[tuple[Path, str]]:
    folders = []
    if data_dir is not None:
        folders.append((Path(data_dir), "data_dir"))
    if os.environ.get("WHYNEAR_DATA"):
        folders.append((Path(os.environ["WHYNEAR_DATA"]), "$WHYNEAR_DATA"))
    return folders
