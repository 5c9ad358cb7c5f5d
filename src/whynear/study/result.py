"""What a study found: read, drawn, saved."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pandas as pd
from markupsafe import Markup
from sklearn.pipeline import Pipeline

from whynear.interpret import Relevance
from whynear.metric import Metric, as_metric
from whynear.study.cases import Case
from whynear.study.comparison import Comparison
from whynear.study.findings import sentences
from whynear.study.interpretation import Interpretation
from whynear.study.methods import BASELINES
from whynear.study.settings import StudySettings
from whynear.tables.problem import Problem
from whynear.utils import html
from whynear.utils.arrays import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Found by its name when it is needed, as pandas finds its plotting backend: the value does not know its pages.
WRITER = "whynear.report.writing"


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """What a study found. Tables are handed out as copies, settings read-only: a study does not change.

    Attributes
    ----------
    problem : Problem
        The features and the target of the rows that were compared, and what the columns hold.
    comparison : Comparison
        Learners and baselines on the same held-out folds, the choice among them, and predictions made without each row.
    model : Pipeline
        The chosen learner, fitted to all rows; it takes the columns of the table as they are.
    interpretation : Interpretation
        Intervals of the features' relevance, and how they were come by.
    profiles : DataFrame
        Mean relevance of each feature in each class.
    maps : dict of ndarray
        The cases on a plane, before learning and after; see `embed`.
    cases : tuple of Case
        The most instructive cases, explained by a model that never saw them.
    inputs : StudySettings
        How the table was studied, as it was given.
    versions : dict of str
        The packages that made the study.
    caveats : tuple of str
        What to keep in mind when reading it.
    """

    problem: Problem
    comparison: Comparison
    model: Pipeline
    interpretation: Interpretation
    profiles: pd.DataFrame
    maps: dict[str, Array]
    cases: tuple[Case, ...]
    inputs: StudySettings
    versions: dict[str, str]
    caveats: tuple[str, ...]

    @property
    def metric(self) -> Metric:
        """The metric learned from all rows, in the columns of the table or those an encoder made of them."""
        return as_metric(self.model)

    @property
    def accuracy(self) -> pd.DataFrame:
        """Share of held-out cases predicted right (of variance explained): a row per fold, a column per method."""
        return self.comparison.accuracy.copy()

    @property
    def relevance(self) -> Relevance:
        """The relevance intervals of the features."""
        return self.interpretation.relevance

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the study was made: its inputs, the folds that could be made, what was chosen, and versions."""
        given, measured = self.inputs.to_dict(), self.problem.is_measured
        return MappingProxyType(
            {
                "learner": given["learner"],
                "learners compared": 1 if measured else self.accuracy.columns.size - len(BASELINES),
                "folds": len(self.comparison.accuracy),
                **{name: given[name] for name in ("bins", "categories", "impute", "index", "drop")},
                **{name: given[name] for name in ("drop_missing_target", "encoding", "effective_dim")},
                "effective dimension": self.interpretation.effective_dim,
                "floor": round(float(self.relevance.floor), 6),
                "seed": given["random_state"],
                **self.versions,
            }
        )

    def __repr__(self) -> str:
        return f"<Study of {self.problem.source}: {self.finding()}>"

    def finding(self) -> str:
        """The answer in a few sentences."""
        return " ".join(sentences(self))

    def frame(self) -> pd.DataFrame:
        """Per feature its bounds, its strength and what can replace it, most relevant first."""
        return relevance_frame(self.relevance)

    def plot(self, ax: Axes | None = None, most: int = 25) -> Axes:
        """Draw the intervals of the most relevant features."""
        return self.relevance.plot(ax, most)

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the study into a folder, each file whole or not at all; see the README for what each holds."""
        return import_module(WRITER).write_study(self, Path(folder))

    def _repr_html_(self) -> str:
        chosen, within = self.comparison.chosen, (float(min(0.0, self.accuracy.mean().min())), 1.0)
        rows = [
            (name, html.bar(0.0, scores.mean(), within, "strong" if name == chosen else "irrelevant"), _percent(scores))
            for name, scores in self.accuracy.items()
        ]
        score = "held-out cases predicted right" if self.comparison.measure == "accuracy" else "variance explained"
        return html.block(
            html.heading(f"Study of {self.problem.source}"),
            self.finding(),
            *self.caveats,
            html.table(["method", score, ""], rows),
            Markup(self.relevance._repr_html_()),
        )


def _percent(scores: pd.Series) -> str:
    return f"{100 * scores.mean():.1f} ± {100 * scores.std():.1f} %"


def relevance_frame(relevance: Relevance) -> pd.DataFrame:
    """Bounds, strength and substitutes of each feature, most relevant first."""
    others = relevance.substitutes.of
    frame = relevance.frame()
    frame = frame.assign(substitutes=[", ".join(others.get(name, ())) for name in frame["feature"]])
    return frame.sort_values("upper", ascending=False, kind="stable", ignore_index=True)
