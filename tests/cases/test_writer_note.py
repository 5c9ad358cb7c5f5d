import json
import os
import socket
import sqlite3

import pytest

from whynear.cases.case_base import CaseBase


def test_a_lock_of_this_very_process_is_said_to_be_so(path):
    first, second = CaseBase(path), CaseBase(path, timeout=0)
    with first._store.writing(), pytest.raises(TimeoutError, match=f"process {os.getpid()}, which is this one,"):
        second.add([[1.0, 2.0, 3.0]])
    assert not path.with_name("base-writer").exists()


def test_a_note_of_a_dead_process_accuses_nobody(path):
    note = {"process": 4194304999, "machine": socket.gethostname(), "since": "2001"}
    path.with_name("base-writer").write_text(json.dumps(note))
    stranger = sqlite3.connect(path, isolation_level=None)
    stranger.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match="a process that left no note"):
        CaseBase(path, timeout=0).add([[1.0, 2.0, 3.0]])
