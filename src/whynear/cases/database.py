"""The database of a case base: its faults, and the note of its writer."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

_RESTORE = "Restore a copy of the file"


class CaseBaseError(ValueError):
    """Raised for a file that is no case base of this version; the message names the file, the fault and the remedy."""


def damaged(path: Path, fact: str) -> CaseBaseError:
    """Return the error of a file whose content is not what was stored."""
    return CaseBaseError(f"{path} is damaged ({fact}). {_RESTORE}.")


@contextmanager
def explained(path: Path, needed: int = 0) -> Iterator[None]:
    """Turn errors of SQLite into built-in ones that name the file; ``needed`` is the size of a change in bytes."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(error, path, needed) from error
    except UnicodeDecodeError as error:  # the message of an error of SQLite, which quotes the bytes of the file
        raise damaged(path, "a text in it is not UTF-8") from error


def is_busy(error: sqlite3.Error) -> bool:
    """Return whether the error is a lock of another connection, which will be released."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def check_place(path: Path, *, may_create: bool) -> None:
    """Refuse a path without a file where none can be made."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} must be a file, got a folder instead. Name a file in it.")
    if path.exists():
        return
    if not may_create:
        raise FileNotFoundError(f"{path} does not exist. Check the name, or give a metric to make a new case base.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path} cannot be made: there is no folder {path.parent}. Make the folder first.")


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # the other bits are details


def _explained(error: sqlite3.Error, path: Path, needed: int) -> Exception:
    if isinstance(error, sqlite3.ProgrammingError):
        return ValueError(f"{path} was closed. Open it again: CaseBase({str(path)!r}).")
    match _code(error):
        case sqlite3.SQLITE_NOTADB:
            return CaseBaseError(f"{path} is no case base: it is not an SQLite file. Check the name.")
        case sqlite3.SQLITE_CORRUPT:
            return damaged(path, str(error))
        case sqlite3.SQLITE_FULL:
            try:
                free = f"{shutil.disk_usage(os.path.dirname(os.path.realpath(path))).free} bytes are free there"
            except OSError:
                free = "the free space there is unknown"
            need = f"it needs about {needed} bytes, {free}, and the case base is as it was"
            return OSError(errno.ENOSPC, f"{path} could not be written (the disk is full): {need}.")
        case sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM | sqlite3.SQLITE_CANTOPEN:
            return PermissionError(
                errno.EACCES, f"{path} or its folder cannot be written ({error}). Change the permissions."
            )
        case sqlite3.SQLITE_IOERR:
            return OSError(errno.EIO, f"{path} could not be read or written ({error}). Check the disk.")
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return TimeoutError(f"{path} is locked by another program. Try again when it has finished.")
    return CaseBaseError(f"{path} cannot be used as a case base ({error}). {_RESTORE}.")


class WriterNote:
    """The file ``<case base>-writer``: process, machine, and time."""

    def __init__(self, base: Path) -> None:
        self.path = base.with_name(f"{base.name}-writer")

    def write(self) -> None:
        """Write the note for this process, if the folder can be written."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        note = {"process": os.getpid(), "machine": socket.gethostname(), "since": now}
        with contextlib.suppress(OSError):
            self.path.write_text(json.dumps(note))

    def remove(self) -> None:
        """Remove the note, unless it is already that of the next writer."""
        if self._read().get("process") == os.getpid():
            with contextlib.suppress(OSError):
                self.path.unlink()

    def writer(self) -> str:
        """Return a description of the process that writes."""
        note = self._read()
        process, machine = note.get("process"), note.get("machine")
        if not isinstance(process, int) or (machine == socket.gethostname() and not _is_running(process)):
            return "a process that left no note"
        where = "" if machine == socket.gethostname() else f" on {machine}"
        own = ", which is this one," if not where and process == os.getpid() else ""
        return f"process {process}{where}{own} since {note.get('since')}"

    def _read(self) -> dict[str, Any]:
        try:
            note = json.loads(self.path.read_text())
        except (OSError, ValueError):  # none, or half written at this moment
            return {}
        return note if isinstance(note, dict) else {}


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, for another user
        pass
    return True


APPLICATION_ID = 0x77684E72  # in the header of the file, to recognise it among the files of other programs
LOCK_WAIT_SECONDS = 0.5  # of SQLite itself: an interrupt takes effect after that
CACHE_KIB = 64 << 10  # pages kept in memory, for cases that are read one by one


class Database:
    """One connection to the file, for one thread at a time."""

    def __init__(self, path: Path, *, may_create: bool, timeout: float) -> None:
        check_place(path, may_create=may_create)
        self.path, self.timeout = path, timeout
        self.read_only = path.exists() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
        self._note = WriterNote(path)
        with explained(path):
            self._connection = self._connect()

    def close(self) -> None:
        """Close the connection; the last one to close merges the write-ahead log into the file."""
        with explained(self.path):
            self._connection.close()

    def execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._connection.execute(statement, values)

    def execute_many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row of values."""
        self._connection.executemany(statement, rows)

    def first(self, statement: str, values: Sequence[Any] = ()) -> Any:
        """Return the first row of a query, None if it has none."""
        return self._connection.execute(statement, values).fetchone()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Open a view of one state of the file, which writers do not change meanwhile."""
        with explained(self.path):
            self._run_when_free("BEGIN", "SELECT 1 FROM sqlite_master LIMIT 1")
            try:
                yield
            finally:
                self._end()

    @contextmanager
    def writing(self, needed: int = 0) -> Iterator[None]:
        """Open a transaction of about that many bytes: when it ends, all of it is on the disk, or none of it."""
        self._check_writable()
        with explained(self.path, needed):
            self._run_when_free("BEGIN IMMEDIATE")
            self._note.write()
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                self._end()
                self._note.remove()

    def prepare(self) -> None:
        """Set WAL mode, in which readers and one writer work at the same time."""
        with explained(self.path):
            self._run_when_free("PRAGMA journal_mode = WAL")

    def is_empty(self) -> bool:
        """Return whether the file has no tables: it is new, or its first transaction was interrupted."""
        with self.reading():
            return self.first("SELECT 1 FROM sqlite_master LIMIT 1") is None

    def mark(self, version: int) -> None:
        """Write the application id and the format into the header of the file, within a transaction."""
        self.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        self.execute(f"PRAGMA user_version = {version}")

    def check_mark(self, version: int) -> int:
        """Return the format of the file, from 1 to that version; files of other programs and formats are refused."""
        with self.reading():
            (application,), (found,) = self.first("PRAGMA application_id"), self.first("PRAGMA user_version")
        if application != APPLICATION_ID:
            raise CaseBaseError(f"{self.path} is no case base: it is an SQLite file of another program.")
        if not 1 <= found <= version:
            remedy = "pip install --upgrade whynear" if found > version else "make it again with this version"
            raise CaseBaseError(
                f"{self.path} has format {found}, and this version reads formats up to {version}; {remedy}."
            )
        return int(found)

    def compact(self) -> None:
        """Free the disk space of removed rows."""
        self._check_writable()
        with explained(self.path):
            self._run_when_free("VACUUM")
            self._run_when_free("PRAGMA wal_checkpoint(TRUNCATE)")

    def _end(self) -> None:
        """Undo what is not committed; after some errors SQLite has done so itself."""
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _check_writable(self) -> None:
        if self.read_only:
            raise PermissionError(f"{self.path} cannot be written. Change the permissions of the file and its folder.")

    def _connect(self) -> sqlite3.Connection:
        if not self.read_only:
            connection = _opened(str(self.path), uri=False)
            connection.execute("PRAGMA synchronous = FULL")
            return connection
        # Where nothing can be written and there is no log, SQLite must not look for one.
        log = self.path.with_name(f"{self.path.name}-wal")
        options = "mode=ro" if log.exists() else "mode=ro&immutable=1"
        return _opened(f"file:{quote(str(self.path))}?{options}", uri=True)

    def _run_when_free(self, *statements: str) -> None:
        """Run the statements; while another process has the lock try again, until the timeout."""
        deadline = time.monotonic() + self.timeout
        while True:
            try:
                for statement in statements:
                    self._connection.execute(statement).fetchall()
                return
            except sqlite3.OperationalError as error:
                self._end()
                if not is_busy(error):
                    raise
                if time.monotonic() > deadline:
                    raise TimeoutError(
                        f"{self.path} is being written by {self._note.writer()}; waited {self.timeout:g} s. "
                        "Try again when it has finished, or wait longer (timeout)."
                    ) from error
                time.sleep(0.01)


def _opened(name: str, *, uri: bool) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name, timeout=LOCK_WAIT_SECONDS, isolation_level=None, check_same_thread=False, uri=uri
    )
    connection.execute(f"PRAGMA cache_size = {-CACHE_KIB}")
    return connection
