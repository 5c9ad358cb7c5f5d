import os
import signal
import sys

import pytest

from tests.helpers.pieces import always_killed, double, doubles, interrupted, raising, results
from whynear.reproduce.cells import Cell, CellStore, Done
from whynear.reproduce.running import WorkFailed, run_cells
from whynear.reproduce.workers import Failed, start_workers, try_cell


def test_a_cell_gives_a_result_or_the_text_of_its_exception():
    good, bad = doubles(1)[0], Cell(raising, {"number": 7})
    assert isinstance(try_cell(good)[1], Done)
    cell, failed = try_cell(bad)
    assert cell == bad
    assert isinstance(failed, Failed)
    assert failed.reason == "KeyError: 'no 7'"
    assert "in raising" in failed.trace


def test_workers_yield_every_cell_with_its_result():
    cells = doubles(3)
    with start_workers("processes", 1, None) as run:
        found = dict(run(cells))
    assert [found[cell].result for cell in cells] == [{"doubled": 0}, {"doubled": 2}, {"doubled": 4}]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("processes", 0, None), "n_jobs must be the number of processes, or -1 for all cores, got 0 instead"),
        (("processes", 1, "tcp://there:1"), "address='tcp://there:1' needs a cluster: choose backend='dask' with it"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ValueError, match=message), start_workers(*options):
        pass


def test_workers_ignore_interrupts(tmp_path):
    cells, store = [Cell(interrupted, {}), *doubles(2)], CellStore(tmp_path)
    run_cells(cells, store, n_jobs=2)
    assert results(store, cells) == [0, 0, 2]


def test_a_worker_with_other_code_is_refused(tmp_path):
    cell = Cell(double, {"number": 1})
    cell.__dict__["name"] = "pieces.double/1-of-another-version.json"
    with pytest.raises(WorkFailed, match="a worker has other versions of whynear"):
        run_cells([cell], CellStore(tmp_path), n_jobs=2)


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

        run_cells(cells, store, n_jobs=2, backend="dask", address=cluster.scheduler_address, watch=kill_one)
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
            [Cell(always_killed, {}, weight=9), Cell(raising, {"number": 0}), *cells], store, n_jobs=2, backend="dask"
        )
    assert results(store, cells) == [0, 2, 4, 6]


def test_workers_of_a_cluster_with_several_threads_are_refused(tmp_path):
    from distributed import LocalCluster

    with (
        LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
        pytest.raises(ValueError, match=r"have several threads.*--nthreads 1"),
    ):
        run_cells(doubles(1), CellStore(tmp_path), backend="dask", address=cluster.scheduler_address)


def test_a_missing_cluster_library_is_named_with_the_command_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ImportError, match=r"pip install 'whynear\[dask\]'"):
        run_cells(doubles(1), CellStore(tmp_path), backend="dask")
