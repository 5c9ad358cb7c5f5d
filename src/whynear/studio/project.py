"""The folder of a project: its state, the tables that were sent, and a folder for each study."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
from pathlib import Path
from typing import Any

from whynear.studio.store import Row, Store
from whynear.utils.files import check_folder, make_folder, sync_file, sync_folder
from whynear.utils.text import printable

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
