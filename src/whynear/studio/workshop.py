"""What the studio does with its project, its models and its processes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import Request

from whynear.data.catalog import KnownSet, known_sets
from whynear.studio.guard import Keys
from whynear.studio.models import NewStudy, StudyInfo, changed_settings
from whynear.studio.project import Project, new_id
from whynear.studio.runner import CAN_RESUME, Relearner, Runner, progress_of
from whynear.studio.store import NotFound, Refused, Row, Store, WrongState


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
        row = {
            "id": study,
            "name": wanted.name or source,
            "source": source,
            "table_id": wanted.table,
            "example": wanted.example,
            "target": wanted.target,
            "settings": wanted.settings.model_dump(mode="json"),
            "state": "waiting",
            "expected": expected,
        }
        self.store.add_study(row)
        self.runner.start_next()
        return study

    def table_of(self, wanted: NewStudy) -> str | Path:
        """Return the table of a new study as the library takes it: a path, or the name of a data set."""
        if (wanted.table is None) == (wanted.example is None):
            raise Refused("Give either the id of a table (table) or the name of a data set (example).")
        return (
            self.project.file_of(wanted.table) if wanted.table is not None else example_named(str(wanted.example)).name
        )

    def info(self, study: str) -> StudyInfo:
        """Return a study as the API shows it."""
        return info_of(self.store.study(study), self.store)

    def finished(self, study: str) -> Row:
        """Return the row of a study that is finished."""
        row = self.store.study(study)
        if row["state"] != "finished":
            raise WrongState(f"The study is {row['state']}: it has no results yet.")
        return row


def studio_of(request: Request) -> Studio:
    """Return the studio of a request."""
    return request.app.state.studio


def info_of(row: Row, store: Store) -> StudyInfo:
    """Return the row of a study as the API shows it."""
    shown = {name: value for name, value in row.items() if name in StudyInfo.model_fields}
    made = {
        "table": row["table_id"],
        "settings": changed_settings(row["settings"]).changed(),
        "progress": progress_of(row, time.time()),
        "parts": store.part_names(row["id"]),
        "can_resume": row["state"] in CAN_RESUME,
    }
    return StudyInfo(**{**shown, **made})


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
