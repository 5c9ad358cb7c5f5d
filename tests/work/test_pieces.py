import os
import re
import warnings
from threading import Lock

import pytest
from threadpoolctl import threadpool_limits

from tests.helpers.pieces import always_killed, double, limits, raising
from whynear.work.pieces import Done, Failed, Piece, Task, differences, run_piece, try_piece, versions
from whynear.work.processes import Processes
from whynear.work.workers import results_of


def test_a_piece_has_a_name_for_messages():
    assert Piece(double, {"number": 3, "seconds": 0.5}).name == "double(number=3, seconds=0.5)"


def test_a_piece_takes_its_arguments_and_those_that_are_shared():
    done = run_piece(Piece(double, {"number": 3}), {"seconds": 0.05})
    assert done.result == {"doubled": 6}
    assert done.elapsed >= 0.05
    assert done.seconds < 0.05  # it slept


def test_inside_a_piece_libraries_have_one_thread_and_loops_their_share(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    with threadpool_limits(2):
        libraries, default, seven, process = run_piece(Piece(limits, {})).result
        assert libraries
        assert all(n == 1 for _, n in libraries)
        assert (default, seven, process) == (1, 1, os.getpid())
        libraries, _, seven, _ = run_piece(Piece(limits, {}), n_threads=2).result
        assert all(n == 1 for _, n in libraries)
        assert seven == 2
        assert any(n == 2 for _, n in limits()[0])  # as before


def test_warnings_of_learners_are_not_shown():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run_piece(Piece(warnings.warn, {"message": "not converged"}))


class Locked(Exception):
    def __init__(self, message):
        super().__init__(message)
        self.lock = Lock()


def unpicklable():
    raise Locked("ab")


def test_a_piece_gives_a_result_or_its_exception():
    task = Task(versions(), 1)
    assert isinstance(try_piece(Piece(double, {"number": 1}), task), Done)
    failed = try_piece(Piece(raising, {"number": 7}), task)
    assert failed == Failed("KeyError: 'no 7'", failed.trace)
    assert "in raising" in failed.trace
    assert isinstance(failed.error, KeyError)
    odd = try_piece(Piece(unpicklable, {}), task)
    assert odd.reason == "Locked: ab"
    assert odd.error is None  # it could not be sent


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("numpy", r"^the worker on \S+ has numpy \S+ instead of 0\.1\. "),
        ("sources", r"has other sources of whynear\. "),
    ],
)
def test_another_version_is_refused_in_a_sentence(name, sentence):
    failed = try_piece(Piece(double, {"number": 1}), Task(versions() | {name: "0.1"}, 1))
    assert isinstance(failed, Failed)
    assert re.search(sentence + r"Install the same versions there\.$", failed.reason)


def test_the_versions_of_this_process_differ_from_others_only():
    assert differences(versions()) == ""
    assert set(versions()) == {"whynear", "numba", "numpy", "scikit-learn", "scipy", "sources"}
    assert f"has whynear {versions()['whynear']} instead of 9.9. Install" in differences(
        versions() | {"whynear": "9.9"}
    )


@pytest.mark.parametrize("n_workers", [1, 2])
def test_the_first_piece_that_fails_ends_the_work_with_its_exception(n_workers):
    workers = Processes(n_workers)
    assert [done.result for _, done in results_of(workers, [Piece(double, {"number": 2})])] == [{"doubled": 4}]
    with pytest.raises(KeyError, match="no 5"):
        list(results_of(workers, [Piece(raising, {"number": 5})]))
    workers.close()


def test_a_piece_that_kills_its_process_is_named():
    workers = Processes(2)
    with pytest.raises(OSError, match=r"^always_killed\(which=3\) failed: .* killed twice"):
        list(results_of(workers, [Piece(always_killed, {"which": 3})]))
    workers.close()
