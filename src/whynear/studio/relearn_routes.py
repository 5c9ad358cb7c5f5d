"""The part of the API that judges a study again without some features, in a process of its own."""

from __future__ import annotations

from fastapi import APIRouter

from whynear.studio.fewer_features import columns_of, left_out
from whynear.studio.live_models import LeaveOutQuery
from whynear.studio.live_routes import Asked, Used
from whynear.studio.relearn_models import Relearning
from whynear.verdict.cost import check_left_out

router = APIRouter(prefix="/api/studies/{study}/relearn", tags=["cases"])


@router.get("")
def list_refits(studio: Used, study: str) -> list[Relearning]:
    """List all refits without some features, the newest first."""
    studio.finished(study)
    return studio.relearner.listed(study)


@router.post("", status_code=202)
def start_refit(studio: Used, live: Asked, study: str, query: LeaveOutQuery) -> Relearning:
    """Fit the learner again without some features: first the score, then the verdicts and stand-ins that move."""
    features = left_out(live, query)
    check_left_out(columns_of(live, features), list(live.problem.X.columns))
    return studio.relearner.start(study, features)


@router.get("/{number}")
def show_refit(studio: Used, study: str, number: int) -> Relearning:
    """Show how far a refit is, and what it has found."""
    studio.finished(study)
    return studio.relearner.shown(study, number)


@router.post("/{number}/cancel")
def cancel_refit(studio: Used, study: str, number: int) -> Relearning:
    """End a refit; its score is kept if it was known."""
    studio.finished(study)
    studio.relearner.cancel(study, number)
    return studio.relearner.shown(study, number)
