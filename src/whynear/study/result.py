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
from whynear.study.comparison import Comparison, MethodScores
from whynear.study.content import content
from whynear.study.findings import Findings
from whynear.study.interpretation import Interpretation
from whynear.study.levels import FeatureLevels
from whynear.study.reasons import Reason
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
        Intervals of the features' relevance, and how they were found.
    profiles : DataFrame
        Mean relevance of each feature in each class.
    maps : dict of ndarray
        The cases on a plane, before learning and after; see `embed`.
    cases : tuple of Case
        The most instructive cases, explained by a model fitted without them.
    levels : tuple of FeatureLevels
        How high the cases lie in the most relevant features, to colour the maps by.
    reasons : tuple of Reason
        Why the cases on the maps are predicted as they are, in short: those predicted wrong, and others in even steps.
    findings : Findings
        What was found, in words.
    inputs : StudySettings
        How the table was studied, as it was given.
    versions : dict of str
        The packages that made the study.
    """

    problem: Problem
    comparison: Comparison
    model: Pipeline
    interpretation: Interpretation
    profiles: pd.DataFrame
    maps: dict[str, Array]
    levels: tuple[FeatureLevels, ...]
    cases: tuple[Case, ...]
    reasons: tuple[Reason, ...]
    findings: Findings
    inputs: StudySettings
    versions: dict[str, str]

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
    def caveats(self) -> tuple[str, ...]:
        """What to keep in mind when reading it."""
        return self.findings.caveats

    @property
    def settings(self) -> Mapping[str, Any]:
        """How the study was made: its inputs, the folds that could be made, what was chosen, and versions."""
        given = self.inputs.to_dict()
        return MappingProxyType(
            {
                "learner": given["learner"],
                "learners compared": self.comparison.n_learners,
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
        return " ".join(self.findings.sentences)

    def frame(self) -> pd.DataFrame:
        """Per feature its bounds, its strength and what can replace it, most relevant first."""
        return self.interpretation.frame()

    def plot(self, ax: Axes | None = None, most: int = 25) -> Axes:
        """Draw the intervals of the most relevant features."""
        return self.relevance.plot(ax, most)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings and lists: what ``study.json`` holds."""
        return content(self)

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write the study into a folder, each file whole or not at all; see the README for what each holds."""
        return import_module(WRITER).write_study(self, Path(folder))

    def _repr_html_(self) -> str:
        methods = self.comparison.methods
        within = (min(0.0, *(method.mean for method in methods)), 1.0)
        rows = [(method.name, self._bar(method, within), _percent(method)) for method in methods]
        score = "held-out cases predicted right" if self.comparison.measure == "accuracy" else "variance explained"
        return html.block(
            html.heading(f"Study of {self.problem.source}"),
            self.finding(),
            *self.caveats,
            html.table(["method", score, ""], rows),
            Markup(self.relevance._repr_html_()),
        )

    def _bar(self, method: MethodScores, within: tuple[float, float]) -> Markup:
        return html.bar(0.0, method.mean, within, "strong" if method.name == self.comparison.chosen else "irrelevant")


def _percent(method: MethodScores) -> str:
    return f"{100 * method.mean:.1f} ± {100 * method.deviation:.1f} %"
