"""Studies that several tests read, each made once, and tables for studies."""

from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.gasoline import gasoline
from tests.helpers.measured_tables import houses
from whynear.study.interpretation import PlacedRows


@cache
def iris_study() -> wn.Study:
    """The study of iris with a constant column, by GMLVQ on three folds."""
    return wn.study(
        load_iris(as_frame=True).frame.assign(constant=3.0), "target", learner="gmlvq", splitting=wn.Splitting(folds=3)
    )


@cache
def small_study() -> wn.Study:
    """The study of iris by name, by GRLVQ on two folds."""
    return wn.study("iris", learner="grlvq", splitting=wn.Splitting(folds=2))


@cache
def numeric_study() -> wn.Study:
    """The study of a numeric target: the sum of two of four columns."""
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 4)), columns=["a", "b", "c", "d"])
    return wn.study(X.assign(y=3 * X["a"] + X["b"]), "y", splitting=wn.Splitting(folds=2))


@cache
def houses_study() -> wn.Study:
    """The study of a measured target, of a table with categories, gaps and names."""
    X, y = houses()
    return wn.study(X.assign(price=y), "price", splitting=wn.Splitting(folds=3))


class _Over(Exception):
    """A study has what a test needs of it."""


def part_of_study(part: str, *table: object, **settings: object) -> Any:
    """A part of a study by the name by which its progress gives it; what would follow is not made."""
    found = []

    def finished(name: str, value: object) -> None:
        if name == part:
            found.append(value)
            raise _Over

    with pytest.raises(_Over):
        wn.study(*table, **settings, progress=SimpleNamespace(step=lambda _step, _share: None, finished=finished))
    return found[0]


def hostile() -> pd.DataFrame:
    """A table with names and labels that look like markup, scripts or the end of a script."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    names = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(2)>", "{{ 7 * 7 }} & \"quoted'"]
    label = np.where(X[:, 0] > 0, "<b>up</b>", "</script><svg onload=alert(3)>")
    return pd.DataFrame(X, columns=names).assign(**{"<i>target</i>": label})


def rows_of_two_classes(n_rows: int, **columns: object) -> pd.DataFrame:
    """The columns, and a target ``y`` of the classes u and v in turn."""
    return pd.DataFrame({**columns, "y": np.tile(["u", "v"], n_rows)[:n_rows]})


def measured(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """The target is the sum of two columns; a third is a copy of one of them, two are noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 2] = X[:, 1] + 1e-3 * rng.standard_normal(n)
    table = pd.DataFrame(X, columns=["sure", "one", "other", "noise 1", "noise 2"])
    return table.assign(y=3 * X[:, 0] + 2 * X[:, 1] + 0.1 * rng.standard_normal(n))


def of_patients(n_patients: int, rows_each: int = 5, seed: int = 0) -> pd.DataFrame:
    """Rows of patients with a class each: ``sign`` tells it in part, the other columns only who the patient is.

    Where rows of a patient are in both parts of a split, the class can be read off the patient.
    """
    rng = np.random.default_rng(seed)
    ill = np.arange(n_patients) % 2 == 0
    of_row = np.repeat(np.arange(n_patients), rows_each)
    face = rng.standard_normal((n_patients, 3))[of_row] + 0.05 * rng.standard_normal((len(of_row), 3))
    sign = ill[of_row] + 1.0 * rng.standard_normal(n_patients)[of_row] + 0.05 * rng.standard_normal(len(of_row))
    table = pd.DataFrame(face, columns=["nose", "chin", "brow"]).assign(sign=sign)
    return table.assign(patient=[f"P{number}" for number in of_row], y=np.where(ill, "ill", "well")[of_row])


@cache
def octane_study() -> wn.Study:
    """The study of spectra by a linear map with a numeric target, a temperature and a category."""
    table = gasoline(50).assign(temperature=np.arange(50) % 7.0, site=np.tile(["a", "b", "c", "d", "e"], 10))
    table.loc[3, "1212nm"] = np.nan
    return wn.study(table, "octane", learner="minimum norm", splitting=wn.Splitting(folds=3))


@cache
def grade_study() -> wn.Study:
    """The study of spectra of two classes, by GRLVQ."""
    return wn.study(gasoline(80, two_classes=True), "grade", learner="grlvq", splitting=wn.Splitting(folds=3))


def of_days(n_days: int, rows_each: int = 8, seed: int = 0) -> pd.DataFrame:
    """Rows of days with a class each: ``sign`` tells it in part, the other columns drift and tell which day it is.

    Where other rows of a day are learned from, its class can be read off the drift; that of later days cannot.
    """
    rng = np.random.default_rng(seed)
    good = rng.permutation(np.arange(n_days) % 2 == 0)
    day = np.repeat(np.arange(n_days), rows_each)
    drift = np.cumsum(rng.standard_normal((n_days, 3)), axis=0)[day] + 0.05 * rng.standard_normal((len(day), 3))
    table = pd.DataFrame(drift, columns=["heat", "wear", "load"])
    return table.assign(sign=good[day] + rng.standard_normal(len(day)), day=day, y=np.where(good, "good", "bad")[day])


def with_rows(study: wn.Study, n_rows: int, seed: int = 0) -> wn.Study:
    """The study of classes as if its table had so many further rows, near the cases on the maps."""
    rng = np.random.default_rng(seed)
    near = rng.integers(0, len(study.shown.y), n_rows)
    maps = {
        name: points[near] + 0.05 * points.std(axis=0) * rng.standard_normal((n_rows, 2))
        for name, points in study.maps.items()
    }
    names = pd.RangeIndex(1_000_001, 1_000_001 + n_rows)
    return replace(study, others=PlacedRows(names, study.shown.y[near], maps, n_rows))
