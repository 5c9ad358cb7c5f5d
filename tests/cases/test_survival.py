"""Several processes, one file: killed writers, waiting writers, readers beside a writer."""

import multiprocessing
import os
import signal
import sqlite3
import time
from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers import writers
from whynear.cases.case_base import CaseBase


@pytest.fixture(scope="module")
def processes():
    """Processes forked from a server that has everything imported, and no threads."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", "tests.helpers.writers"])
    return context


def started(processes, work, *arguments):
    """A process that does the work, and the end of a pipe to which it reports."""
    here, there = processes.Pipe(duplex=False)
    process = processes.Process(target=work, args=(*arguments, there), daemon=True)
    process.start()
    there.close()
    return process, here


def received(pipe):
    while True:
        try:
            yield pipe.recv()
        except EOFError:
            return


@pytest.mark.parametrize(("rounds", "heard"), [(4, 3), pytest.param(64, 50, marks=pytest.mark.slow)])
def test_no_acknowledged_case_is_lost_when_the_writer_is_killed(processes, tmp_path, rounds, heard):
    rng = np.random.default_rng(0)
    path, promised = tmp_path / "base", {}
    for number in range(rounds):
        process, pipe = started(processes, writers.add_until_killed, path, number)
        begun = number % 5 and pipe.poll(30)  # the others may be killed while they make or open the file
        time.sleep(rng.uniform(0, 0.06 if begun else 0.4))
        os.kill(process.pid, signal.SIGKILL)
        process.join(30)
        for turn, ids in received(pipe):
            promised |= {case: [number, turn] for case in ids}
        if path.exists() and promised:
            check_whole(path, promised)
    assert len({number for number, _ in promised.values()}) >= heard
    with CaseBase(path) as base:
        assert base.add([[0.0, 0.0, 0.0]]) > max(promised)


def check_whole(path, promised):
    with CaseBase(path) as base:
        blocks = list(base.blocks())
        ids = np.concatenate([block.ids for block in blocks])
        payloads = [payload for block in blocks for payload in block.payloads]
        X = np.concatenate([block.X.to_numpy() for block in blocks])
        assert len(base) == len(ids)
        kept = dict(zip(ids.tolist(), (payload["batch"] for payload in payloads), strict=True))
        assert promised.items() <= kept.items()
        sizes = Counter(tuple(payload["batch"]) for payload in payloads)
        assert all(sizes[tuple(payload["batch"])] == payload["size"] for payload in payloads)
        query = X[len(X) // 2]
        sq = base.metric.sq_distances(query[None], X)[0]
        found = base.retrieve(query, k=7)
        assert_array_equal(found.ids, ids[np.lexsort((ids, sq))[:7]])


def test_what_kills_left_behind_is_sound_to_sqlite(processes, tmp_path):
    path = tmp_path / "base"
    process, pipe = started(processes, writers.add_until_killed, path, 1)
    assert pipe.poll(30)
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_a_second_writer_waits_and_then_says_who_holds_the_lock(processes, path):
    process, pipe = started(processes, writers.hold_the_lock, path, 60)
    assert pipe.poll(30)
    base = CaseBase(path, timeout=0.2)
    started_at = time.monotonic()
    with pytest.raises(TimeoutError, match=rf"is being written by process {process.pid} .*waited 0.2 s"):
        base.add([[1.0, 2.0, 3.0]])
    assert time.monotonic() - started_at < 20
    assert len(base) == 0  # readers need not wait
    os.kill(process.pid, signal.SIGKILL)
    process.join(30)
    assert_array_equal(base.add([[1.0, 2.0, 3.0]]), [1])  # the lock died with its holder, and so did its change


def test_a_second_writer_gets_its_turn(processes, path):
    process, pipe = started(processes, writers.hold_the_lock, path, 0.7)
    assert pipe.poll(30)
    with CaseBase(path) as base:
        assert_array_equal(base.add([[1.0, 2.0, 3.0]]), [5])
    process.join(30)


def test_readers_see_whole_states_while_one_writes(processes, path):
    size, n_batches = 20, 40
    readers = [started(processes, writers.read_until_there, path, size * n_batches, size) for _ in range(3)]
    assert all(pipe.poll(60) and pipe.recv() == "ready" for _, pipe in readers)
    writer = processes.Process(target=writers.add_batches, args=(path, n_batches, size))
    writer.start()
    for process, pipe in readers:
        assert pipe.poll(60)
        states, faults = pipe.recv()
        assert faults == []
        assert states > 1
        process.join(30)
    writer.join(30)


def test_two_writers_in_turn_lose_nothing(processes, path):
    crowd = [processes.Process(target=writers.add_batches, args=(path, 15, 7)) for _ in range(3)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(60)
        assert process.exitcode == 0
    with CaseBase(path) as base:
        assert len(base) == 3 * 15 * 7
        assert base.generation == 1 + 45
