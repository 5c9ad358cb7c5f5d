"""Requests and responses of the API on single cases, changed models and marks of a finished study."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Value = float | str | None
ModelName = Literal["study", "locked"]
FeatureKind = Literal["number", "whole number", "date", "date and time", "category"]


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


class CaseQuery(BaseModel):
    """A case: a row of the table, with some values changed; the usual values without a row."""

    model_config = ConfigDict(extra="forbid")

    row: int | str | None = None
    values: dict[str, Value] = Field(default_factory=dict)
    model: ModelName = "study"


class Neighbor(BaseModel):
    """A training row or a prototype that votes."""

    name: int | str
    kind: Literal["row", "case", "prototype"]
    label: Any
    distance: float
    vote: float
    for_prediction: bool
    values: dict[str, Value]
    contributions: dict[str, float] = Field(description="What each feature adds to the squared distance.")


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
    contributions: dict[str, float] = Field(description="For a numeric target, what each feature adds to it.")
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


class LeaveOutQuery(BaseModel):
    """The features to leave out, or those to keep."""

    model_config = ConfigDict(extra="forbid")

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


class Mark(BaseModel):
    """A case that was found for a query, marked as like it or not."""

    model_config = ConfigDict(extra="forbid")

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
