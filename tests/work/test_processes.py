import errno
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal
from whynear.work.pool import Pool

from tests.helpers.pieces import (
    additions,
    always_killed,
    double,
    is_gone,
    killed_once,
    killed_then_unsendable,
    limits,
    raising,
    unsendable,
)
from whynear.work import processes as processes_module
from whynear.work.pieces import Done, Failed, Piece
from whynear.work.processes import KILLED, WORTH_STARTING, Processes, in_a_file, mapped

TABLE = {"table": {"x": np.arange(100.0)}}
SUM = TABLE["table"]["x"].sum()


@pytest.fixture
def processes():
    made = []

    def make(n_workers, **options):
        made.append(Processes(n_workers, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()


def of(outcomes):
    return {piece.arguments["number"]: done.result for piece, done in outcomes}


@pytest.mark.parametrize(("n_workers", "also_here"), [(1, False), (2, False), (2, True), (3, True)])
def test_every_piece_is_done_once_with_what_all_share(processes, n_workers, also_here):
    found = list(processes(n_workers, also_here=also_here).run(additions(12), TABLE))
    assert len(found) == 12
    assert {number: result[0] for number, result in of(found).items()} == {n: SUM + n for n in range(12)}
    mapped = {is_mapped for _, is_mapped, process in of(found).values() if process != os.getpid()}
    assert mapped == (set() if n_workers == 1 else {True})
    used = {process for *_, process in of(found).values()}
    assert (os.getpid() in used) == (also_here or n_workers == 1)
    assert len(used) <= n_workers


def test_little_work_is_done_here_and_starts_no_process(processes):
    few = processes(2, also_here=True)
    small = additions(4, weight=WORTH_STARTING / 5)
    assert {process for *_, process in of(few.run(small, TABLE)).values()} == {os.getpid()}
    more = of(few.run(additions(4, weight=WORTH_STARTING), TABLE))
    assert {process for *_, process in more.values()} - {os.getpid()}
    assert {process for *_, process in of(few.run(additions(20, 0.001), TABLE)).values()} - {os.getpid()}  # it is there


@pytest.mark.parametrize("also_here", [False, True])
def test_every_process_has_one_thread_for_all_libraries_and_loops(processes, also_here, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    found = [done.result for _, done in processes(2, also_here=also_here).run([Piece(limits, {}, 9.0)] * 6)]
    assert {process for *_, process in found} - {os.getpid()}
    for libraries, default, seven, _ in found:
        assert all(n == 1 for _, n in libraries)
        assert default == seven == 1


def test_where_pieces_run_one_after_the_other_each_has_all_threads(processes):
    ((_, done),) = processes(2, also_here=True).run([Piece(limits, {})])
    assert done.result[2] == 2
    assert all(n == 1 for _, n in done.result[0])


def test_a_killed_process_is_replaced_and_its_piece_done(processes, tmp_path):
    marker = tmp_path / "was killed"
    pieces = [
        Piece(killed_once, {"marker": str(marker)}),
        *[Piece(double, {"number": n, "seconds": 0.05}) for n in range(5)],
    ]
    found = [done.result["doubled"] for _, done in processes(2).run(pieces)]
    assert marker.exists()
    assert sorted(found) == [0, 0, 2, 4, 6, 8]


def test_a_piece_that_kills_every_process_is_given_up_and_the_others_are_done(processes):
    pieces = [Piece(always_killed, {}), *[Piece(double, {"number": n}) for n in range(6)]]
    kinds = [done for _, done in processes(2).run(pieces)]
    assert kinds.count(KILLED) == 1
    assert sum(isinstance(done, Done) for done in kinds) == 6


def test_a_process_that_was_killed_while_it_had_nothing_to_do_is_replaced(processes):
    few = processes(2)
    (first,) = {process for *_, process in of(few.run(additions(1), TABLE)).values()}
    os.kill(first, signal.SIGKILL)
    assert len(of(few.run(additions(6), TABLE))) == 6


def test_an_exception_and_a_result_that_cannot_be_sent_are_reported(processes):
    pieces = [Piece(raising, {"number": 3}), Piece(unsendable, {}), Piece(double, {"number": 1})]
    found = {piece.work.__name__: done for piece, done in processes(2).run(pieces)}
    assert isinstance(found["raising"].error, KeyError)
    assert isinstance(found["double"], Done)
    assert isinstance(found["unsendable"], Done | Failed)


def test_where_there_is_no_room_for_what_they_share_pieces_are_done_here(processes, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("whynear.work.processes.tempfile.TemporaryDirectory", full)
    assert {process for *_, process in of(processes(2).run(additions(3), TABLE)).values()} == {os.getpid()}


@pytest.mark.parametrize("error", [RuntimeError("can't start new thread"), BlockingIOError(11, "no process")])
@pytest.mark.parametrize("also_here", [False, True])
def test_where_no_process_can_be_started_pieces_are_done_here(processes, monkeypatch, error, also_here):
    def refuse(*_):
        raise error

    monkeypatch.setattr(Pool, "submit", refuse)
    found = of(processes(2, also_here=also_here).run(additions(3), TABLE))
    assert {process for *_, process in found.values()} == {os.getpid()}
    assert sorted(found) == [0, 1, 2]


def test_a_piece_whose_process_was_killed_has_a_reason_where_its_result_cannot_be_sent(processes, tmp_path):
    pieces = [Piece(killed_then_unsendable, {"marker": str(tmp_path / "was killed")}), Piece(double, {"number": 1})]
    found = {piece.work.__name__: done for piece, done in processes(2).run(pieces)}
    assert isinstance(found["killed_then_unsendable"], Failed)
    assert "pickle" in found["killed_then_unsendable"].reason.lower()
    assert isinstance(found["double"], Done)


def pids_of_pieces(_=None):
    return [done.result[3] for _, done in Processes(2).run([Piece(limits, {})] * 3)]


def test_a_worker_of_another_pool_starts_no_process():
    with get_context("spawn").Pool(1) as pool:
        found = pool.map(pids_of_pieces, [None])[0]
    assert len(set(found)) == 1
    assert found[0] != os.getpid()


PARENT = """
    import sys
    from tests.helpers.pieces import double
    from whynear.work.pieces import Piece
    from whynear.work.workers import start_workers

    pieces = [Piece(double, {"number": n, "seconds": 0.2}, 9.0) for n in range(60)]
    with start_workers("processes", 2, None, also_here=True) as workers:
        for piece, done in workers.run(pieces, {}):
            print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "how"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGINT), (os.kill, signal.SIGKILL)]
)
def test_however_the_parent_ends_no_process_is_left(stop, how):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PARENT)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    for _ in range(20):
        process.stdout.readline()
    stop(process.pid, how)
    start = time.monotonic()
    process.wait(timeout=60)
    assert time.monotonic() - start < 20
    assert is_gone(process.pid)
    process.communicate()


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
    monkeypatch.setattr(processes_module.Path, "open", lambda *_: os.fdopen(os.open("/dev/full", os.O_WRONLY), "wb"))
    sharing_ones = in_a_file({"X": np.ones(10_000)})
    with pytest.raises(OSError, match=r"needs 80\d\d\d bytes\. .*TMPDIR\).*--n-jobs 1\)") as fault:
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
