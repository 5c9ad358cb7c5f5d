"""Compared learners on a table of overlapping classes, for tests of rejection in studies."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs

from tests.helpers.problems import problem_of
from whynear.data.problem import Problem
from whynear.study.comparison import Comparison, compare
from whynear.study.methods import Methods
from whynear.utils.progress import silent


def blobs(n_rows: int = 450, seed: int = 1) -> pd.DataFrame:
    """Three overlapping classes; every three rows belong to a patient, and days follow each other."""
    X, y = make_blobs(n_rows, centers=3, cluster_std=1.6, random_state=seed)
    names = np.array(["ash", "birch", "cedar"])[y]
    return pd.DataFrame(X, columns=["width", "height"]).assign(
        patient=np.arange(n_rows) // 3, day=np.arange(n_rows), kind=names
    )


@cache
def compared(setting: str = "", learners: tuple[str, ...] = ("grlvq",)) -> tuple[Problem, Comparison]:
    """The problem of the rows held out, and learners compared on three folds."""
    drop = [name for name in ("patient", "day") if name != {"group": "patient", "time": "day"}.get(setting)]
    given = {"group": {"group": "patient"}, "time": {"time": "day"}}.get(setting, {})
    problem = problem_of(blobs(), "kind", drop=drop, **given)
    comparison = compare(
        problem.X, problem.y, learners, Methods(0), n_folds=3, report=silent, groups=problem.separation
    )
    return problem.rows(comparison.places), comparison
