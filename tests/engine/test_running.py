import os
import signal
import subprocess
import sys
import time

import pytest

from tests.helpers.pieces import always_killed, double, doubles, is_gone, killed_once, raising, results
from whynear.engine.cells import Cell, CellStore
from whynear.engine.pieces import Piece
from whynear.engine.processes import Processes
from whynear.engine.running import WorkFailed, results_of, run_cells


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_cell_is_computed_once_and_saved(tmp_path, n_jobs):
    cells, seen = doubles(5), []
    store = CellStore(tmp_path)
    run_cells([*cells, *cells], store, n_jobs=n_jobs, watch=lambda cell, state: seen.append((cell, state)))
    assert results(store, cells) == [0, 2, 4, 6, 8]
    assert {cell for cell, _ in seen} == set(cells)
    assert [state.done for _, state in seen] == [1, 2, 3, 4, 5]
    assert all(state.total == 5 for _, state in seen)
    assert seen[-1][1].seconds_left == pytest.approx(0.0)


def test_saved_results_are_not_computed_again(tmp_path):
    cells, seen = doubles(4), []
    run_cells(cells[:3], CellStore(tmp_path), n_jobs=1)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    store = CellStore(tmp_path)
    run_cells(cells, store, n_jobs=1, watch=lambda cell, state: seen.append(state.done))
    assert results(store, cells) == [0, 2, 4, 6]
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert seen == [3, 3, 3, 4]  # the saved ones, then the new one


def test_long_cells_start_first(tmp_path):
    cells = [Cell(double, {"number": number}, weight=weight) for number, weight in enumerate((1, 9, 3))]
    seen = []
    run_cells(cells, CellStore(tmp_path), n_jobs=1, watch=lambda cell, _: seen.append(cell.arguments["number"]))
    assert seen == [1, 2, 0]


def test_a_killed_worker_is_replaced_and_its_cell_computed(tmp_path):
    marker = tmp_path / "was killed"
    cells = [*doubles(4, seconds=0.1), Cell(killed_once, {"marker": str(marker)})]
    store = CellStore(tmp_path / "cells")
    run_cells(cells, store, n_jobs=2)
    assert marker.exists()
    assert results(store, cells) == [0, 2, 4, 6, 0]


@pytest.mark.slow
@pytest.mark.parametrize("weight", [0.1, 9.0])  # started last and first
def test_a_cell_that_kills_every_worker_is_named_and_the_others_are_saved(tmp_path, weight):
    cells, store = doubles(12, seconds=0.01), CellStore(tmp_path)
    with pytest.raises(WorkFailed, match=r"^1 of 13 .* pieces\.always_killed\S+: its process was killed twice"):
        run_cells([*cells, Cell(always_killed, {}, weight=weight)], store, n_jobs=2)
    assert results(store, cells) == [2 * number for number in range(12)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cell_that_raises_is_named_and_the_others_are_saved(tmp_path, n_jobs):
    cells, store = doubles(4), CellStore(tmp_path)
    bad = [Cell(raising, {"number": number}, weight=9 - number) for number in range(2)]
    with pytest.raises(WorkFailed, match=r"^2 of 6 computations failed.*raising/\d-\S+: KeyError: 'no \d'") as caught:
        run_cells([*bad, *cells], store, n_jobs=n_jobs)
    assert set(caught.value.failed) == set(bad)
    assert "in raising" in caught.value.__notes__[0]
    assert results(store, cells) == [0, 2, 4, 6]


def test_no_cluster_is_started_if_all_results_are_saved(tmp_path, monkeypatch):
    run_cells(doubles(2), CellStore(tmp_path), n_jobs=1)
    monkeypatch.setitem(sys.modules, "distributed", None)
    seen = []
    run_cells(doubles(2), CellStore(tmp_path), engine="dask", watch=lambda _, state: seen.append(state.done))
    assert seen == [2, 2]


@pytest.mark.parametrize("n_workers", [1, 2])
def test_the_first_piece_that_fails_ends_the_work_with_its_exception(n_workers):
    workers = Processes(n_workers)
    assert [done.result for _, done in results_of(workers, [Piece(double, {"number": 2})])] == [{"doubled": 4}]
    with pytest.raises(KeyError, match="no 5"):
        list(results_of(workers, [Piece(raising, {"number": 5})]))
    workers.close()


def test_a_piece_that_kills_its_process_is_named():
    workers = Processes(2)
    with pytest.raises(OSError, match=r"^always_killed\(which=3\) failed: its process was killed twice"):
        list(results_of(workers, [Piece(always_killed, {"which": 3})]))
    workers.close()


STOPPED = """
import sys
from pathlib import Path
from tests.helpers.pieces import doubles
from whynear.engine.cells import CellStore
from whynear.engine.running import run_cells

def report(cell, state):
    print(state.done, flush=True)

run_cells(doubles(40, seconds=0.2), CellStore(Path(sys.argv[1])), n_jobs=2, watch=report)
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_run_can_be_resumed_and_leaves_no_process(tmp_path, how):
    command = [sys.executable, "-c", STOPPED, str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    while int(process.stdout.readline()) < 4:
        pass
    start = time.monotonic()
    os.killpg(process.pid, how)  # as a terminal does: the workers get it too
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert time.monotonic() - start < 20
    assert is_gone(process.pid)
    done = len(list(tmp_path.rglob("*.json")))
    assert 4 <= done < 40
    seen = []
    run_cells(
        doubles(40, seconds=0.2)[: done + 2], CellStore(tmp_path), n_jobs=1, watch=lambda _, p: seen.append(p.done)
    )
    assert max(seen) == done + 2
