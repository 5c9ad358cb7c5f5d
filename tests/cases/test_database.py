import os
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.case_bases import METRIC, filled
from whynear.cases import database
from whynear.cases.case_base import CaseBase
from whynear.cases.database import CaseBaseError, explained, is_busy


def test_files_of_others_are_named_and_left_alone(tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a data base, but long enough to be read as one: " + 100 * "x")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE cases (id INTEGER)")
    before = text.read_bytes(), other.read_bytes()
    for metric in (None, METRIC):
        with pytest.raises(CaseBaseError, match=r"notes.txt is no case base: it is not an SQLite file"):
            CaseBase(text, metric)
        with pytest.raises(CaseBaseError, match=r"other.db is no case base: it is an SQLite file"):
            CaseBase(other, metric)
    assert (text.read_bytes(), other.read_bytes()) == before


@pytest.mark.parametrize(("version", "remedy"), [(7, "pip install --upgrade whynear"), (0, "make it again")])
def test_other_formats_are_refused(tmp_path, version, remedy):
    path = filled(tmp_path / "base")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(CaseBaseError, match=rf"format {version}, .* reads formats up to 2; {remedy}"):
        CaseBase(path)


def test_a_full_disk_leaves_the_old_state(tmp_path):
    path = filled(tmp_path / "base")
    with CaseBase(path) as base:
        before = base.generation
        base._store.database.execute(f"PRAGMA max_page_count = {os.path.getsize(path) // 4096 + 5}")
        with pytest.raises(OSError, match=r"disk is full.*400000 bytes, \d+ bytes are free.* as it was"):
            base.add(np.ones((50_000, 2)))
        assert (base.generation, len(base)) == (before, 100)
        assert_array_equal(base.add([[1.0, 1.0]]), [101])


def test_what_may_not_be_written_can_be_read(tmp_path, monkeypatch):
    path = filled(tmp_path / "base")
    files = set(os.listdir(tmp_path))
    monkeypatch.setattr(database.os, "access", lambda *_: False)  # the superuser may write anywhere
    with CaseBase(path) as base:
        assert len(base.retrieve([0.0, 0.0])) == 10
        for change in (lambda: base.add([[1.0, 1.0]]), lambda: base.remove([1]), base.compact):
            with pytest.raises(PermissionError, match=r"base cannot be written. Change the permissions"):
                change()
    assert set(os.listdir(tmp_path)) == files


def test_removed_cases_are_wiped_out_by_compacting(tmp_path):
    secret = np.array([[1.2345678e5, 7.654321e4]])
    with CaseBase(filled(tmp_path / "base"), METRIC) as base:
        ids = base.add(secret, [{"name": "somebody in particular"}])
        base.remove(ids)
        base.compact()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.astype("<f4").tobytes() not in content
    assert b"somebody in particular" not in content


def test_a_transaction_is_whole_or_undone(tmp_path):
    base = database.Database(tmp_path / "base", may_create=True, timeout=0)
    base.prepare()
    assert base.is_empty()
    with base.writing():
        base.execute("CREATE TABLE t (a INTEGER)")
        base.execute_many("INSERT INTO t VALUES (?)", [(1,), (2,)])
    with pytest.raises(ZeroDivisionError), base.writing():
        base.execute_many("INSERT INTO t VALUES (?)", ((1 / number,) for number in (1, 0)))
    assert not base.is_empty()
    assert base.first("SELECT sum(a) FROM t") == (3,)
    assert base.first("SELECT a FROM t WHERE a > 5") is None
    base.close()


def test_a_reader_sees_one_state_while_another_writes(tmp_path):
    writer = database.Database(tmp_path / "base", may_create=True, timeout=0)
    writer.prepare()
    with writer.writing():
        writer.execute("CREATE TABLE t (a INTEGER)")
    reader = database.Database(tmp_path / "base", may_create=False, timeout=0)
    with reader.reading():
        with writer.writing():
            writer.execute("INSERT INTO t VALUES (1)")
        assert reader.first("SELECT count(*) FROM t") == (0,)
    with reader.reading():
        assert reader.first("SELECT count(*) FROM t") == (1,)
    reader.close()
    writer.close()


def test_every_change_is_on_the_disk_when_it_is_acknowledged(tmp_path):
    with CaseBase(tmp_path / "base", METRIC) as base:
        assert base._store.database.first("PRAGMA synchronous") == (2,)  # FULL: also after a power cut


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
