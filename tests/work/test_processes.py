import os
import signal
import subprocess
import sys
import textwrap
import time
from multiprocessing import get_context

import numpy as np
import pytest

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
from whynear.work.pieces import Done, Failed, Piece
from whynear.work.pool import Pool
from whynear.work.processes import KILLED, WORTH_STARTING, Processes

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
