import errno
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from whynear.work import processes
from whynear.work.processes import in_a_file, mapped


def test_values_are_read_as_they_were_written():
    table = pd.DataFrame({"x": np.arange(5.0), "n": np.arange(5), "c": list("aabbc")}, index=list("vwxyz"))
    table["k"] = table["c"].astype("category")
    shared = {"table": table, "X": np.asfortranarray(np.eye(4)), "empty": np.empty((0, 3)), "name": "a"}
    with in_a_file(shared) as path:
        found = mapped(path)
        assert_frame_equal(found["table"], table)
        assert (found["X"] == np.eye(4)).all()
        assert found["X"].flags.f_contiguous
        assert found["empty"].shape == (0, 3)
        assert found["name"] == "a"


def test_arrays_are_parts_of_the_file_and_cannot_be_changed():
    with in_a_file({"X": np.ones(10_000)}) as path:
        X = mapped(path)["X"]
        assert not X.flags.owndata
        assert X.ctypes.data % 64 == 0
        with pytest.raises(ValueError, match="read-only"):
            X[0] = 2.0
        maps = Path("/proc/self/maps")
        assert not maps.exists() or path in maps.read_text()


def test_the_file_is_removed_and_nothing_is_written_without_values():
    with in_a_file({"X": np.ones(3)}) as path:
        assert os.path.exists(path)
    assert not os.path.exists(os.path.dirname(path))
    with in_a_file({}) as path:
        assert path is None


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_named_with_the_bytes_and_the_way_out(monkeypatch):
    monkeypatch.setattr(processes.Path, "open", lambda *_: os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb"))
    sharing_ones = in_a_file({"X": np.ones(10_000)})
    with pytest.raises(OSError, match=r"shared could not .* needs 80\d\d\d bytes\. .*TMPDIR\).*--n-jobs 1\)") as fault:
        sharing_ones.__enter__()
    assert fault.value.errno == errno.ENOSPC
    folder = re.match("(.*)/shared", fault.value.strerror)[1]
    assert not os.path.exists(folder)


SCRIPT = """
from sklearn.neighbors import KNeighborsClassifier
from whynear.work.pieces import Piece
from whynear.work.workers import start_workers

class Mine(KNeighborsClassifier):
    pass

def name_of(learner):
    return type(learner).__name__

with start_workers("processes", 2) as workers:
    print([done.result for _, done in workers.run([Piece(name_of, {})] * 2, {"learner": Mine()})])
"""


@pytest.mark.slow
def test_classes_and_functions_of_a_script_are_known_to_processes(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    run = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "['Mine', 'Mine']", run.stderr
