"""Data sets in .npz files: arrays X, y, feature_names and optional ones."""

from __future__ import annotations

import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils import Bunch


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
