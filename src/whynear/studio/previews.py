"""A table before anything is fitted: what its columns hold, what each choice leads to, and what a study will cost."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.datasets.opening import open_table
from whynear.studio.consequences import consequences
from whynear.studio.table_models import ColumnInfo, Cost, Preview, Refusal
from whynear.study.estimate import Estimate, estimate
from whynear.study.learnable import learners_for
from whynear.study.settings import StudySettings
from whynear.study.table_problem import learnable_problem
from whynear.tables.problem import Problem
from whynear.tables.reading import NamedTable
from whynear.utils.text import printable

HEAD_ROWS = 8
MOST_LETTERS = 60  # of a value
MOST_EXAMPLES = 5
MOST_CLASSES = 20  # that a likely target has
_TARGETS = re.compile(r"^(target|class|label|y|outcome|diagnosis|species|response|type)$", re.IGNORECASE)


@lru_cache(maxsize=4)
def opened(table: str | Path, encoding: str = "auto", *, strict: bool = False) -> NamedTable:
    """Return a table as `open_table` does; the last few are kept."""
    return open_table(table, encoding, strict=strict)


def preview(table: str | Path, target: str | None, settings: StudySettings) -> Preview:
    """Return what a study with these settings would take from a table; without a target, the likeliest is taken."""
    given = opened(table, settings.reading.encoding, strict=settings.reading.strict)
    given = replace(given, frame=_countable(given.frame))
    targets = likely_targets(given)
    target = (given.target or targets[0]) if target is None else target
    try:
        problem = learnable_problem(table, target, settings, opened)
    except (ValueError, TypeError) as error:
        suggestion = getattr(error, "settings", {}) if getattr(error, "is_tried", False) else {}
        refusal = Refusal(message=str(error), suggestion=suggestion)
        return _shown(given, target, targets, settings, None, refusal)
    return _shown(given, target, targets, settings, problem, None)


def likely_targets(table: NamedTable) -> list[str]:
    """Return the columns, the likeliest target first: by its name, as the last one, by few different values."""
    frame = table.frame
    names = [str(name) for name in frame.columns]
    few = {name: 2 <= frame[name].nunique() <= MOST_CLASSES for name in names}

    def unlikeliness(name: str) -> tuple[bool, ...]:
        return name != table.target, _TARGETS.match(name) is None, name != names[-1], not few[name]

    return sorted(names, key=unlikeliness)


def cost_of(problem: Problem, settings: StudySettings) -> Estimate:
    """Return the time and the memory that a study of this problem will take."""
    shape, spectra = problem.numbers().shape, problem.axis is not None
    return estimate(*shape, len(problem.classes), learners_for(settings), settings.splitting.folds, spectra=spectra)


def _shown(
    table: NamedTable,
    target: str,
    targets: list[str],
    settings: StudySettings,
    problem: Problem | None,
    refusal: Refusal | None,
) -> Preview:
    kinds = {} if problem is None else {row["column"]: row for row in problem.columns.to_dict("records")}
    needs = None if problem is None else cost_of(problem, settings)
    return Preview(
        source=table.source,
        rows=len(table.frame),
        columns=[_column(table.frame[name], kinds, target, settings, problem) for name in table.frame.columns],
        head=[[_text(value) for value in row] for row in table.frame.head(HEAD_ROWS).itertuples(index=False)],
        targets=targets,
        target=target,
        target_kind=None if problem is None else problem.kind,
        classes=[] if problem is None else [(printable(name), count) for name, count in problem.classes],
        range=None if problem is None else problem.range,
        summary="" if problem is None else problem.summary,
        consequences=[] if problem is None else consequences(problem, settings),
        cost=None if needs is None else Cost(seconds=needs.seconds, bytes=needs.n_bytes, text=str(needs)),
        refusal=refusal,
    )


def _column(
    column: pd.Series, kinds: dict[Any, Any], target: str, settings: StudySettings, problem: Problem | None
) -> ColumnInfo:
    name = str(column.name)
    known = kinds.get(name)
    rough = "numbers" if pd.api.types.is_numeric_dtype(column) else "text"
    of_rows: dict[Any, str | None] = {
        "group": settings.splitting.group,
        "time": settings.splitting.time,
        "weight": settings.reading.weight,
        "index": settings.reading.index,
    }
    taken = name not in settings.reading.drop if problem is None else known is not None
    role: Any = next((role for role, chosen in of_rows.items() if chosen == name), "feature" if taken else "left out")
    read = column if problem is None or name not in problem.X.columns else problem.X[name]
    return ColumnInfo(
        name=name,
        kind=rough if known is None else known["kind"],
        missing=int(read.isna().sum()),
        distinct=int(column.nunique()),
        role="target" if name == target else role,
        examples=[_text(value) or "" for value in column.dropna().unique()[:MOST_EXAMPLES]],
    )


def _countable(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table whose values can be counted: lists, which a study refuses by name, become text."""
    countable = frame.copy(deep=False)
    for name in frame.columns:
        try:
            frame[name].nunique()
        except TypeError:  # a list has no hash
            countable[name] = frame[name].map(str, na_action="ignore")
    return countable


def _text(value: Any) -> str | None:
    return None if pd.isna(value) else printable(str(value))[:MOST_LETTERS]
