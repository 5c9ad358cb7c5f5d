"""What differs between two studies, read from their files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from whynear.study.comparison import RowScores, error_of_difference
from whynear.study.result import FORMAT, Study
from whynear.study.score import name_of, shown, shown_difference
from whynear.utils.files import StrPath
from whynear.utils.text import beside_error, counted, exceeds_error

FILE = "study.json"


@dataclass(frozen=True)
class SavedStudy:
    """The part of a study that is compared with another study."""

    name: str  # the folder or file it was read from, as given
    source: str
    target: str
    rows: int | None  # how many were compared
    chosen: str  # the learner
    measure: str  # the kind of score: "accuracy", another score of classes, or "r2" for a numeric target
    expected: float | None  # the score over all held-out rows, each predicted by a learner chosen without it
    expected_error: float | None  # its standard error; in older files both are those of the mean over folds
    folds: int
    effective_dim: int | None  # directions of the data on which maps are equal
    verdicts: Mapping[str, str]  # on each feature; the strength of its interval in older files
    settings: Mapping[str, Any]
    caveats: tuple[str, ...]
    row_scores: RowScores | None = None  # what each held-out row adds to the score; None in older files

    @property
    def score(self) -> str:
        """The score and its standard error, as text."""
        if self.expected is None:
            return "no score"
        around = "" if self.expected_error is None else f" ± {shown(self.expected_error, self.measure)}"
        return f"{shown(self.expected, self.measure)}{around}"


def read_study(path: StrPath) -> SavedStudy:
    """Read a study from its folder or its ``study.json``; an error if its format is unknown."""
    path = Path(path)
    file = path / FILE if path.is_dir() else path
    if not file.exists():
        what = "holds no study" if path.is_dir() else "does not exist"
        way = "Name the folder of a study, or make one first: whynear study TABLE --out FOLDER."
        raise FileNotFoundError(f"{path} {what}. {way}")
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is damaged or not a study ({str(error)[:100]}). Make the study again.") from None
    _check_format(held, file)
    try:
        return _study(held, str(path))
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is inconsistent ({str(error)[:100]}). Make the study again.") from None


def as_saved(study: Study) -> SavedStudy:
    """Return a study as it would be read from its folder, with the name of its table."""
    return _study(study.to_dict(), study.problem.source)


def _check_format(held: Any, file: Path) -> None:
    number = held.get("format") if isinstance(held, dict) else None
    if type(number) is not int or number < 1:
        raise ValueError(f"{file} is not a study: it has no format. Use a folder that whynear study has written.")
    if number > FORMAT:
        settings = held.get("settings")
        writer = settings.get("whynear") if isinstance(settings, dict) else None
        raise ValueError(
            f"{file} has format {number:.8g}, written by whynear {writer or 'of a newer version'!s:.20}, and this is "
            f"whynear {version('whynear')}, which reads formats up to {FORMAT}: pip install --upgrade whynear."
        )


def _study(held: dict[str, Any], name: str) -> SavedStudy:
    """Return the study of which `Study.to_dict` returned this; entries that it does not contain are empty."""
    relevance, settings = held.get("relevance") or {}, held.get("settings") or {}
    measure = str(held.get("measure") or "accuracy")
    # Older versions wrote the scores under one of the other names.
    names = ("expected_scores", f"honest_{measure}", "honest_accuracy")
    held_scores = next((held[name] for name in names if name in held), None) or []
    scores = np.array([score for score in held_scores if score is not None and math.isfinite(score)], dtype=float)
    dimension = relevance.get("effective_dim", settings.get("effective dimension"))
    return SavedStudy(
        name=name,
        source=str(held.get("source") or "unknown"),
        target=str(held.get("target") or "unknown"),
        rows=_count(held.get("rows")),
        chosen=str(held.get("chosen") or "unknown"),
        measure=measure,
        expected=_number(held.get("expected", scores.mean() if scores.size else None)),
        expected_error=_number(
            held.get("expected_error", scores.std(ddof=1) / np.sqrt(scores.size) if scores.size > 1 else None)
        ),
        folds=scores.size,
        effective_dim=_count(dimension),
        verdicts=_verdicts(held, relevance),
        settings=dict(settings.items()),
        caveats=tuple(str(caveat) for caveat in held.get("caveats") or ()),
        row_scores=RowScores.from_dict(held["row_scores"]) if held.get("row_scores") else None,
    )


def _verdicts(held: dict[str, Any], relevance: dict[str, Any]) -> dict[str, str]:
    judged = held.get("verdicts") or {}
    if judged:
        return {str(row["feature"]): str(row["verdict"]) for row in judged.get("features", [])}
    names, strengths = relevance.get("features", []), relevance.get("strength", [])
    return {str(feature): str(strength) for feature, strength in zip(names, strengths, strict=True)}


def _count(value: Any) -> int | None:
    return None if value is None else int(value)


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


MOST_NAMED = 5  # features in a sentence
SUMMARY = (
    *("name", "source", "target", "rows", "chosen", "measure", "expected", "expected_error", "folds"),
    "effective_dim",
)


@dataclass(frozen=True)
class StudyDifferences:
    """What differs between two studies.

    Attributes
    ----------
    first, second : SavedStudy
        The studies.
    difference : float or None
        The score of the second on held-out rows minus that of the first.
    standard_error : float or None
        The standard error of that difference: that of the mean difference of the rows if both studies held out the
        same rows, in the same order of the table and in whatever folds; else that for independent rows,
        sqrt(e1² + e2²).
    changed : tuple of (feature, verdict, verdict)
        Features of both studies with different verdicts.
    gained, lost : tuple of (feature, verdict)
        Features of the second study only, and of the first only.
    settings : tuple of (name, value, value)
        Settings that differ.
    caveats_of_first, caveats_of_second : tuple of str
        Caveats of one study only.
    """

    first: SavedStudy
    second: SavedStudy
    difference: float | None
    standard_error: float | None
    changed: tuple[tuple[str, str, str], ...]
    gained: tuple[tuple[str, str], ...]
    lost: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, Any, Any], ...]
    caveats_of_first: tuple[str, ...]
    caveats_of_second: tuple[str, ...]

    @property
    def exceeds_error(self) -> bool | None:
        """Whether the difference is larger than twice its standard error; None where either is unknown."""
        if self.difference is None or self.standard_error is None:
            return None
        return exceeds_error(self.difference, self.standard_error)

    def sentences(self) -> list[str]:
        """Return the differences as sentences."""
        return [*self._data(), self._scores(), self._learners(), *self._features(), *self._dimension()]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        pair = ("first", "second")
        return {
            "first": {name: getattr(self.first, name) for name in SUMMARY},
            "second": {name: getattr(self.second, name) for name in SUMMARY},
            "difference": self.difference,
            "standard_error": self.standard_error,
            "exceeds_error": self.exceeds_error,
            "changed": [dict(zip(("feature", *pair), change, strict=True)) for change in self.changed],
            "gained": [dict(zip(("feature", "verdict"), gain, strict=True)) for gain in self.gained],
            "lost": [dict(zip(("feature", "verdict"), loss, strict=True)) for loss in self.lost],
            "settings": [dict(zip(("setting", *pair), setting, strict=True)) for setting in self.settings],
            "caveats": {"first": list(self.caveats_of_first), "second": list(self.caveats_of_second)},
            "finding": " ".join(self.sentences()),
        }

    def _data(self) -> list[str]:
        first, second = self.first, self.second
        if (first.source, first.target, first.rows) == (second.source, second.target, second.rows):
            return []
        return [
            f"The studies use different data, {_data(first)} and {_data(second)}, which may explain the differences."
        ]

    def _scores(self) -> str:
        scores = f"the first reaches {self.first.score} and the second {self.second.score}"
        start = f"On held-out rows, {scores} ({name_of(self.first.measure)})"
        if self.difference is None or self.standard_error is None:
            return f"{start}: there are too few scores to compare them."
        shown = shown_difference(self.difference, self.standard_error, self.first.measure)
        return f"{start}: the {beside_error(self.difference, self.standard_error, shown)}"

    def _learners(self) -> str:
        if self.first.chosen == self.second.chosen:
            return f"Both chose {self.first.chosen}."
        return f"The first chose {self.first.chosen}, the second {self.second.chosen}."

    def _features(self) -> list[str]:
        changed = [f"{name!r} (from {before} to {after})" for name, before, after in self.changed]
        gained, lost = ([f"{name!r} ({verdict})" for name, verdict in side] for side in (self.gained, self.lost))
        kinds = (
            (changed, ("feature has another verdict", "features have other verdicts")),
            (gained, ("feature was gained", "features were gained")),
            (lost, ("feature was lost", "features were lost")),
        )
        sentences = [f"{counted(len(names), *words)}: {_first_few(names)}." for names, words in kinds if names]
        return sentences or ["No verdict on a feature changed."]

    def _dimension(self) -> list[str]:
        """Return a sentence on the effective dimensions where they differ, or where one was given."""
        first, second = self.first.effective_dim, self.second.effective_dim
        if first is None or second is None:
            return []
        what = "of the data, combinations of its columns (the effective dimension)"
        if first != second:
            return [f"The first study uses {counted(first, 'direction')} {what}, the second {second:,}."]
        given = any(study.settings.get("effective_dim") is not None for study in (self.first, self.second))
        return [f"Both studies use {counted(first, 'direction')} {what}."] if given else []


def compare_studies(first: StrPath | Study | SavedStudy, second: StrPath | Study | SavedStudy) -> StudyDifferences:
    """Compare two studies: their scores, learners, settings, and the verdict on each feature.

    Parameters
    ----------
    first, second : path or Study
        A folder that `Study.save` or ``whynear study`` wrote, the ``study.json`` in one, or a study itself.

    Returns
    -------
    StudyDifferences

    Raises
    ------
    ValueError
        If one predicts classes and the other numbers, so that their scores cannot be compared.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> table = iris.X.assign(species=iris.y)[::5]
    >>> options = {"learner": "grlvq", "splitting": wn.Splitting(folds=2)}
    >>> both = wn.study(table, "species", **options)
    >>> without = wn.study(table, "species", reading=wn.Reading(drop="sepal width (cm)"), **options)
    >>> [name for name, verdict in wn.compare_studies(both, without).lost]
    ['sepal width (cm)']
    """
    first, second = (
        one if isinstance(one, SavedStudy) else as_saved(one) if isinstance(one, Study) else read_study(one)
        for one in (first, second)
    )
    if first.measure != second.measure:
        raise ValueError(
            f"{first.name} scores by {first.measure} and {second.name} by {second.measure}, which cannot be compared. "
            "Study both with the same kind of target, classes or numbers, and the same score (--score)."
        )
    before, after = first.verdicts, second.verdicts
    error = error_of_difference(first.row_scores, second.row_scores)
    if error is None and first.expected_error is not None and second.expected_error is not None:
        error = math.hypot(first.expected_error, second.expected_error)
    return StudyDifferences(
        first=first,
        second=second,
        difference=None if first.expected is None or second.expected is None else second.expected - first.expected,
        standard_error=error,
        changed=tuple(
            (name, before[name], after[name]) for name in before if after.get(name, before[name]) != before[name]
        ),
        gained=tuple((name, verdict) for name, verdict in after.items() if name not in before),
        lost=tuple((name, verdict) for name, verdict in before.items() if name not in after),
        settings=tuple(
            (name, first.settings.get(name), second.settings.get(name))
            for name in dict.fromkeys((*first.settings, *second.settings))
            if first.settings.get(name) != second.settings.get(name)
        ),
        caveats_of_first=tuple(caveat for caveat in first.caveats if caveat not in second.caveats),
        caveats_of_second=tuple(caveat for caveat in second.caveats if caveat not in first.caveats),
    )


def _data(study: SavedStudy) -> str:
    rows = "" if study.rows is None else f", {counted(study.rows, 'row', 'rows')}"
    return f"{study.source!r} (target {study.target!r}{rows})"


def _first_few(names: list[str]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
