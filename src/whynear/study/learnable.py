"""Which targets can be studied by which learners, with which settings."""

from __future__ import annotations

import numpy as np

from whynear.study.methods import COMPARED, SIMPLEST_FIRST, n_varying, takes_weights
from whynear.study.settings import StudySettings
from whynear.tables.problem import Problem
from whynear.tables.refusal import TableRefused
from whynear.utils.text import listed

FEWEST_NUMERIC_ROWS = 10  # for a numeric target


def check_learnable(problem: Problem, settings: StudySettings) -> None:
    """Refuse settings that do not fit the target, and tables from which nothing can be learned."""
    if problem.kind == "numbers":
        if settings.score != StudySettings.score:
            raise _needs_classes(problem, f"{settings.score} scores classes", "score")
        if settings.class_weight is not None:
            raise _needs_classes(problem, "class_weight weighs classes", "class-weight")
    if caveats_of_weights(settings) and settings.learner != "auto" and not takes_weights(settings.learner):
        able = ", ".join(name for name in SIMPLEST_FIRST if takes_weights(name))
        raise ValueError(
            f"{settings.learner} takes no weights of rows or classes. Use one of {able} (--learner), or leave out "
            "--weight and --class-weight."
        )
    check_fittable(problem, settings.learner)


def check_fittable(problem: Problem, learner: str) -> None:
    """Refuse a learner of classes for a numeric target, too few rows for one, and a table of constant columns."""
    if problem.kind == "numbers":
        if learner != "auto":
            raise _needs_classes(problem, f"{learner} predicts classes", "learner")
        if len(problem.y) < FEWEST_NUMERIC_ROWS:
            raise ValueError(f"{_facts(problem)}; at least {FEWEST_NUMERIC_ROWS} rows are needed. Add rows.")
    if not n_varying(problem.numbers()):
        raise ValueError(
            f"{problem.source}: all columns are constant: {listed(list(problem.X.columns))}. "
            "Add a column that differs between rows."
        )


def _needs_classes(problem: Problem, why: str, option: str) -> TableRefused:
    return TableRefused(
        f"{_facts(problem)}, and {why}. Sort it into classes of equal size (--bins 3), or leave out --{option}.", bins=3
    )


def _facts(problem: Problem) -> str:
    n_values = len(np.unique(problem.y))
    return f"{problem.source}: the target {problem.target!r} is numeric with {n_values:,} different values"


def learners_for(settings: StudySettings) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the learners of classes to compare, and a caveat if some are left out because they take no weights."""
    learners = COMPARED if settings.learner == "auto" else (settings.learner,)
    if settings.weight is None and settings.class_weight is None:
        return learners, ()
    able = tuple(name for name in learners if takes_weights(name))
    others = ", ".join(name.upper() for name in learners if name not in able)
    return able, (f"{others} take no weights and were not compared.",) if others else ()


def caveats_of_weights(settings: StudySettings) -> tuple[str, ...]:
    """Return a caveat on what weights count for, if there are any."""
    if settings.weight is None and settings.class_weight is None:
        return ()
    return (
        "Weights count when learners are fitted, not for plain kNN, NCA, PLS and the kernel ridge models of verdicts; "
        "each held-out row counts once.",
    )
