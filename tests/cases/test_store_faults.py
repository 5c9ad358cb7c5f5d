import os
import sqlite3
from pathlib import Path

import pytest

from tests.helpers.case_bases import METRIC, filled
from whynear.cases.case_base import CaseBase
from whynear.cases.database import CaseBaseError, explained, is_busy


def test_a_path_without_a_base_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"must be a file, got a folder"):
        CaseBase(tmp_path, METRIC)
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist.*give a metric"):
        CaseBase(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none"):
        CaseBase(tmp_path / "none" / "base", METRIC)
    assert os.listdir(tmp_path) == []


def test_a_damaged_file_is_named(tmp_path):
    path = filled(tmp_path / "base", n=5000)
    content = bytearray(path.read_bytes())
    content[8192 : len(content) // 2] = os.urandom(len(content) // 2 - 8192)
    path.write_bytes(content)
    with pytest.raises(CaseBaseError, match=r"base .*damaged"), CaseBase(path) as base:
        base.retrieve([0.0, 0.0])


def test_a_closed_base_says_so(tmp_path):
    base = CaseBase(tmp_path / "base", METRIC)
    base.close()
    base.close()
    for use in (lambda: base.add([[1.0, 1.0]]), lambda: base.retrieve([0.0, 0.0]), lambda: len(base)):
        with pytest.raises(ValueError, match=r"was closed. Open it again"):
            use()


def sqlite_error(code, kind=sqlite3.OperationalError):
    error = kind("what SQLite reports")
    error.sqlite_errorcode = code
    return error


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (sqlite3.SQLITE_NOTADB, CaseBaseError, "not an SQLite file"),
        (sqlite3.SQLITE_CORRUPT, CaseBaseError, "is damaged .what SQLite reports.. Restore a copy"),
        (sqlite3.SQLITE_FULL, OSError, "disk is full.: it needs about 7 bytes"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, PermissionError, "Change the permissions"),
        (sqlite3.SQLITE_IOERR, OSError, "Check the disk"),
        (sqlite3.SQLITE_BUSY, TimeoutError, "locked by another program"),
        (sqlite3.SQLITE_ERROR, CaseBaseError, "cannot be used as a case base"),
    ],
)
def test_errors_of_sqlite_name_the_file_and_the_way_out(code, kind, message):
    with pytest.raises(kind, match=message) as caught, explained(Path("the.base"), needed=7):
        raise sqlite_error(code)
    assert "the.base" in str(caught.value)
    assert isinstance(caught.value.__cause__, sqlite3.Error)


def test_only_locks_are_busy():
    assert is_busy(sqlite_error(sqlite3.SQLITE_BUSY))
    assert is_busy(sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT))
    assert not is_busy(sqlite_error(sqlite3.SQLITE_FULL))
    assert not is_busy(sqlite3.Error("without a code"))


def test_a_message_of_sqlite_that_quotes_no_text_is_a_damaged_file():
    with pytest.raises(CaseBaseError, match=r"base is damaged .*Restore a copy"), explained(Path("base")):
        b"malformed database schema (ca\xf1es)".decode()


def test_a_schema_that_is_no_text_is_a_damaged_file(tmp_path):
    path = filled(tmp_path / "base")
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE cases", b"CREATE TABLE ca\xf1es"))
    with pytest.raises(CaseBaseError, match="base is damaged"):
        CaseBase(path)
