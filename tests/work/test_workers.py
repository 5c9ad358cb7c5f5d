import os
import signal
import sys

import pytest

from papers.computations import Cell, CellStore, WorkFailed, run_cells
from tests.helpers.pieces import always_killed, doubles, interrupted, raising, results
from whynear.work import processes
from whynear.work.pieces import versions
from whynear.work.workers import start_workers


def test_workers_yield_every_cell_with_its_result():
    cells = doubles(3)
    with start_workers("processes", 1, None) as workers:
        found = dict(workers.run(cells))
    assert [found[cell].result for cell in cells] == [{"doubled": 0}, {"doubled": 2}, {"doubled": 4}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("ray", 1, None), "engine must be 'processes' or 'dask', got 'ray' instead"),
        (("processes", 0, None), "n_jobs must be the number of processes, or -1 for all cores, got 0 instead"),
        (("processes", 1, "tcp://there:1"), "address='tcp://there:1' needs a cluster: choose engine='dask' with it"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message), start_workers(*options):
        pass


def test_workers_ignore_interrupts(tmp_path):
    cells, store = [Cell(interrupted, {}), *doubles(2)], CellStore(tmp_path)
    run_cells(cells, store, n_jobs=2)
    assert results(store, cells) == [0, 0, 2]


def test_a_worker_with_other_code_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "versions", lambda: versions() | {"numba": "0.1"})
    with pytest.raises(
        WorkFailed, match=r"the worker on \S+ has numba \S+ instead of 0\.1\. Install the same versions"
    ):
        run_cells(doubles(1), CellStore(tmp_path), n_jobs=2)


@pytest.mark.slow
def test_a_dask_cluster_computes_all_cells_and_replaces_a_killed_worker(tmp_path):
    from distributed import Client, LocalCluster

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster) as client:
            before = sorted(client.run(os.getpid).values())
        cells, store = doubles(12, seconds=0.2), CellStore(tmp_path)
        killed = []

        def kill_one(cell, state):
            if state.done == 3:
                os.kill(before[0], signal.SIGKILL)
                killed.append(before[0])

        run_cells(cells, store, n_jobs=2, engine="dask", address=cluster.scheduler_address, watch=kill_one)
        assert killed
        assert results(store, cells) == [2 * number for number in range(12)]
        with Client(cluster) as client:
            client.wait_for_workers(2, timeout=30)
            after = sorted(client.run(os.getpid).values())
        assert len(after) == 2
        assert before[0] not in after


@pytest.mark.slow
def test_dask_gives_up_a_cell_that_kills_its_workers_and_computes_the_others(tmp_path):
    cells, store = doubles(4), CellStore(tmp_path)
    with pytest.raises(WorkFailed, match=r"^2 of 6 computations failed"):
        run_cells(
            [Cell(always_killed, {}, weight=9), Cell(raising, {"number": 0}), *cells], store, n_jobs=2, engine="dask"
        )
    assert results(store, cells) == [0, 2, 4, 6]


def test_workers_of_a_cluster_with_several_threads_are_refused(tmp_path):
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        pytest.raises(ValueError, match=r"have several threads.*--nthreads 1"),
    ):
        run_cells(doubles(1), CellStore(tmp_path), engine="dask", address=cluster.scheduler_address)


def test_a_missing_cluster_library_is_named_with_the_command_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'whynear\[dask\]'"):
        run_cells(doubles(1), CellStore(tmp_path), engine="dask")
