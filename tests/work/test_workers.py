import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from papers.computations import Cell, CellStore, WorkFailed, run_cells
from tests.helpers.clusters import dask_cluster
from tests.helpers.pieces import additions, always_killed, double, doubles, interrupted, limits, raising, results
from whynear.work import processes
from whynear.work import workers as module
from whynear.work.pieces import Done, Failed, Piece, versions
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
    with pytest.raises(WorkFailed, match=r"worker on \S+ has numba \S+ instead of 0\.1\. Install"):
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


TABLE = {"table": {"x": np.arange(100.0)}}
SUM = TABLE["table"]["x"].sum()


@pytest.fixture(scope="module")
def cluster_of_dask_cluster(tmp_path_factory):
    """The address of a scheduler with two workers, each a program of its own."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


@pytest.mark.slow
def test_workers_of_a_cluster_do_every_piece_with_what_all_share(cluster_of_dask_cluster):
    with start_workers("dask", None, cluster_of_dask_cluster) as workers:
        assert workers.n_workers == 2
        found = list(workers.run(additions(12), TABLE))
        assert sorted(done.result[0] for _, done in found) == [SUM + n for n in range(12)]
        assert len({done.result[2] for _, done in found} - {os.getpid()}) == 2
        libraries, default, seven, _ = next(done.result for _, done in workers.run([Piece(limits, {})]))
        assert all(n == 1 for _, n in libraries)
        assert default == seven == 1


@pytest.mark.slow
def test_exceptions_of_a_cluster_come_back(cluster_of_dask_cluster):
    with start_workers("dask", None, cluster_of_dask_cluster) as workers:
        ((_, failed),) = workers.run([Piece(raising, {"number": 3})])
    assert isinstance(failed.error, KeyError)


@pytest.mark.slow
def test_a_worker_with_other_versions_is_refused(cluster_of_dask_cluster, monkeypatch):
    monkeypatch.setattr(module, "versions", lambda: versions() | {"scipy": "0.0.1"})
    with start_workers("dask", None, cluster_of_dask_cluster) as workers:
        ((_, failed),) = workers.run([Piece(double, {"number": 3})])
    assert "instead of 0.0.1. Install the same versions there." in failed.reason


@pytest.mark.slow
def test_a_killed_worker_loses_no_piece_and_one_that_kills_them_all_is_given_up(tmp_path):
    with dask_cluster(tmp_path) as (address, programs), start_workers("dask", None, address) as workers:
        pieces = [Piece(double, {"number": n, "seconds": 0.2}) for n in range(12)]
        found = []
        for _, done in workers.run(pieces, {}):
            found.append(done.result["doubled"])
            if len(found) == 3:
                os.killpg(programs[0].pid, signal.SIGKILL)
        assert sorted(found) == [2 * n for n in range(12)]
        assert all(isinstance(done, Done) for _, done in workers.run(additions(4), TABLE))
        ((_, killed),) = workers.run([Piece(always_killed, {})])
        assert isinstance(killed, Failed)
        assert "KilledWorker" in killed.reason
        ((_, done),) = workers.run(additions(1), TABLE)
        assert done.result[0] == SUM


CLIENT = """
    import sys
    from tests.helpers.pieces import double
    from whynear.work.pieces import Piece
    from whynear.work.workers import start_workers

    pieces = [Piece(double, {"number": n, "seconds": 0.2}) for n in range(200)]
    with start_workers("dask", None, sys.argv[1]) as workers:
        for piece, done in workers.run(pieces):
            print("done", flush=True)
"""


@pytest.mark.slow
def test_an_interrupt_cancels_the_work_of_the_cluster(cluster_of_dask_cluster):
    from distributed import Client

    command = [sys.executable, "-c", textwrap.dedent(CLIENT), cluster_of_dask_cluster]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline() == "done\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said.strip().endswith("KeyboardInterrupt")
    with Client(cluster_of_dask_cluster) as client:
        assert client.submit(os.getpid, pure=False).result(timeout=15)  # the other 190 would take twenty seconds
        assert len(client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.tasks))) <= 1


@pytest.mark.slow
def test_a_cluster_without_an_answer_or_workers_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "SECONDS_TO_CONNECT", 1)
    monkeypatch.setattr(module, "SECONDS_FOR_A_WORKER", 1)
    message = r"^No scheduler answers at address='tcp://127.0.0.1:9'. Start one with: dask scheduler, or give"
    with pytest.raises(OSError, match=message), start_workers("dask", None, "tcp://127.0.0.1:9"):
        pass
    with dask_cluster(tmp_path, n_workers=0) as (address, _):
        message = rf"^The scheduler at address='{address}' has no workers. Start some: dask worker {address} "
        with pytest.raises(OSError, match=message), start_workers("dask", None, address):
            pass
