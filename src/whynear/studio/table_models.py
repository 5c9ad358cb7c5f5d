"""Responses of the API on tables: files that were sent, examples, and previews of a table under some settings."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


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
