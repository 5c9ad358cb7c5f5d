"""Requests and responses of the API on studies: their settings, their progress and their results."""

from __future__ import annotations

from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, create_model

from whynear.studio.lines import View
from whynear.studio.live_models import ModelName
from whynear.study.settings import SETTINGS, VALUES, StudySettings

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
    return create_model("Settings", **made)


_Form: Any = _form()


class Settings(_Form):
    """The settings of a study, as described in `whynear.study`."""

    model_config = ConfigDict(extra="forbid")

    def checked(self) -> StudySettings:
        """Return the settings as the library takes them; a ValueError names a wrong one."""
        return StudySettings.of(**self.model_dump())


class Choice(BaseModel):
    """The target and the settings of a study, such as a preview needs."""

    model_config = ConfigDict(extra="forbid")

    target: str | None = None
    settings: Settings = Settings()


class NewStudy(Choice):
    """What starts a study: a table of the project by its id, or an example by its name."""

    table: str | None = Field(default=None, description="The id of a table.")
    example: str | None = Field(default=None, description="The name of a data set, instead of a table.")
    name: str = Field(
        default="", max_length=200, description="What the study is called; the name of the table if empty."
    )


class Rename(BaseModel):
    """A new name of a study."""

    model_config = ConfigDict(extra="forbid")

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


class PythonQuery(BaseModel):
    """A view of a study, and what it shows."""

    model_config = ConfigDict(extra="forbid")

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
