import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whynear.utils.threads import n_threads, row_blocks, run_in_chunks


@given(st.integers(0, 200), st.integers(0, 50), st.integers(1, 500))
def test_blocks_cover_every_row_once_within_the_budget(n_rows, row_bytes, budget):
    blocks = list(row_blocks(n_rows, row_bytes, budget))
    assert [i for rows in blocks for i in range(n_rows)[rows]] == list(range(n_rows))
    assert all((rows.stop - rows.start) * row_bytes <= budget or rows.stop - rows.start == 1 for rows in blocks)


@pytest.mark.parametrize("n_jobs", [1, 2, 7, None])
def test_every_item_is_worked_on_once(n_jobs):
    counts = np.zeros(101, dtype=int)

    def work(start, stop):
        counts[start:stop] += 1

    run_in_chunks(work, len(counts), chunk=3, n_jobs=n_jobs)
    assert (counts == 1).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_in_one_chunk_reaches_the_caller_and_stops_the_rest(n_jobs):
    seen = []

    def work(start, _stop):
        seen.append(start)
        time.sleep(0.001)
        if start == 5:
            raise RuntimeError("chunk five")

    with pytest.raises(RuntimeError, match="chunk five"):
        run_in_chunks(work, 10_000, chunk=1, n_jobs=n_jobs)
    assert len(seen) < 5_000


def test_number_of_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert n_threads() == 1
    assert n_threads(5) == 5
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert n_threads() == n_threads(-1) == len(os.sched_getaffinity(0))
    with pytest.raises(ValueError, match="n_jobs=0"):
        n_threads(0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_interrupt_stops_the_work_within_a_second(n_jobs):
    script = f"""
        import time
        from whynear.utils.threads import run_in_chunks

        def work(start, stop):
            if start == 2:
                print("working", flush=True)
            time.sleep(0.05)

        run_in_chunks(work, 10_000, chunk=1, n_jobs={n_jobs})
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "working\n"
    process.send_signal(signal.SIGINT)
    started_at = time.monotonic()
    _, errors = process.communicate(timeout=20)
    assert time.monotonic() - started_at < 5  # a second on a quiet machine; all the work takes minutes
    assert errors.strip().endswith("KeyboardInterrupt")
