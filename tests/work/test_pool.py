import os
import signal
import threading

import numpy as np
import pytest

from tests.helpers.pieces import additions, is_gone
from whynear.work.processes import Pool, Processes, borrowed, import_ahead, started_ahead

MODULE = "wave"  # of the standard library, and imported by nothing here
TABLE = {"table": {"x": np.arange(3.0)}}


def imported():
    import sys

    return os.getpid(), MODULE in sys.modules, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def processes_of(outcomes):
    return {done.result[2] for _, done in outcomes}


def test_processes_that_start_ahead_import_modules_and_end_with_the_block():
    with started_ahead(1, "json"):
        import_ahead(MODULE)
        pool = borrowed(1)
        process, has_module, ignores = pool.submit(imported).result()
        assert process != os.getpid()
        assert has_module
        assert ignores
        pool.give_back()
    assert is_gone(process)
    assert borrowed(1) is None


def test_no_thread_is_left_that_could_be_stopped_while_it_removes_semaphores():
    before = set(threading.enumerate())
    for _ in range(3):
        with started_ahead(1):
            pass
        assert set(threading.enumerate()) <= before


def test_an_interrupt_while_processes_start_ahead_leaves_no_pool(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("whynear.work.processes.import_ahead", interrupted)
    with pytest.raises(KeyboardInterrupt), started_ahead(1):
        pass
    assert borrowed(1) is None


def test_a_pool_is_borrowed_by_one_at_a_time_who_needs_as_many_processes():
    with started_ahead(1):
        assert borrowed(2) is None
        pool = borrowed(1)
        assert borrowed(1) is None
        pool.give_back()
        assert borrowed(1) is pool


def test_little_work_is_sent_to_processes_that_are_there_already_and_they_are_given_back():
    seen = []
    with started_ahead(1):
        for _ in range(2):
            few = Processes(2, also_here=True)
            seen.append(processes_of(few.run(additions(40, weight=0.001), TABLE)) - {os.getpid()})
            few.close()
    assert len(seen[0]) == 1
    assert seen[0] == seen[1]


def test_where_a_process_that_started_ahead_was_killed_another_one_takes_its_place():
    with started_ahead(1):
        pool = borrowed(1)
        os.kill(pool.submit(os.getpid).result(), signal.SIGKILL)
        pool.give_back()
        few = Processes(2, also_here=True)
        assert len(list(few.run(additions(6, weight=9.0), TABLE))) == 6
        few.close()


def test_no_process_starts_ahead_where_this_one_is_alone():
    with started_ahead(0, MODULE):
        assert borrowed(0) is None


def test_interrupts_reach_this_process_after_others_are_started():
    pool = Pool(1)
    try:
        pool.submit(os.getpid).result()
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        pool.close()
