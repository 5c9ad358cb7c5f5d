"""The part of the API on tables: send one, look at it, remove it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request

from whynear.studio.faults import WrongState
from whynear.studio.previews import preview
from whynear.studio.studio import Studio, example_named, examples, studio_of
from whynear.studio.study_models import Choice
from whynear.studio.table_models import Example, Preview, TableInfo
from whynear.studio.uploads import receive_table
from whynear.utils.text import counted

router = APIRouter(prefix="/api", tags=["tables"])
Used = Annotated[Studio, Depends(studio_of)]


@router.get("/tables")
def list_tables(studio: Used) -> list[TableInfo]:
    """List the tables of the project, the newest first."""
    return [TableInfo(**row) for row in studio.store.tables()]


@router.post("/tables", status_code=201)
async def send_table(
    studio: Used,
    request: Request,
    name: Annotated[str, Query(min_length=1, max_length=500, description="The name of the file, such as cases.csv.")],
    content_length: Annotated[int | None, Header()] = None,
) -> TableInfo:
    """Send a table: the body is the file itself (CSV, TSV, Parquet, Excel; text also with .gz)."""
    return TableInfo(**await receive_table(studio.project, name, content_length, request.stream()))


@router.delete("/tables/{table}", status_code=204)
def remove_table(studio: Used, table: str) -> None:
    """Remove a table that no study uses."""
    studio.store.table(table)
    if studies := studio.store.studies_of_table(table):
        raise WrongState(f"The table is used by {counted(len(studies), 'study', 'studies')}. Delete them first.")
    studio.project.remove_table(table)


@router.get("/examples")
def list_examples() -> list[Example]:
    """List the data sets that can be named instead of a table."""
    return [Example(**asdict(known)) for known in examples()]


@router.post("/tables/{table}/preview")
def preview_table(studio: Used, table: str, choice: Choice) -> Preview:
    """Show a table as a study with this target and these settings would take it; nothing is changed."""
    return preview(studio.project.file_of(table), choice.target, choice.settings.checked())


@router.post("/examples/{name}/preview")
def preview_example(name: str, choice: Choice) -> Preview:
    """Show a data set as a study with this target and these settings would take it."""
    return preview(example_named(name).name, choice.target, choice.settings.checked())
