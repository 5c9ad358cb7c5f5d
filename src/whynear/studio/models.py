"""What the API takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from whynear.study.settings import SETTINGS, VALUES, StudySettings

View = Literal[
    "study", "features", "sets", "errors", "map", "case", "what-if", "flip", "leave-out", "lock", "marks", "compare"
]
Value = float | str | None
ModelName = Literal["study", "locked"]
FeatureKind = Literal["number", "whole number", "date", "date and time", "category"]


class Strict(BaseModel):
    """What a request sends: nothing that is not known here."""

    model_config = ConfigDict(extra="forbid")


class Feature(BaseModel):
    """A column that the model takes, and the values it may be given."""

    name: str
    kind: FeatureKind
    low: Value = Field(description="The smallest and the largest value of the table; None for categories.")
    high: Value
    usual: Value = Field(description="The median, or the most frequent category; dates are texts: 2022-03-04.")
    deviation: float | None = Field(description="The standard deviation, of dates in days; None for categories.")
    categories: list[str]


class RowNames(BaseModel):
    """The names of the rows of a study, and the target of each."""

    rows: list[int | str]
    true: list[Any]


class CaseQuery(Strict):
    """A case: a row of the table, with some values changed; the usual values without a row."""

    row: int | str | None = None
    values: dict[str, Value] = Field(default_factory=dict)
    model: ModelName = "study"


class Neighbor(BaseModel):
    """A training row or a prototype that votes."""

    name: int | str
    kind: Literal["row", "case", "prototype"]
    label: Any
    distance: float
    vote: float = Field(description="Negative only for a kernel learner, whose rows add shares with a sign.")
    for_prediction: bool
    values: dict[str, Value]
    contributions: dict[str, float] = Field(description="What each feature adds to the squared distance.")
    nearest_row: int | str | None = Field(default=None, description="The row whose values a prototype is shown with.")


class Unusual(BaseModel):
    """A value that is unlike those the model was fitted to."""

    column: str
    kind: Literal["filled_in", "out_of_range", "unseen_category"]
    text: str


class WhatIf(BaseModel):
    """The prediction for a case, with its votes, its neighbours and its unusual values."""

    prediction: Any
    true: Any = Field(description="The target of the row; None for a case that is no row of the table.")
    interval: tuple[float, float] | None = Field(description="For a numeric target, where 90% of rows lie.")
    probabilities: dict[str, float] = Field(description="Of each class; empty for a numeric target.")
    support: dict[str, float] = Field(description="The votes for each class.")
    values: dict[str, Value]
    neighbors: list[Neighbor]
    contributions: dict[str, float] = Field(description="For a linear map, what each feature adds to the prediction.")
    remark: str = Field(default="", description="What the rows that are not listed add to the prediction.")
    unusual: list[Unusual]
    sentence: str
    seconds: float


class FlipQuery(CaseQuery):
    """The case whose prediction is to change."""

    to: Any = Field(default=None, description="The class to reach; any other than the prediction if None.")
    features: list[str] | None = Field(default=None, description="The features that may change; all if None.")


class Change(BaseModel):
    """One feature that is changed."""

    feature: str
    before: Value
    after: Value
    deviations: float = Field(description="The change in standard deviations of the feature.")


class FlipAnswer(BaseModel):
    """A change of a case that changes its prediction."""

    changes: list[Change]
    size: float = Field(description="The length of the change in standard deviations.")
    prediction: Any
    sentence: str


class Flips(BaseModel):
    """The smallest changes found, fewest features first; empty if there is none within the range of the data."""

    prediction: Any
    flips: list[FlipAnswer]
    seconds: float


class LeaveOutQuery(Strict):
    """The features to leave out, or those to keep."""

    features: list[str] = Field(min_length=1)
    keep: bool = Field(default=False, description="Whether these features are the ones that are kept.")


class LeaveOutAnswer(BaseModel):
    """The score of the learner, fitted again without some features on the same folds as with all."""

    features: list[str] = Field(description="The features that were left out.")
    kept: list[str]
    measure: Literal["accuracy", "R2"]
    with_all: float
    with_all_error: float
    without: float
    without_error: float
    lost: float = Field(description="The score with all features minus that without these, on the same rows.")
    lost_error: float
    sentence: str
    seconds: float


class Locked(BaseModel):
    """The features of the model that was locked."""

    features: list[str]
    answer: LeaveOutAnswer | None


class Mark(Strict):
    """A case that was found for a query, marked as like it or not."""

    query: int | str
    case: int | str
    alike: bool


class Found(BaseModel):
    """A case that was found for a query row."""

    row: int | str
    label: Any
    distance: float
    rank_before: int = Field(description="Its rank under the metric of the study, from 1.")
    rank_after: int | None = Field(description="Its rank under the metric learned from the marks; None before that.")
    values: dict[str, Value] = Field(description="Its values, as the table has them.")
    alike: bool | None = Field(description="How it was marked; None if it was not.")


class Ranking(BaseModel):
    """The cases nearest to a query row, before and after learning from the marks."""

    query: int | str
    values: dict[str, Value] = Field(description="The values of the query row.")
    label: Any
    found: list[Found]
    marks: int = Field(description="The number of marks of all queries.")
    triples: int
    agreeing_before: float | None = Field(description="The share of triples that the metric ranks as marked.")
    agreeing_after: float | None
    weights: dict[str, float] | None = Field(description="The learned weight of each feature, per standard deviation.")
    kept: bool = Field(description="Whether the learned metric is saved with the case base.")


class Kept(BaseModel):
    """The case base in which the cases and the learned metric were saved."""

    file: str
    cases: int
    python: str


class Judged(BaseModel):
    """The result of refitting for a feature."""

    verdict: Literal["indispensable", "replaceable", "no evidence", "undecided"]
    loss: float | None = Field(description="Points lost without it.")
    error: float | None = Field(description="The standard error of the loss.")
    stand_ins: list[str] = Field(description="The features that can stand in for it, cheapest first.")


class Move(BaseModel):
    """A feature that is kept: its verdict beside all features, and its verdict without the others."""

    feature: str
    before: Judged
    after: Judged

    @property
    def has_other_verdict(self) -> bool:
        """Whether the two verdicts differ."""
        return self.before.verdict != self.after.verdict

    @property
    def has_other_stand_ins(self) -> bool:
        """Whether other features can stand in for it now."""
        return set(self.before.stand_ins) != set(self.after.stand_ins)


class Moves(BaseModel):
    """The verdicts on the features that are kept, before and after the others are left out."""

    features: list[Move] = Field(description="Those with another verdict first, then those with other stand-ins.")
    sufficient_before: list[str] = Field(description="The smallest set of all features that suffices.")
    sufficient_after: list[str] = Field(description="That of the features that are kept.")
    sentence: str


class Relearning(BaseModel):
    """A refit of the learner of a study without some features."""

    number: int
    features: list[str] = Field(description="The features that are left out.")
    state: Literal["running", "finished", "failed", "cancelled", "interrupted"]
    step: str
    share: float = Field(ge=0, le=1)
    score: LeaveOutAnswer | None = Field(description="The scores with all features and without these; comes first.")
    moves: Moves | None
    message: str = Field(description="Why it failed or ended; empty otherwise.")


NOT_IN_FORM = ("engine", "address")  # a studio computes on its own machine
State = Literal["waiting", "running", "finished", "failed", "cancelled", "interrupted"]


def _form() -> Any:
    """Return a model whose fields are the settings of a study: their types, defaults and limits."""
    types = {name: kind for value in (StudySettings, *VALUES.values()) for name, kind in get_type_hints(value).items()}
    limits = {name: (one.metadata.get("least"), one.metadata.get("most")) for name, one in SETTINGS.items()}
    made: dict[str, Any] = {
        name: (types[name], Field(default=one.default, ge=limits[name][0], le=limits[name][1]))
        for name, one in SETTINGS.items()
        if name not in NOT_IN_FORM
    }
    return create_model("Settings", __base__=Strict, **made)


_Form: Any = _form()


class Settings(_Form):
    """The settings of a study, as described in `whynear.study`."""

    def checked(self) -> StudySettings:
        """Return the settings as the library takes them; a ValueError names a wrong one."""
        return StudySettings.of(**self.model_dump())


class Choice(Strict):
    """The target and the settings of a study, such as a preview needs."""

    target: str | None = None
    settings: Settings = Settings()


class NewStudy(Choice):
    """What starts a study: a table of the project by its id, or an example by its name."""

    table: str | None = Field(default=None, description="The id of a table.")
    example: str | None = Field(default=None, description="The name of a data set, instead of a table.")
    name: str = Field(
        default="", max_length=200, description="What the study is called; the name of the table if empty."
    )


class Rename(Strict):
    """A new name of a study."""

    name: str = Field(min_length=1, max_length=200)


class LearnerProgress(BaseModel):
    """How far the fits of one learner are."""

    name: str
    folds: int = Field(description="The number of folds in which it has been fitted or is being fitted.")
    current: bool


class Progress(BaseModel):
    """How far a study is."""

    step: str
    share: float = Field(ge=0, le=1)
    seconds: float = Field(description="Since it was started.")
    seconds_left: float | None
    learners: list[LearnerProgress]


class StudyInfo(BaseModel):
    """A study of the project, at any stage."""

    id: str
    name: str
    source: str = Field(description="The name of the table or of the example.")
    table: str | None
    example: str | None
    target: str | None
    settings: dict[str, Any] = Field(description="The settings that differ from their defaults.")
    state: State
    created: float
    ended: float | None
    progress: Progress | None = Field(description="None before the study was started.")
    parts: list[str] = Field(
        description="The finished parts: 'problem', 'comparison', 'interpretation', 'verdicts', ..."
    )
    message: str = Field(description="Why it failed, or what was kept; empty otherwise.")
    finding: str = Field(description="The results in a few sentences; empty before it is finished.")
    can_resume: bool
    revision: int = Field(description="Grows with every change of this study.")


class Files(BaseModel):
    """The files of a finished study."""

    files: list[str]


class Differences(BaseModel):
    """The differences between two studies, from `whynear.compare_studies`."""

    differences: dict[str, Any]


class PythonQuery(Strict):
    """A view of a study, and what it shows."""

    view: View = "study"
    row: int | str | None = Field(default=None, description="The row of a case; the first one if None.")
    values: dict[str, float | str | None] = Field(default_factory=dict, description="The changed values of a case.")
    features: list[str] = Field(default_factory=list, description="The features that are left out.")
    model: ModelName = Field(default="study", description="The model that answers: that of the study, or the locked.")
    other: str | None = Field(default=None, description="The id of a study to compare with.")


class PythonLines(BaseModel):
    """The Python code that makes what one view shows."""

    view: str
    code: str


class Failure(BaseModel):
    """Why a request was refused."""

    detail: str


class TableInfo(BaseModel):
    """A table of the project."""

    id: str
    name: str = Field(description="The name of the file, as it was sent, without a path.")
    bytes: int
    created: float = Field(description="Seconds since 1970.")


class Example(BaseModel):
    """A data set that can be named instead of a table."""

    name: str
    rows: int | None
    features: int | None
    classes: int | None = Field(description="None for a numeric target.")
    origin: str


class ColumnInfo(BaseModel):
    """What one column holds."""

    name: str
    kind: str = Field(description="Such as 'numbers', 'whole numbers', 'yes or no', 'categories', 'constant'.")
    missing: int
    distinct: int
    role: Literal["feature", "target", "group", "time", "weight", "index", "left out"]
    examples: list[str] = Field(description="Its first different values, as text.")


class Consequence(BaseModel):
    """What follows from one setting, or from what was found in the table."""

    setting: str = Field(description="The name of the setting; 'table' for what was found in the table.")
    text: str
    warning: bool = False


class Cost(BaseModel):
    """What a study of the table needs; right within a factor of two."""

    seconds: float
    bytes: float
    text: str


class Refusal(BaseModel):
    """Why a study with these settings cannot start, and settings with which it can."""

    message: str
    suggestion: dict[str, Any] = Field(default_factory=dict, description="Settings to change; empty if none are known.")


class Preview(BaseModel):
    """A table as a study with these settings would take it, before anything is fitted."""

    source: str
    rows: int
    columns: list[ColumnInfo]
    head: list[list[str | None]] = Field(description="The first rows as text, in the order of the columns.")
    targets: list[str] = Field(description="Columns that can be the target, the likeliest first.")
    target: str | None
    target_kind: Literal["classes", "numbers"] | None
    classes: list[tuple[str, int]] = Field(description="Each class with its number of rows.")
    range: tuple[float, float] | None
    summary: str
    consequences: list[Consequence]
    cost: Cost | None
    refusal: Refusal | None


def changed_settings(kept: Mapping[str, Any]) -> StudySettings:
    """Return settings as they are kept in the state of a project, as the library takes them."""
    return Settings(**kept).checked()
