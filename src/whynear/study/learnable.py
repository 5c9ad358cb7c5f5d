"""Tables that no learner can be fitted to, refused with what to do instead."""

from __future__ import annotations

import numpy as np

from whynear.study.methods import n_varying
from whynear.study.settings import StudySettings
from whynear.tables.problem import Problem
from whynear.tables.refusal import TableRefused
from whynear.utils.text import listed

FEWEST_NUMERIC_ROWS = 10  # for a numeric target


def check_learnable(problem: Problem, learner: str, score: str = StudySettings.score) -> None:
    """Refuse a learner or score of classes for a numeric target, too few rows for one, and constant columns alone."""
    if problem.kind == "numbers":
        facts = f"{problem.source}: the target {problem.target!r} is numeric with {len(np.unique(problem.y)):,}"
        if score != StudySettings.score:
            raise TableRefused(
                f"{facts} different values, and {score} scores classes. Sort it into classes of equal size (--bins 3), "
                "or leave out --score.",
                bins=3,
            )
        if learner != "auto":
            raise TableRefused(
                f"{facts} different values, and {learner} predicts classes. Sort it into classes of equal size "
                "(--bins 3), or leave out --learner.",
                bins=3,
            )
        if len(problem.y) < FEWEST_NUMERIC_ROWS:
            raise ValueError(f"{facts} different values; at least {FEWEST_NUMERIC_ROWS} rows are needed. Add rows.")
    if not n_varying(problem.numbers()):
        raise ValueError(
            f"{problem.source}: all columns are constant: {listed(list(problem.X.columns))}. "
            "Add a column that differs between rows."
        )
