"""The routes of the API, and what they share."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Depends, Header, Query, Request, Response
from fastapi.responses import FileResponse, StreamingResponse

from whynear.data.catalog import KnownSet, known_sets
from whynear.studio.fewer_features import columns_of, leave_out, left_out, lock, unlock
from whynear.studio.guard import Keys
from whynear.studio.live import Live, features_of, live_study, smallest_flips, what_if
from whynear.studio.marks import keep, ranking
from whynear.studio.models import (
    CaseQuery,
    Choice,
    Differences,
    Example,
    Feature,
    Files,
    FlipQuery,
    Flips,
    Kept,
    LeaveOutAnswer,
    LeaveOutQuery,
    Locked,
    Mark,
    NewStudy,
    Preview,
    PythonLines,
    PythonQuery,
    Ranking,
    Relearning,
    Rename,
    RowNames,
    StudyInfo,
    TableInfo,
    WhatIf,
    changed_settings,
)
from whynear.studio.previews import preview
from whynear.studio.project import DATA_FILE, POINTS_FILE, Project, new_id, receive_table
from whynear.studio.python_views import python_of
from whynear.studio.runner import CAN_RESUME, OVER, Relearner, Runner, progress_of
from whynear.studio.store import NotFound, Refused, Row, Store, WrongState
from whynear.study.differences import compare_studies, read_study
from whynear.utils.text import counted
from whynear.verdict.cost import check_left_out


@dataclass(frozen=True, eq=False)
class Studio:
    """What the routes share."""

    project: Project
    runner: Runner
    relearner: Relearner
    keys: Keys
    address: str

    @property
    def store(self) -> Store:
        """The state of the project."""
        return self.project.store

    def link(self) -> str:
        """Return an address that opens the page in a browser, once."""
        return f"{self.address}/?token={self.keys.new_link_key()}"

    def start(self, wanted: NewStudy, expected: float | None = None) -> str:
        """Add a study to those that wait, and return its id; ``expected`` is how long it will take."""
        table = self.table_of(wanted)
        wanted.settings.checked()
        source = table if isinstance(table, str) else table.name
        study = new_id()
        given = {"table_id": wanted.table, "example": wanted.example, "target": wanted.target, "expected": expected}
        settings = wanted.settings.model_dump(mode="json")
        named = {"id": study, "name": wanted.name or source, "source": source}
        self.store.add_study({**named, **given, "settings": settings, "state": "waiting"})
        self.runner.start_next()
        return study

    def table_of(self, wanted: NewStudy) -> str | Path:
        """Return the table of a new study as the library takes it: a path, or the name of a data set."""
        if (wanted.table is None) == (wanted.example is None):
            raise Refused("Give either the id of a table (table) or the name of a data set (example).")
        return example_named(str(wanted.example)).name if wanted.table is None else self.project.file_of(wanted.table)

    def info(self, study: str) -> StudyInfo:
        """Return a study as the API shows it."""
        return info_of(self.store.study(study), self.store)


def studio_of(request: Request) -> Studio:
    """Return the studio of a request."""
    return request.app.state.studio


def info_of(row: Row, store: Store) -> StudyInfo:
    """Return the row of a study as the API shows it."""
    made = {
        "table": row["table_id"],
        "settings": changed_settings(row["settings"]).changed(),
        "progress": progress_of(row, time.time()),
        "parts": store.part_names(row["id"]),
        "can_resume": row["state"] in CAN_RESUME,
    }
    return StudyInfo(**{**row, **made})


@cache
def examples() -> tuple[KnownSet, ...]:
    """Return the data sets that need no download."""
    return tuple(known for known in known_sets() if not known.origin.startswith("OpenML"))


def example_named(name: str) -> KnownSet:
    """Return the data set of a name, which is one of `examples`."""
    for known in examples():
        if known.name == name:
            return known
    raise NotFound(f"There is no example {name!r}. GET /api/examples lists them.")


router = APIRouter(prefix="/api", tags=["studies"])
Used = Annotated[Studio, Depends(studio_of)]
LOOK_SECONDS = 0.2  # between two looks at the state of a study
SANDBOXED = {"content-security-policy": "sandbox; default-src 'none'"}  # of files that are opened by themselves
ALONE = {
    "content-security-policy": "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"
}  # of a report: a sandbox without an origin


@router.get("/studies")
def list_studies(studio: Used) -> list[StudyInfo]:
    """List all studies, the newest first."""
    return [info_of(row, studio.store) for row in studio.store.studies()]


@router.post("/studies", status_code=201)
def start_study(studio: Used, wanted: NewStudy) -> StudyInfo:
    """Start a study, or queue it behind those before it. An error names what to change."""
    shown = preview(studio.table_of(wanted), wanted.target, wanted.settings.checked())
    if shown.refusal is not None:
        raise Refused(shown.refusal.message)
    taken = wanted.model_copy(update={"target": shown.target})
    return studio.info(studio.start(taken, None if shown.cost is None else shown.cost.seconds))


@router.get("/studies/{study}")
def show_study(studio: Used, study: str) -> StudyInfo:
    """Show the state of a study."""
    return studio.info(study)


@router.patch("/studies/{study}")
def rename_study(studio: Used, study: str, wanted: Rename) -> StudyInfo:
    """Give a study another name."""
    studio.store.study(study)
    studio.store.change_study(study, name=wanted.name)
    return studio.info(study)


@router.delete("/studies/{study}", status_code=204)
def remove_study(studio: Used, study: str) -> None:
    """Remove a study and its files; one that is running must be cancelled first."""
    studio.relearner.cancel_all(study)
    studio.runner.remove(study)


@router.get("/studies/{study}/events", response_class=StreamingResponse)
async def follow_study(studio: Used, study: str) -> StreamingResponse:
    """Follow a study: server-sent events, each with the study as ``GET /api/studies/{study}`` shows it."""
    studio.info(study)
    return StreamingResponse(_events(studio, study), media_type="text/event-stream")


async def _events(studio: Studio, study: str) -> AsyncIterator[str]:
    """Yield the study whenever it has changed, until it is over or removed."""
    seen = 0
    while True:
        try:
            info = studio.info(study)
        except NotFound:
            return
        if info.revision != seen:
            seen = info.revision
            yield f"data: {info.model_dump_json()}\n\n"
        if info.state in OVER:
            return
        await asyncio.sleep(LOOK_SECONDS)


@router.get("/studies/{study}/parts")
def finished_parts(studio: Used, study: str) -> dict[str, Any]:
    """Return the parts of a study that are finished while others are computed: scores, verdicts and so on."""
    studio.store.study(study)
    return studio.store.parts(study)


@router.post("/studies/{study}/cancel")
def cancel_study(studio: Used, study: str) -> StudyInfo:
    """End a study that waits or runs; its finished fits are kept."""
    studio.runner.cancel(study)
    return studio.info(study)


@router.post("/studies/{study}/resume")
def resume_study(studio: Used, study: str) -> StudyInfo:
    """Resume a study that was cancelled or interrupted from its kept fits."""
    studio.runner.resume(study)
    return studio.info(study)


@router.get("/studies/{study}/page")
def page_of_study(studio: Used, study: str) -> Response:
    """Return everything that the page shows of a finished study, as JSON."""
    studio.store.finished(study)
    return FileResponse(studio.project.results_of(study) / DATA_FILE, media_type="application/json")


@router.get("/studies/{study}/points", response_class=Response)
def points_of_study(studio: Used, study: str) -> Response:
    """Return the rows beside the cases of a study of a large table, as `whynear.report.page_cases` packs them."""
    studio.store.finished(study)
    path = studio.project.results_of(study) / POINTS_FILE
    if not path.exists():
        raise NotFound(f"All rows of this study are cases: GET /api/studies/{study}/page contains them.")
    return FileResponse(path, media_type="application/octet-stream")


@router.get("/studies/{study}/report", response_class=Response)
def report_of_study(studio: Used, study: str) -> Response:
    """Show the report of a finished study as a page of its own, whose scripts can reach nothing of the studio."""
    studio.store.finished(study)
    path = studio.project.results_of(study) / "report.html"
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=ALONE)


@router.get("/studies/{study}/files")
def list_files(studio: Used, study: str) -> Files:
    """List the files of a finished study."""
    studio.store.finished(study)
    return Files(files=sorted(path.name for path in studio.project.results_of(study).iterdir() if path.is_file()))


@router.get("/studies/{study}/files/{name}")
def download_file(studio: Used, study: str, name: str) -> Response:
    """Download one file of a finished study, such as report.html, which needs no server."""
    if name not in list_files(studio, study).files:
        raise NotFound(f"The study has no file {name!r}. GET /api/studies/{study}/files lists them.")
    return FileResponse(studio.project.results_of(study) / name, filename=name, headers=SANDBOXED)


@router.get("/compare")
def compare(studio: Used, first: str, second: str) -> Differences:
    """Compare two finished studies."""
    rows = studio.store.finished(first), studio.store.finished(second)
    named = (replace(read_study(studio.project.results_of(row["id"])), name=row["name"]) for row in rows)
    return Differences(differences=compare_studies(*named).to_dict())


@router.post("/links", status_code=201, tags=["keys"])
def new_link(studio: Used) -> dict[str, str]:
    """Return an address that opens the page in another browser, once."""
    return {"link": studio.link()}


table_router = APIRouter(prefix="/api", tags=["tables"])


@table_router.get("/tables")
def list_tables(studio: Used) -> list[TableInfo]:
    """List the tables of the project, the newest first."""
    return [TableInfo(**row) for row in studio.store.tables()]


@table_router.post("/tables", status_code=201)
async def send_table(
    studio: Used,
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file, such as cases.csv.")],
    content_length: Annotated[int | None, Header()] = None,
) -> TableInfo:
    """Send a table: the body is the file itself (CSV, TSV, Parquet, Excel; text also with .gz)."""
    return TableInfo(**await receive_table(studio.project, name, content_length, request.stream()))


@table_router.delete("/tables/{table}", status_code=204)
def remove_table(studio: Used, table: str) -> None:
    """Remove a table that no study uses."""
    studio.store.table(table)
    if studies := studio.store.studies_of_table(table):
        used_by = counted(len(studies), "study. Delete it", "studies. Delete them")
        raise WrongState(f"The table is used by {used_by} first.")
    studio.project.remove_table(table)


@table_router.get("/examples")
def list_examples() -> list[Example]:
    """List the data sets that can be named instead of a table."""
    return [Example(**asdict(known)) for known in examples()]


@table_router.post("/tables/{table}/preview")
def preview_table(studio: Used, table: str, choice: Choice) -> Preview:
    """Show a table as a study with this target and these settings would take it; nothing is changed."""
    return preview(studio.project.file_of(table), choice.target, choice.settings.checked())


@table_router.post("/examples/{name}/preview")
def preview_example(name: str, choice: Choice) -> Preview:
    """Show a data set as a study with this target and these settings would take it."""
    return preview(example_named(name).name, choice.target, choice.settings.checked())


case_router = APIRouter(prefix="/api/studies/{study}", tags=["cases"])


def live_of(studio: Used, study: str) -> Live:
    """Return a finished study with its model and its table."""
    return live_study(studio.project, studio.store.finished(study))


Asked = Annotated[Live, Depends(live_of)]


@case_router.get("/features")
def list_features(live: Asked) -> list[Feature]:
    """List the columns that the model takes, with the values they may be given."""
    return features_of(live)


@case_router.get("/rows")
def list_rows(live: Asked) -> RowNames:
    """List the names of all rows and their targets, in the order of the table."""
    return RowNames(rows=live.row_names, true=live.problem.y.tolist())


@case_router.get("/features/{place}/values", response_class=Response)
def values_of_feature(live: Asked, place: int) -> Response:
    """Return the values of a column of numbers for all rows: float32 in little-endian order; NaN is missing."""
    columns = features_of(live)
    if not 0 <= place < len(columns) or columns[place].kind == "category":
        raise NotFound(f"There is no column of numbers at place {place}.")
    values = live.problem.X[columns[place].name].to_numpy(dtype=np.float64, na_value=np.nan)
    return Response(values.astype("<f4").tobytes(), media_type="application/octet-stream")


@case_router.post("/what-if")
def answer_what_if(live: Asked, query: CaseQuery) -> WhatIf:
    """Predict a case with some values changed: its votes and neighbours, and which of its values are unusual."""
    return what_if(live, query)


@case_router.post("/flip")
def answer_flip(live: Asked, query: FlipQuery) -> Flips:
    """Find the smallest changes of a case that change its prediction, within the range of the data."""
    return smallest_flips(live, query)


@case_router.post("/leave-out")
def answer_leave_out(live: Asked, query: LeaveOutQuery) -> LeaveOutAnswer:
    """Fit the learner again without some features, on the same folds as with all, and compare the scores."""
    return leave_out(live, query)


@case_router.post("/python")
def show_python(studio: Used, live: Asked, study: str, query: PythonQuery) -> PythonLines:
    """Return the Python code that makes what a view shows."""
    return python_of(studio.project, live, study, query)


@case_router.get("/lock")
def show_locked(studio: Used, study: str) -> Locked | None:
    """Show the features of the locked model; null if there is none."""
    found = studio.store.finished(study)["locked"]
    return None if found is None else Locked(**found)


@case_router.post("/lock")
def lock_features(studio: Used, live: Asked, study: str, query: LeaveOutQuery) -> Locked:
    """Fit the learner to all rows with the remaining features, and keep it as the model 'locked'."""
    return lock(studio.store, live, study, query)


@case_router.delete("/lock", status_code=204)
def unlock_features(studio: Used, live: Asked, study: str) -> None:
    """Remove the locked model."""
    unlock(studio.store, live, study)


@case_router.get("/marks")
def show_ranking(studio: Used, live: Asked, study: str, query: str, k: int = 10) -> Ranking:
    """Show the rows nearest to a row, by the metric of the study and by the one learned from all marks."""
    return ranking(live, studio.store.marks(study), live.name_of_row(query), k)


@case_router.post("/marks")
def mark_case(studio: Used, live: Asked, study: str, mark: Mark, k: int = 10) -> Ranking:
    """Mark a row that was found for another as like it or not; the ranks before and after follow."""
    query, case = live.name_of_row(mark.query), live.name_of_row(mark.case)
    studio.store.mark(study, query, case, mark.alike)
    return ranking(live, studio.store.marks(study), query, k)


@case_router.delete("/marks")
def take_back_mark(studio: Used, live: Asked, study: str, query: str, k: int = 10) -> Ranking:
    """Take back the last mark."""
    studio.store.unmark(study)
    return ranking(live, studio.store.marks(study), live.name_of_row(query), k)


@case_router.post("/marks/keep")
def keep_marks(studio: Used, live: Asked, study: str) -> Kept:
    """Save all rows as a case base under the metric that was learned from the marks."""
    return keep(live, studio.store.marks(study))


relearn_router = APIRouter(prefix="/api/studies/{study}/relearn", tags=["cases"])


@relearn_router.get("")
def list_refits(studio: Used, study: str) -> list[Relearning]:
    """List all refits without some features, the newest first."""
    studio.store.finished(study)
    return studio.relearner.listed(study)


@relearn_router.post("", status_code=202)
def start_refit(studio: Used, live: Asked, study: str, query: LeaveOutQuery) -> Relearning:
    """Fit the learner again without some features: first the score, then the verdicts and stand-ins that move."""
    features = left_out(live, query)
    check_left_out(columns_of(live, features), list(live.problem.X.columns))
    return studio.relearner.start(study, features)


@relearn_router.get("/{number}")
def show_refit(studio: Used, study: str, number: int) -> Relearning:
    """Show how far a refit is, and what it has found."""
    studio.store.finished(study)
    return studio.relearner.shown(study, number)


@relearn_router.post("/{number}/cancel")
def cancel_refit(studio: Used, study: str, number: int) -> Relearning:
    """End a refit; its score is kept if it was known."""
    studio.store.finished(study)
    studio.relearner.cancel(study, number)
    return studio.relearner.shown(study, number)
