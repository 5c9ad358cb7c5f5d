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
from threadpoolctl import threadpool_info, threadpool_limits

from whynear.utils.threads import (
    n_threads,
    one_blas_thread,
    openmp_threads,
    row_blocks,
    run_in_chunks,
    share_of_threads,
)


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


def test_a_share_of_threads_limits_what_is_asked_for():
    with share_of_threads(2):
        assert n_threads(7) == 2
        with share_of_threads(5):
            assert n_threads(7) == 2  # no more than the one around it
        with share_of_threads(1):
            assert n_threads(7) == n_threads(None) == 1
    assert n_threads(7) == 7


def test_threads_share_the_cores_and_blas_has_one_in_each(monkeypatch):
    seen = []

    def work(_start, _stop):
        seen.append((n_threads(4), blas_threads()))

    with threadpool_limits(2):
        run_in_chunks(work, 2, chunk=1, n_jobs=4)
        assert set(seen) == {(2, 1)}
        seen.clear()
        run_in_chunks(work, 9, chunk=1, n_jobs=4)
        assert set(seen) == {(1, 1)}
        assert blas_threads() == 2


def test_blas_has_its_threads_again_when_the_last_leaves():
    with threadpool_limits(2):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == 1
        second.__exit__(None, None, None)
        assert blas_threads() == 2
        with one_blas_thread(size=1 << 20):
            assert blas_threads() == 2


def blas_threads():
    return max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")


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
    _, errors = process.communicate(timeout=60)
    assert time.monotonic() - started_at < 20  # a second on a quiet machine; all the work takes minutes
    assert errors.strip().endswith("KeyboardInterrupt")


def test_libraries_that_are_loaded_later_have_one_thread_too():
    code = """
        from threadpoolctl import threadpool_info
        from whynear.utils.threads import one_openmp_thread

        def of_openmp():
            return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp"]

        with one_openmp_thread():
            before = of_openmp()
        import sklearn.cluster
        with one_openmp_thread():
            print(before, of_openmp())
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True,
        env={**os.environ, "OMP_NUM_THREADS": "2"},
    )  # fmt: skip
    assert done.stdout.strip() == "[] [1]"


FORKED = """
import os, sys, warnings
import numpy as np
import whynear as wn
warnings.simplefilter("ignore")
X = np.random.default_rng(0).standard_normal((3000, 6))
y = (X[:, 0] > 0).astype(int)
def fitted():
    wn.GRLVQ(n_prototypes=3, max_iter=3, random_state=0).fit(X, y)
    return wn.LANN(epochs=1, random_state=0, n_jobs=2).fit(X, y).predict(X[:50]).tolist()
before = fitted()
child = os.fork()
if not child:
    os._exit(0 if fitted() == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_learns_what_its_parent_learned():
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    ended = subprocess.run(
        [sys.executable, "-c", FORKED], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    assert ended.stdout == "0\n"


def test_the_parent_of_a_forked_process_keeps_its_threads():
    assert openmp_threads(3) == 3
