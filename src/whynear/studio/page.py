"""The files of the studio's page, which is the page of a report, and the data of a study for it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from whynear.report.packed_rows import packed_rows
from whynear.report.page_cases import class_names
from whynear.report.page_data import page_data
from whynear.utils.arrays import plain_values
from whynear.utils.files import write_data

if TYPE_CHECKING:
    from whynear.study.result import Study

BUILT_PAGE = Path(__file__).parents[1] / "report" / "static"  # from TypeScript
DATA_FILE, POINTS_FILE = "page.json", "points.bin"
KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def write_page_data(study: Study, folder: Path) -> None:
    """Write what the page shows into the folder of a study; rows beside its cases into a file of their own."""
    shown = page_data(study)
    if study.others is not None:
        del shown["others"]["packed"]
        write_data(folder / POINTS_FILE, packed_rows(study.others, class_names(study)))
    write_data(folder / DATA_FILE, json.dumps(plain_values(shown), allow_nan=False, ensure_ascii=False))


def page_files() -> dict[str, tuple[bytes, str]]:
    """Return the content and the type of each file of the page by its path; ``index.html`` is the page itself.

    They are read once, and no other file can be requested.
    """
    return {
        path.relative_to(BUILT_PAGE).as_posix(): (path.read_bytes(), KINDS[path.suffix])
        for path in sorted(BUILT_PAGE.rglob("*"))
        if path.suffix in KINDS
    }
