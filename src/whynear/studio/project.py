"""The folder of a project, and the tables that are uploaded to it."""

from __future__ import annotations

import contextlib
import filecmp
import gzip
import os
import secrets
import shutil
import sqlite3
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fastapi.concurrency import run_in_threadpool

from whynear.studio.store import Refused, Row, Store, TooLarge
from whynear.utils.files import check_folder, make_folder, sync_file, sync_folder
from whynear.utils.text import in_words, printable

STATE = "studio.db"
LOCK = "studio.lock"
MOST_LETTERS = 100  # of the name of a file
HALF = ".half"  # ends the name of a folder that is being filled or removed
SEPARATORS = '/\\:*?"<>|'


class Project:
    """A folder that one server at a time works in.

    Nothing in it is found by a name that a browser gave: ids are looked up in the state of the project.
    """

    def __init__(self, folder: Path) -> None:
        check_folder(folder)
        make_folder(folder)
        self.folder = folder.resolve()
        self._lock = _locked(self.folder / LOCK)
        self.store = Store(self.folder / STATE)
        self._finish_halves()

    def close(self) -> None:
        """Close the files; another server may then use the folder."""
        self.store.close()
        self._lock.close()

    def _finish_halves(self) -> None:
        """Finish what a killed server began: folders of tables and studies that are known stay, others are removed."""
        for kind, rows in (("tables", self.store.tables()), ("studies", self.store.studies())):
            known = {row["id"] for row in rows}
            for half in [*(self.folder / kind).glob(f"*{HALF}")]:
                folder = half.with_name(half.name.removesuffix(HALF))
                if folder.name in known and not folder.exists():
                    os.replace(half, folder)
                else:
                    shutil.rmtree(half, ignore_errors=True)

    def new_table(self, name: str) -> Row:
        """Return the id of a new table, its cleaned name, and the path for its file, which it gets by `add_table`."""
        table, clean = new_id(), file_name(name)
        row = {"id": table, "name": clean, "file": str(Path("tables", table, clean))}
        make_folder(self.half_of(row).parent)
        return row

    def half_of(self, row: Row) -> Path:
        """Return the path for the file of a new table until all of it is there."""
        path = self.folder / row["file"]
        return _half(path.parent) / path.name

    def add_table(self, row: Row) -> Row:
        """Add a table whose file is complete to the project, once it is on the disk."""
        half = self.half_of(row)
        sync_file(half)
        sync_folder(half.parent)
        self.store.add_table({**row, "bytes": half.stat().st_size})
        os.replace(half.parent, self.file_of(row["id"]).parent)
        return self.store.table(row["id"])

    def file_of(self, table: str) -> Path:
        """Return the file of a table."""
        return self.folder / self.store.table(table)["file"]

    def remove_table(self, table: str) -> None:
        """Remove a table and its file."""
        half = _set_aside(self.file_of(table).parent)
        self.store.remove_table(table)
        shutil.rmtree(half, ignore_errors=True)

    def folder_of(self, study: str) -> Path:
        """Return the folder of a study of this project."""
        return self.folder / "studies" / str(self.store.study(study)["id"])

    def results_of(self, study: str) -> Path:
        """Return the folder with the files of a finished study."""
        return self.folder_of(study) / "study"

    def opened(self, row: Row) -> str | Path:
        """Return the table of a study as the library takes it: a path, or the name of a data set."""
        return str(row["example"]) if row["table_id"] is None else self.file_of(row["table_id"])

    def job_of(self, row: Row) -> dict[str, Any]:
        """Return what a process needs to work on a study."""
        return {
            "folder": str(self.folder_of(row["id"])),
            "table": str(self.opened(row)),
            "target": row["target"],
            "settings": row["settings"],
        }

    def remove_study(self, study: str) -> None:
        """Remove a study and all its files."""
        half = _set_aside(self.folder_of(study))
        self.store.remove_study(study)
        shutil.rmtree(half, ignore_errors=True)


def _half(folder: Path) -> Path:
    return folder.with_name(folder.name + HALF)


def _set_aside(folder: Path) -> Path:
    """Rename a folder that is to be removed, so that it is found again after a kill; return its new path."""
    with contextlib.suppress(FileNotFoundError):
        os.replace(folder, _half(folder))
        sync_folder(folder.parent)
    return _half(folder)


def new_id() -> str:
    """Return a new id: 16 hexadecimal digits."""
    return secrets.token_hex(8)


def file_name(name: str) -> str:
    r"""Return the last part of a name without signs that a system gives a meaning to.

    >>> file_name("../../etc/cases.csv"), file_name("C:\\data\\.my cases.csv"), file_name("a<b>|c.csv")
    ('cases.csv', 'my cases.csv', 'a_b__c.csv')
    """
    last = printable(name).replace("\\", "/").rpartition("/")[2]
    clean = "".join("_" if letter in SEPARATORS or letter == "\ufffd" else letter for letter in last).strip(" .")
    if len(clean) > MOST_LETTERS:
        clean = clean[-MOST_LETTERS:].strip(" .")  # the suffix gives the kind of the file
    return clean or "table"


def _locked(path: Path) -> Any:
    """Return a connection that holds a lock until it is closed, or its process ends."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=0.5)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        connection.close()
        raise ValueError(
            f"{path.parent} is in use by another studio. Open its page, or choose another folder (--folder)."
        ) from None
    return connection


MOST_BYTES = 512 << 20  # of a file, also when it is unpacked
MOST_ROWS = 1_000_000
MOST_UNPACKED_BYTES = 2 << 30  # of the numbers of a Parquet file
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".xlsx")
PIECE_BYTES = 1 << 20
WAY_OUT = "Use the command line for larger tables: whynear study TABLE --memory 2GB."


async def receive_table(project: Project, name: str, announced: int | None, chunks: AsyncIterator[bytes]) -> Row:
    """Write a table that is being sent into the project; nothing of it is left where it is refused.

    ``announced`` is the number of bytes that the request announces, if it does.
    """
    check_ending(name)
    if announced is not None and announced > MOST_BYTES:
        raise _too_large(announced)
    with _new_table(project, name) as row:
        received = 0
        with project.half_of(row).open("wb") as file:
            async for chunk in chunks:
                received += len(chunk)
                if received > MOST_BYTES:
                    raise _too_large(received)
                file.write(chunk)
        return await run_in_threadpool(added, project, row)


def copy_table(project: Project, path: Path) -> Row:
    """Copy a table that the user named into the project; one of the same content is not copied again."""
    if not path.is_file():
        what = "is a folder; the studio takes files" if path.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}. Name a file (CSV, TSV, Parquet, Excel) or a data set.")
    check_ending(path.name)
    for row in project.store.tables():
        kept = project.folder / row["file"]
        if row["name"] == file_name(path.name) and kept.is_file() and filecmp.cmp(kept, path, shallow=False):
            return row
    with _new_table(project, path.name) as row:
        shutil.copyfile(path, project.half_of(row))
        return added(project, row)


@contextmanager
def _new_table(project: Project, name: str) -> Iterator[Row]:
    """Return a new table whose file is to be written; its folder is removed if that fails."""
    row = project.new_table(name)
    try:
        yield row
    except BaseException:
        shutil.rmtree(project.half_of(row).parent, ignore_errors=True)
        raise


def added(project: Project, row: Row) -> Row:
    """Check a table whose file is complete, and add it to the project."""
    check_size(project.half_of(row))
    return project.add_table(row)


def check_ending(name: str) -> None:
    """Refuse a file that is no table by its name."""
    if not name.lower().endswith(ENDINGS):
        raise Refused(f"{name!r} must end in {', '.join(ENDINGS)}. Export the table in one of these formats.")


def check_size(path: Path) -> None:
    """Refuse a table that has too many rows, or too many bytes when it is unpacked, before any of it is parsed."""
    if not path.stat().st_size:
        raise Refused(f"{path.name} is empty. Export the table again.")
    checks = {".parquet": _check_parquet, ".xlsx": _check_workbook}
    checks.get(path.suffix.lower(), _check_text)(path)


def _check_text(path: Path) -> None:
    n_bytes = n_lines = 0
    for piece in _pieces(path):
        n_bytes, n_lines = n_bytes + len(piece), n_lines + piece.count(b"\n")
        if n_bytes > MOST_BYTES:
            raise _too_large(n_bytes)
        if n_lines > MOST_ROWS + 1:
            raise TooLarge(f"{path.name} has more than {MOST_ROWS:,} rows. {WAY_OUT}")


def _pieces(path: Path) -> Iterator[bytes]:
    packed = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            yield from iter(partial(file.read, PIECE_BYTES), b"")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Refused(f"{path.name} is no whole gzip file ({error}). Compress it again.") from None


def _check_parquet(path: Path) -> None:
    from whynear.data.parquet import parquet_facts  # here, since it imports pandas

    facts = parquet_facts(path)
    if facts.n_rows > MOST_ROWS:
        raise TooLarge(f"{path.name} has {facts.n_rows:,} rows, and at most {MOST_ROWS:,} are taken. {WAY_OUT}")
    if (n_bytes := 8 * facts.n_rows * len(facts.names)) > MOST_UNPACKED_BYTES:
        raise TooLarge(f"{path.name} has {in_words(n_bytes)} when it is read. {WAY_OUT}")


def _check_workbook(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise Refused(f"{path.name} is no Excel file ({error}). Export it again as .xlsx.") from None
    if n_bytes > MOST_BYTES:
        raise _too_large(n_bytes)


def _too_large(n_bytes: int) -> TooLarge:
    return TooLarge(f"The table has {in_words(n_bytes)}, and the studio takes {in_words(MOST_BYTES)}. {WAY_OUT}")


Say = Callable[[dict[str, Any]], None]
FITS, NEW, RESULTS = "fits", "new", "study"
DATA_FILE, POINTS_FILE = "page.json", "points.bin"  # of the page, beside the results
OLDER = "older"  # results that are being replaced
