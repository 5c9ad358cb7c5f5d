"""Studies as ``whynear study`` leaves them in a folder, read again."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from whynear.study.content import FORMAT

FILE = "study.json"


@dataclass(frozen=True)
class SavedStudy:
    """What a study found, as far as it can be compared with another.

    Attributes
    ----------
    name : str
        The folder or file it was read from, as it was given.
    source, target : str
        The table and the column that was predicted.
    rows : int or None
        Rows of the table that took part.
    chosen : str
        The learner.
    measure : str
        What the scores are: "accuracy", or "r2" of a numeric target.
    scores : tuple of float
        By fold, the score on held-out rows of a choice made without them.
    effective_dim : int or None
        The number of directions of the data that count.
    strengths : mapping of str to str
        "strong", "weak", "irrelevant" or "unknown", by feature.
    settings : mapping
        What repeats the study.
    caveats : tuple of str
        What to keep in mind.
    """

    name: str
    source: str
    target: str
    rows: int | None
    chosen: str
    measure: str
    scores: tuple[float, ...]
    effective_dim: int | None
    strengths: Mapping[str, str]
    settings: Mapping[str, Any]
    caveats: tuple[str, ...]

    @property
    def mean(self) -> float | None:
        """The mean score; None where there is none."""
        return float(np.mean(self.scores)) if self.scores else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the scores over folds; None of fewer than two."""
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else None


def read_study(path: Path) -> SavedStudy:
    """Read a study from its folder or its ``study.json``; the format is looked at before anything else in it."""
    file = path / FILE if path.is_dir() else path
    if not file.exists():
        raise FileNotFoundError(f"{file} does not exist. Make a study first: whynear study TABLE --out {file.parent}.")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{file} is damaged or no study ({str(error)[:100]}). Make the study again.") from None
    _check_format(content, file)
    try:
        return _study(content, str(path))
    except (AttributeError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{file} does not fit together ({str(error)[:100]}). Make the study again.") from None


def _check_format(content: Any, file: Path) -> None:
    number = content.get("format") if isinstance(content, dict) else None
    if type(number) is not int or number < 1:
        raise ValueError(f"{file} is no study: it states no format. Name a folder that whynear study has written.")
    if number > FORMAT:
        settings = content.get("settings")
        writer = settings.get("whynear") if isinstance(settings, dict) else None
        raise ValueError(
            f"{file} has format {number:.8g}, written by whynear {writer or 'of a newer version'!s:.20}, and this is "
            f"whynear {version('whynear')}, which reads formats up to {FORMAT}: pip install --upgrade whynear."
        )


def _study(content: dict[str, Any], name: str) -> SavedStudy:
    """What the content says; what a study of another kind does not hold is left empty."""
    relevance, settings = content.get("relevance") or {}, content.get("settings") or {}
    measure = str(content.get("measure") or "accuracy")
    scores = content.get(f"honest_{measure}", content.get("honest_accuracy")) or []
    dimension = relevance.get("effective_dim", settings.get("effective dimension"))
    return SavedStudy(
        name=name,
        source=str(content.get("source") or "unknown"),
        target=str(content.get("target") or "unknown"),
        rows=_count(content.get("rows")),
        chosen=str(content.get("chosen") or "unknown"),
        measure=measure,
        scores=tuple(float(score) for score in scores if score is not None and math.isfinite(score)),
        effective_dim=_count(dimension),
        strengths={
            str(feature): str(strength)
            for feature, strength in zip(relevance.get("features", []), relevance.get("strength", []), strict=True)
        },
        settings=dict(settings.items()),
        caveats=tuple(str(caveat) for caveat in content.get("caveats") or ()),
    )


def _count(value: Any) -> int | None:
    return None if value is None else int(value)
