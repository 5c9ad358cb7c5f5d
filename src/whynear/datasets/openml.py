"""Data sets of the papers, downloaded from OpenML by scikit-learn."""

from __future__ import annotations

import tomllib
from http.client import HTTPException
from importlib.resources import files
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.utils import Bunch

from whynear.utils.text import counted

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
    labels = entry["labels"] if "labels" in entry else _labels_by_count(name, found, entry["counts"])
    if set(found) != set(labels):
        raise _changed(name, f"has the classes {sorted(set(found))}, expected {labels}")
    codes = found.map({label: code for code, label in enumerate(labels)})
    return codes.to_numpy(dtype=np.int64), list(entry.get("names", labels))


def _labels_by_count(name: str, found: pd.Series, counts: list[int]) -> list[str]:
    label_of = {int(count): str(label) for label, count in found.value_counts().items()}
    if sorted(label_of) != sorted(counts):
        raise _changed(name, f"has classes of {sorted(label_of)} rows, expected {sorted(counts)}")
    return [label_of[count] for count in counts]


def _changed(name: str, fact: str) -> ValueError:
    return ValueError(
        f"OpenML's data set {TABLE[name]['id']} is not the {name!r} of the papers: it {fact}. "
        f"Put a file {name}.npz in a folder and set WHYNEAR_DATA to it, or pass data_dir."
    )
