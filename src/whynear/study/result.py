"""The result of a study, with its tables, its figure and its files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd
from sklearn.pipeline import Pipeline

from whynear.data.options import Reading
from whynear.data.problem import Problem
from whynear.interpret import Relevance
from whynear.metric import Metric
from whynear.model.as_metric import as_metric
from whynear.model.pipeline import FittedPipeline
from whynear.study.bands import Spectra
from whynear.study.cases import Case, Reason
from whynear.study.comparison import Comparison, row_scores
from whynear.study.errors import ErrorAnatomy, Residuals
from whynear.study.findings import Findings
from whynear.study.interpretation import FeatureLevels, Interpretation, PlacedRows
from whynear.study.rejection import Rejection
from whynear.study.score import PartsScore
from whynear.study.settings import StudySettings
from whynear.utils.arrays import Array, plain_values
from whynear.verdict import Verdicts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = 1  # of ``study.json``


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """The result of a study. It does not change: tables are returned as copies, settings are read-only.

    Attributes
    ----------
    problem : Problem
        The features and the target of the rows that were compared, and the kinds of the columns.
    comparison : Comparison
        Learners and baselines on the same held-out folds, the choice among them, and the held-out predictions.
    errors : ErrorAnatomy or Residuals
        The errors of the held-out predictions: of classes, or of a numeric target.
    model : Pipeline
        The chosen learner, fitted to all rows; it takes the columns of the table.
    interpretation : Interpretation
        Intervals of the relevance of each feature, and the choices they depend on.
    profiles : DataFrame
        Mean relevance of each feature in each class.
    maps : dict of ndarray
        The cases as points on a plane, before and after learning; see `embed`.
    cases : tuple of Case
        Selected cases, explained by a model fitted without them.
    levels : tuple of FeatureLevels
        The levels of the cases in the most relevant features, used to colour the maps.
    reasons : tuple of Reason
        Short explanations of cases on the maps: those predicted wrong, or with the largest errors, and others in even
        steps.
    verdicts : Verdicts
        The verdict on each feature by refitting, the fewest features that suffice, and who can stand in for whom.
    findings : Findings
        The results as sentences.
    inputs : StudySettings
        The settings that were given.
    versions : dict of str
        The versions of the packages that made the study.
    spectra : Spectra or None
        The spectra of the table: their preprocessing, bands and weights; None where there are none.
    on_parts : PartsScore or None
        How well the model predicts whole parts of a table that does not fit in memory; None for other tables.
    rejection : Rejection or None
        The certainty of the held-out predictions, and what is promised for accepted ones; None for a numeric target.
    others : PlacedRows or None
        The rows of a large table that were not compared, on the same maps; None where all were.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> study = wn.study(iris.X[::5], iris.y[::5], splitting=wn.Splitting(folds=2), learner="grlvq")
    >>> study.comparison.chosen, study.accuracy.columns.tolist()
    ('grlvq', ['grlvq', 'plain kNN', 'NCA with kNN', 'random forest', 'boosting', 'logistic regression'])
    >>> study.model.predict(iris.X[:2]).tolist()
    ['0', '0']
    >>> study.frame()["verdict"].unique().tolist()  # 30 rows settle little
    ['undecided']
    """

    problem: Problem
    comparison: Comparison
    errors: ErrorAnatomy | Residuals
    model: Pipeline
    interpretation: Interpretation
    profiles: pd.DataFrame
    maps: dict[str, Array]
    levels: tuple[FeatureLevels, ...]
    cases: tuple[Case, ...]
    reasons: tuple[Reason, ...]
    verdicts: Verdicts
    findings: Findings
    inputs: StudySettings
    versions: dict[str, str]
    spectra: Spectra | None = None
    on_parts: PartsScore | None = None
    rejection: Rejection | None = None
    others: PlacedRows | None = None

    # Methods that `whynear.report` adds, which reads studies.
    save: ClassVar[Callable[..., list[Path]]]
    show: ClassVar[Callable[..., Any]]
    _repr_html_: ClassVar[Callable[..., str]]

    @property
    def metric(self) -> Metric:
        """The metric of the model, for the columns of the table or those that an encoder made from them."""
        return as_metric(self.model)

    @property
    def accuracy(self) -> pd.DataFrame:
        """Share of held-out cases predicted right, or of variance explained: a row per fold, a column per method."""
        return self.comparison.accuracy.copy()

    @property
    def scores(self) -> pd.DataFrame:
        """The score that was chosen, such as balanced accuracy: a row per fold, a column per method."""
        return self.comparison.scores.copy()

    @property
    def relevance(self) -> Relevance:
        """The relevance intervals of the features."""
        return self.interpretation.relevance

    @property
    def shown(self) -> Problem:
        """The rows that were held out, which are the cases on the maps: all, but in time not the first ones."""
        return self.problem if self.problem.times is None else self.problem.rows(self.comparison.places)

    @property
    def shown_values(self) -> pd.DataFrame:
        """The features of these rows as they are shown: dates as texts, such as "2022-03-04"."""
        return FittedPipeline.of(self.model).with_dates(self.shown.X)

    @property
    def caveats(self) -> tuple[str, ...]:
        """Limits of the results, and what to do about them."""
        return self.findings.caveats

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that were given, the number of folds, the choices that were made, and the versions."""
        given, of_columns = self.inputs.to_dict(), [one.name for one in fields(Reading)]
        of_table = [*of_columns[:2], "group", "time", *of_columns[2:]]
        return MappingProxyType(
            {
                "learner": given["learner"],
                "score": self.comparison.measure,
                "class_weight": given["class_weight"],
                "learners compared": self.comparison.n_learners,
                "folds": len(self.comparison.accuracy),
                **{name: given[name] for name in (*of_table, "effective_dim")},
                "effective dimension": self.interpretation.effective_dim,
                "tolerance": self.relevance.tolerance,
                "resamples": self.verdicts.n_resamples,
                "random_state": given["random_state"],
                **self.versions,
            }
        )

    def __repr__(self) -> str:
        return f"<Study of {self.problem.source}: {self.finding()}>"

    def finding(self) -> str:
        """Return the results in a few sentences."""
        return " ".join(self.findings.sentences)

    def frame(self) -> pd.DataFrame:
        """Return verdict, loss without it, stability, bounds and stand-ins of each feature, by verdict."""
        frame = self.verdicts.frame().iloc[self.verdicts.order]
        others = [", ".join(pair.stand_in for pair in self.verdicts.stand_ins.of(name)) for name in frame["feature"]]
        return frame.assign(stand_ins=others).reset_index(drop=True)

    def plot(self, ax: Axes | None = None, most: int = 25) -> Axes:
        """Draw the intervals of the first ``most`` features in the order of `frame`, coloured by their verdicts."""
        return self.verdicts.plot_first_intervals(ax, most)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists: ``study.json`` without the names of its files.

        Equal studies give equal content.
        """
        tolerance = self.interpretation.tolerance
        held = {
            "format": FORMAT,
            "source": self.problem.source,
            "target": self.problem.target,
            "given": self.inputs.changed(),
            "rows": len(self.problem.X),
            "columns": self.problem.columns.to_dict("records"),
            "measure": self.comparison.measure,
            "finding": self.finding(),
            "settings": dict(self.settings),
            "chosen": self.comparison.chosen,
            "accuracy": self.comparison.accuracy.to_dict("list"),
            "scores": self.comparison.scores.to_dict("list"),
            "expected": self.comparison.expected,
            "expected_error": self.comparison.expected_error,
            "expected_scores": self.comparison.expected_scores.tolist(),
            "row_scores": row_scores(self.comparison).to_dict(),
            "errors": self.errors.to_dict(),
            "relevance": self.relevance.to_dict(),
            "verdicts": self.verdicts.to_dict(),
            "tolerance": None if tolerance is None else tolerance.curve.to_dict("list"),
            "averaged": self.interpretation.averaged,
            "profiles": {str(label): column.tolist() for label, column in self.profiles.items()},
            "maps": {name: points.tolist() for name, points in self.maps.items()},
            "cases": [
                {"row": case.row, "kind": case.kind, "true": case.true, "why": case.why.to_dict()}
                for case in self.cases
            ],
            "caveats": list(self.caveats),
            **({} if self.spectra is None else {"spectra": self.spectra.to_dict()}),
            **({} if self.rejection is None else {"rejection": self.rejection.to_dict()}),
            **({} if self.on_parts is None else {"held_out_parts": self.on_parts.to_dict()}),
        }
        return plain_values(held)
