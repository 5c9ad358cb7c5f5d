"""Reading a saved study from its folder."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from whynear.study.result import FORMAT, Study
from whynear.study.row_scores import RowScores
from whynear.study.score import shown
from whynear.utils.files import StrPath

FILE = "study.json"


@dataclass(frozen=True)
class SavedStudy:
    """The part of a study that is compared with another study.

    Attributes
    ----------
    name : str
        The folder or file it was read from, as given.
    source, target : str
        The table and the column that was predicted.
    rows : int or None
        Number of rows that were compared.
    chosen : str
        The chosen learner.
    measure : str
        The kind of score: "accuracy", another score of classes, or "r2" for a numeric target.
    expected, expected_error : float or None
        The score over all held-out rows, each predicted by a learner chosen without it, and its standard error; those
        of the mean over folds in older files.
    folds : int
        Number of folds.
    effective_dim : int or None
        Number of directions of the data on which maps are equal.
    verdicts : mapping of str to str
        The verdict on each feature; the strength of its interval in older files.
    settings : mapping
        The settings of the study.
    caveats : tuple of str
        Limits of the results.
    row_scores : RowScores or None
        What each held-out row adds to the score; None in older files.
    """

    name: str
    source: str
    target: str
    rows: int | None
    chosen: str
    measure: str
    expected: float | None
    expected_error: float | None
    folds: int
    effective_dim: int | None
    verdicts: Mapping[str, str]
    settings: Mapping[str, Any]
    caveats: tuple[str, ...]
    row_scores: RowScores | None = None

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
    """Return the saved study; entries that the file does not contain are empty."""
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
