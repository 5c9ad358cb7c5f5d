import json
import os
import socket
import sqlite3

import pytest

from whynear.cases.case_base import CaseBase
from whynear.cases.database import WriterNote


def test_a_lock_of_this_very_process_is_said_to_be_so(path):
    first, second = CaseBase(path), CaseBase(path, timeout=0)
    with first._store.writing(), pytest.raises(TimeoutError, match=f"process {os.getpid()}, which is this one,"):
        second.add([[1.0, 2.0, 3.0]])
    assert not path.with_name("base-writer").exists()


def test_the_note_of_a_dead_process_is_ignored(path):
    note = {"process": 4194304999, "machine": socket.gethostname(), "since": "2001"}
    path.with_name("base-writer").write_text(json.dumps(note))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match="a process that left no note"):
        CaseBase(path, timeout=0).add([[1.0, 2.0, 3.0]])


def test_a_note_names_its_process_until_it_is_removed(tmp_path):
    note = WriterNote(tmp_path / "base")
    assert note.writer() == "a process that left no note"
    note.write()
    assert note.writer().startswith(f"process {os.getpid()}, which is this one, since 20")
    note.remove()
    assert not note.path.exists()


def test_the_note_of_another_process_is_not_removed(tmp_path):
    note = WriterNote(tmp_path / "base")
    note.path.write_text(json.dumps({"process": 1, "machine": "elsewhere", "since": "2001"}))
    assert note.writer() == "process 1 on elsewhere since 2001"
    note.remove()
    assert note.path.exists()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"process": "x"}'])
def test_a_note_that_is_half_written_is_none(tmp_path, content):
    note = WriterNote(tmp_path / "base")
    note.path.write_text(content)
    assert note.writer() == "a process that left no note"


def test_a_folder_that_cannot_be_written_has_no_note(tmp_path):
    note = WriterNote(tmp_path / "nowhere" / "base")
    note.write()
    note.remove()
    assert not note.path.exists()
