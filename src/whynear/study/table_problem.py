"""From a table that fits in memory to a problem that can be studied, or a refusal with settings that work."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache, partial
from typing import Any

from whynear.datasets.features_and_target import is_vector, table_with_target
from whynear.datasets.opening import open_table
from whynear.study.learnable import check_learnable
from whynear.study.settings import StudySettings
from whynear.tables.problem import Problem, problem_from
from whynear.tables.reading import NamedTable
from whynear.tables.refusal import with_suggestion
from whynear.tables.settings import Reading


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
