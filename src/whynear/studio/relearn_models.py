"""Responses of the API on refits without some features: their progress, the score, and the verdicts that move."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from whynear.studio.live_models import LeaveOutAnswer


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
