"""Errors of SQLite turned into messages that name the file, the fact and the way out."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
            need = f"it needs about {needed} bytes, {_free(path)}, and the case base is as it was"
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


def _free(path: Path) -> str:
    try:
        return f"{shutil.disk_usage(os.path.dirname(os.path.realpath(path))).free} bytes are free there"
    except OSError:
        return "the free space there is unknown"
