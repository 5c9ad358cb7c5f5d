"""Problems that can be learned, and by which learners."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from whynear.data.opening import is_vector, open_table, table_with_target
from whynear.data.problem import Problem, problem_from
from whynear.data.reading import NamedTable
from whynear.data.settings import Reading, TableRefused, with_suggestion
from whynear.learn import LEARNERS
from whynear.study.methods import COMPARED, n_varying
from whynear.study.settings import ClassWeight, StudySettings
from whynear.utils.text import listed

FEWEST_NUMERIC_ROWS = 10  # for a numeric target


def check_learnable(problem: Problem, settings: StudySettings) -> None:
    """Refuse settings that do not fit the target, and tables from which nothing can be learned."""
    if problem.kind == "numbers" and settings.score != StudySettings.score:
        raise _needs_classes(problem, f"{settings.score} scores classes", "score")
    check_weighable(problem, settings.class_weight)
    check_fittable(problem, settings.learner)


def check_weighable(problem: Problem, class_weight: ClassWeight) -> None:
    """Refuse weights of classes for a numeric target."""
    if problem.kind == "numbers" and class_weight is not None:
        raise _needs_classes(problem, "class_weight weighs classes", "class-weight")


def check_takes_weights(learner: str, class_weight: ClassWeight, weight: object) -> None:
    """Refuse weights for a learner that has none."""

    def takes(name: str) -> dict[str, bool]:
        return {
            "weight": weight is None or has_fit_parameter(LEARNERS[name], "sample_weight"),
            "class-weight": class_weight is None or "class_weight" in LEARNERS[name]().get_params(),
        }

    if lacking := [option for option, able in takes(learner).items() if not able]:
        able = [name for name in LEARNERS if all(takes(name).values())]
        raise ValueError(
            f"The learner {learner!r} takes no weights. Leave out --{lacking[0]}, or use one of {', '.join(able)} "
            "(--learner)."
        )


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


def learners_for(settings: StudySettings) -> tuple[str, ...]:
    """Return the learners of classes to compare."""
    return COMPARED if settings.learner == "auto" else (settings.learner,)


def caveats_of_weights(settings: StudySettings) -> tuple[str, ...]:
    """Return a caveat on what weights count for, if there are any."""
    if settings.reading.weight is None and settings.class_weight is None:
        return ()
    held_out = (
        "each held-out row counts once"
        if settings.reading.weight is None
        else "held-out rows count by their weights in scores, once in verdicts, tolerances and the analysis of errors"
    )
    return (
        "Weights count when learners are fitted, not for plain kNN, NCA, PLS, the kernel ridge models of verdicts and "
        f"the votes of neighbours in LMNN and LANN; {held_out}.",
    )


def learnable_problem(
    table: Any, target: Any, settings: StudySettings, open_it: Callable[..., NamedTable] = open_table
) -> Problem:
    """Return the features and the target of a table, as a study with these settings takes them.

    A `TableRefused` has further settings with which the table is taken, if there are some. ``open_it`` opens the table,
    as `open_table` does.
    """
    opened = lru_cache(partial(_opened, table, target, settings.reading.strict, open_it))  # by encoding

    def learnable(reading: Reading) -> Problem:
        problem = problem_from(*opened(reading.encoding), reading, settings.splitting)
        check_learnable(problem, settings)
        return problem

    return with_suggestion(learnable, settings.reading)


def _opened(
    table: Any, target: Any, strict: bool, open_it: Callable[..., NamedTable], encoding: str
) -> tuple[NamedTable, Hashable | None]:
    """Return the table and the name of its target, None where the table knows it."""
    if is_vector(target, table):
        return table_with_target(table, target), None
    return open_it(table, encoding, strict=strict), target
