"""The part of the API on a finished study: single cases, fewer features, marked cases."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from fastapi import APIRouter, Depends, Response

from whynear.studio.faults import NotFound
from whynear.studio.fewer_features import leave_out, lock, unlock
from whynear.studio.flips import smallest_flips
from whynear.studio.live import Live, features_of, live_study
from whynear.studio.live_models import (
    CaseQuery,
    Feature,
    FlipQuery,
    Flips,
    Kept,
    LeaveOutAnswer,
    LeaveOutQuery,
    Locked,
    Mark,
    Ranking,
    RowNames,
    WhatIf,
)
from whynear.studio.marks import keep, ranking
from whynear.studio.python_views import python_of
from whynear.studio.studio import Studio, studio_of
from whynear.studio.study_models import PythonLines, PythonQuery
from whynear.studio.what_if import what_if

router = APIRouter(prefix="/api/studies/{study}", tags=["cases"])
Used = Annotated[Studio, Depends(studio_of)]


def live_of(studio: Used, study: str) -> Live:
    """Return a finished study with its model and its table."""
    return live_study(studio.project, studio.finished(study))


Asked = Annotated[Live, Depends(live_of)]


@router.get("/features")
def list_features(live: Asked) -> list[Feature]:
    """List the columns that the model takes, with the values they may be given."""
    return features_of(live)


@router.get("/rows")
def list_rows(live: Asked) -> RowNames:
    """List the names of all rows and their targets, in the order of the table."""
    return RowNames(rows=live.row_names, true=live.problem.y.tolist())


@router.get("/features/{place}/values", response_class=Response)
def values_of_feature(live: Asked, place: int) -> Response:
    """Return the values of a column of numbers for all rows: float32 in little-endian order; NaN is missing."""
    columns = features_of(live)
    if not 0 <= place < len(columns) or columns[place].kind == "category":
        raise NotFound(f"There is no column of numbers at place {place}.")
    values = live.problem.X[columns[place].name].to_numpy(dtype=np.float64, na_value=np.nan)
    return Response(values.astype("<f4").tobytes(), media_type="application/octet-stream")


@router.post("/what-if")
def answer_what_if(live: Asked, query: CaseQuery) -> WhatIf:
    """Predict a case with some values changed: its votes and neighbours, and which of its values are unusual."""
    return what_if(live, query)


@router.post("/flip")
def answer_flip(live: Asked, query: FlipQuery) -> Flips:
    """Find the smallest changes of a case that change its prediction, within the range of the data."""
    return smallest_flips(live, query)


@router.post("/leave-out")
def answer_leave_out(live: Asked, query: LeaveOutQuery) -> LeaveOutAnswer:
    """Fit the learner again without some features, on the same folds as with all, and compare the scores."""
    return leave_out(live, query)


@router.post("/python")
def show_python(studio: Used, live: Asked, study: str, query: PythonQuery) -> PythonLines:
    """Return the Python code that makes what a view shows."""
    return python_of(studio, live, study, query)


@router.get("/lock")
def show_locked(studio: Used, study: str) -> Locked | None:
    """Show the features of the locked model; null if there is none."""
    found = studio.finished(study)["locked"]
    return None if found is None else Locked(**found)


@router.post("/lock")
def lock_features(studio: Used, live: Asked, study: str, query: LeaveOutQuery) -> Locked:
    """Fit the learner to all rows with the remaining features, and keep it as the model 'locked'."""
    return lock(studio.store, live, study, query)


@router.delete("/lock", status_code=204)
def unlock_features(studio: Used, live: Asked, study: str) -> None:
    """Remove the locked model."""
    unlock(studio.store, live, study)


@router.get("/marks")
def show_ranking(studio: Used, live: Asked, study: str, query: str, k: int = 10) -> Ranking:
    """Show the rows nearest to a row, by the metric of the study and by the one learned from all marks."""
    return ranking(live, studio.store.marks(study), live.name_of_row(query), k)


@router.post("/marks")
def mark_case(studio: Used, live: Asked, study: str, mark: Mark, k: int = 10) -> Ranking:
    """Mark a row that was found for another as like it or not; the ranks before and after follow."""
    query, case = live.name_of_row(mark.query), live.name_of_row(mark.case)
    studio.store.mark(study, query, case, mark.alike)
    return ranking(live, studio.store.marks(study), query, k)


@router.delete("/marks")
def take_back_mark(studio: Used, live: Asked, study: str, query: str, k: int = 10) -> Ranking:
    """Take back the last mark."""
    studio.store.unmark(study)
    return ranking(live, studio.store.marks(study), live.name_of_row(query), k)


@router.post("/marks/keep")
def keep_marks(studio: Used, live: Asked, study: str) -> Kept:
    """Save all rows as a case base under the metric that was learned from the marks."""
    return keep(live, studio.store.marks(study))
