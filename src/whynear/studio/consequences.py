"""What follows from each choice about a table, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from whynear.studio.table_models import Consequence
from whynear.study.learnable import learners_for
from whynear.study.settings import StudySettings
from whynear.tables.missing_codes import caveats_of_codes
from whynear.tables.problem import Problem
from whynear.tables.settings import Reading
from whynear.utils.text import counted, listed

FEW_ROWS = 20  # of a class
MOST_CLASSES_NAMED = 4
UNEVEN_SHARE = 0.9  # of the largest class


def consequences(problem: Problem, settings: StudySettings) -> list[Consequence]:
    """Return what follows from the settings, then what was decided about columns, then what limits the results."""
    said = [
        *_of_target(problem, settings),
        *_of_rows(problem, settings),
        *_of_columns(settings.reading),
        *_of_methods(problem, settings),
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


def _of_rows(problem: Problem, settings: StudySettings) -> Iterator[Consequence]:
    if problem.groups is not None:
        count = counted(problem.groups.nunique(), "group", "groups")
        text = f"{count} in {settings.splitting.group!r}, each held out as a whole: scores are those of new groups."
        yield Consequence(setting="group", text=text)
    if problem.times is not None:
        count = counted(problem.times.nunique(), "different time", "different times")
        text = f"{count} in {settings.splitting.time!r}: later rows are held out, and scores are those of rows to come."
        yield Consequence(setting="time", text=text)
    if problem.weights is not None:
        text = f"Rows count by {settings.reading.weight!r} when learners are fitted and in scores, once in verdicts."
        yield Consequence(setting="weight", text=text)
    if settings.reading.index is not None:
        yield Consequence(setting="index", text=f"Rows are called by {settings.reading.index!r}, which is no feature.")
    if settings.reading.drop_missing_target:
        yield Consequence(setting="drop_missing_target", text="Rows without a target are left out.")


def _of_columns(reading: Reading) -> Iterator[Consequence]:
    if reading.drop:
        yield Consequence(setting="drop", text=f"Left out: {listed(reading.drop)}.")
    if reading.missing:
        yield Consequence(setting="missing", text=f"Read as missing: {listed(reading.missing)}.")
    for name, what in (("category", "categories"), ("number", "numbers"), ("date", "dates")):
        if columns := getattr(reading, name):
            yield Consequence(setting=name, text=f"Read as {what}: {listed(columns)}.")


def _of_methods(problem: Problem, settings: StudySettings) -> Iterator[Consequence]:
    n_rows, folds = len(problem.X), settings.splitting.folds
    yield Consequence(
        setting="folds",
        text=f"{folds} folds: each model is fitted to about {n_rows - n_rows // folds:,} rows and "
        f"predicts {n_rows // folds:,} that it has not seen.",
    )
    if problem.kind == "classes":
        names = [name.upper() for name in learners_for(settings)]
        compared = f"{len(names)} learners are compared" if len(names) > 1 else "One learner is fitted"
        yield Consequence(setting="learner", text=f"{compared}, with plain kNN and NCA beside: {', '.join(names)}.")
    if settings.class_weight == "balanced":
        yield Consequence(setting="class_weight", text="All classes count alike when learners are fitted.")
