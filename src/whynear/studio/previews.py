"""What a table would be learned as, and what each choice about its columns would change."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.data.caveats import caveats_of_codes
from whynear.data.opening import open_table
from whynear.data.problem import Problem
from whynear.data.reading import NamedTable
from whynear.studio.models import ColumnInfo, Consequence, Cost, Preview, Refusal
from whynear.study.fits import Estimate, estimate
from whynear.study.learning import learnable_problem
from whynear.study.settings import StudySettings
from whynear.utils.text import counted, listed, printable

FEW_ROWS = 20  # of a class
MOST_CLASSES_NAMED = 4
UNEVEN_SHARE = 0.9  # of the largest class


def consequences(problem: Problem, settings: StudySettings) -> list[Consequence]:
    """Return what follows from the settings, then what was decided about columns, then what limits the results."""
    said = [
        *_of_target(problem, settings),
        *(Consequence(setting=name, text=text) for name, text in _stated(problem, settings)),
        *(Consequence(setting="table", text=text) for text in problem.decisions),
    ]
    codes = caveats_of_codes(problem.X)
    others = [text for text in problem.caveats if text not in problem.decisions]
    limits = (Consequence(setting="missing" if text in codes else "table", text=text, warning=True) for text in others)
    return [*said, *limits]


def _of_target(problem: Problem, settings: StudySettings) -> Iterator[Consequence]:
    if problem.range is not None:
        least, most = problem.range
        text = (
            f"{problem.target!r} holds numbers from {least:.4g} to {most:.4g}: they are predicted by a linear map and "
            "scored by the variance explained. With bins=3 they become three classes of equal size."
        )
        yield Consequence(setting="target", text=text)
        return
    names = ", ".join(f"{name!r} {count:,}" for name, count in problem.classes[:MOST_CLASSES_NAMED])
    more = f" and {len(problem.classes) - MOST_CLASSES_NAMED} more" if len(problem.classes) > MOST_CLASSES_NAMED else ""
    yield Consequence(setting="target", text=f"{problem.target!r} has {len(problem.classes)} classes: {names}{more}.")
    total = sum(count for _, count in problem.classes)
    largest, most_rows = max(problem.classes, key=lambda one: one[1])
    if most_rows > UNEVEN_SHARE * total and settings.score == "accuracy":
        text = (
            f"{most_rows / total:.0%} of the rows are {largest!r}: always predicting it is right as often. Score by "
            "balanced accuracy to count all classes alike."
        )
        yield Consequence(setting="score", text=text, warning=True)
    small = [name for name, count in problem.classes if count < FEW_ROWS]
    if small:
        words = counted(len(small), "class has", "classes have")
        text = f"{words} fewer than {FEW_ROWS} rows: {listed(small)}. Scores and verdicts on them are rough."
        yield Consequence(setting="target", text=text, warning=True)


def _stated(problem: Problem, settings: StudySettings) -> Iterator[tuple[str, str]]:
    """Yield the names of settings on rows, columns and methods, and what follows from each."""
    reading, splitting = settings.reading, settings.splitting
    if problem.groups is not None:
        count = counted(problem.groups.nunique(), "group", "groups")
        yield "group", f"{count} in {splitting.group!r}, each held out as a whole: scores are those of new groups."
    if problem.times is not None:
        count = counted(problem.times.nunique(), "different time", "different times")
        yield "time", f"{count} in {splitting.time!r}: later rows are held out, and scores are those of rows to come."
    if problem.weights is not None:
        yield "weight", f"Rows count by {reading.weight!r} when learners are fitted and in scores, once in verdicts."
    if reading.index is not None:
        yield "index", f"Rows are called by {reading.index!r}, which is no feature."
    if reading.drop_missing_target:
        yield "drop_missing_target", "Rows without a target are left out."
    for name, what in (
        ("drop", "Left out"),
        ("missing", "Read as missing"),
        ("category", "Read as categories"),
        ("number", "Read as numbers"),
        ("date", "Read as dates"),
    ):
        if values := getattr(reading, name):
            yield name, f"{what}: {listed(values)}."
    n_rows, n_held = len(problem.X), len(problem.X) // splitting.folds
    fits = f"each model is fitted to about {n_rows - n_held:,} rows and predicts {n_held:,} that it has not seen."
    yield "folds", f"{splitting.folds} folds: {fits}"
    if problem.kind == "classes":
        names = [name.upper() for name in settings.learners]
        compared = f"{len(names)} learners are compared" if len(names) > 1 else "One learner is fitted"
        yield "learner", f"{compared}, with plain kNN and NCA beside: {', '.join(names)}."
    if settings.class_weight == "balanced":
        yield "class_weight", "All classes count alike when learners are fitted."


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
    problem = refusal = None
    try:
        problem = learnable_problem(table, target, settings, opened)
    except (ValueError, TypeError) as error:
        suggestion = getattr(error, "settings", {}) if getattr(error, "is_tried", False) else {}
        refusal = Refusal(message=str(error), suggestion=suggestion)
    kinds = {} if problem is None else {row["column"]: row for row in problem.columns.to_dict("records")}
    needs = None if problem is None else cost_of(problem, settings)
    return Preview(
        source=given.source,
        rows=len(given.frame),
        columns=[_column(given.frame[name], kinds, target, settings, problem) for name in given.frame.columns],
        head=[[_text(value) for value in row] for row in given.frame.head(HEAD_ROWS).itertuples(index=False)],
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
    return estimate(*shape, len(problem.classes), settings.learners, settings.splitting.folds, spectra=spectra)


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
