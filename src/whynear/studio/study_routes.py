"""The part of the API on studies: start, follow, cancel, resume, read, compare and remove them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from fastapi.responses import FileResponse, StreamingResponse

from whynear.studio import page
from whynear.studio.comparing import compared
from whynear.studio.faults import NotFound, Refused
from whynear.studio.previews import preview
from whynear.studio.runner import OVER
from whynear.studio.studio import Studio, info_of, studio_of
from whynear.studio.study_models import Differences, Files, NewStudy, Rename, StudyInfo

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
    studio.finished(study)
    return FileResponse(studio.project.results_of(study) / page.DATA_FILE, media_type="application/json")


@router.get("/studies/{study}/points", response_class=Response)
def points_of_study(studio: Used, study: str) -> Response:
    """Return the rows beside the cases of a study of a large table, as `whynear.report.packed_rows` packs them."""
    studio.finished(study)
    path = studio.project.results_of(study) / page.POINTS_FILE
    if not path.exists():
        raise NotFound(f"All rows of this study are cases: GET /api/studies/{study}/page contains them.")
    return FileResponse(path, media_type="application/octet-stream")


@router.get("/studies/{study}/report", response_class=Response)
def report_of_study(studio: Used, study: str) -> Response:
    """Show the report of a finished study as a page of its own, whose scripts can reach nothing of the studio."""
    studio.finished(study)
    path = studio.project.results_of(study) / "report.html"
    return FileResponse(path, media_type="text/html; charset=utf-8", headers=ALONE)


@router.get("/studies/{study}/files")
def list_files(studio: Used, study: str) -> Files:
    """List the files of a finished study."""
    studio.finished(study)
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
    return compared(studio, first, second)


@router.post("/links", status_code=201, tags=["keys"])
def new_link(studio: Used) -> dict[str, str]:
    """Return an address that opens the page in another browser, once."""
    return {"link": studio.link()}
