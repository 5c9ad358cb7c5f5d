import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from tests.helpers.clusters import dask_cluster
from tests.helpers.pieces import additions, always_killed, double, limits, raising
from whynear.work import workers as module
from whynear.work.pieces import Done, Failed, Piece, versions
from whynear.work.workers import start_workers

TABLE = {"table": {"x": np.arange(100.0)}}
SUM = TABLE["table"]["x"].sum()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """The address of a scheduler with two workers, each a program of its own."""
    with dask_cluster(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


@pytest.mark.slow
def test_workers_of_a_cluster_do_every_piece_with_what_all_share(cluster):
    with start_workers("dask", None, cluster) as workers:
        assert workers.n_workers == 2
        found = list(workers.run(additions(12), TABLE))
        assert sorted(done.result[0] for _, done in found) == [SUM + n for n in range(12)]
        assert len({done.result[2] for _, done in found} - {os.getpid()}) == 2
        libraries, default, seven, _ = next(done.result for _, done in workers.run([Piece(limits, {})]))
        assert all(n == 1 for _, n in libraries)
        assert default == seven == 1


@pytest.mark.slow
def test_exceptions_of_a_cluster_come_back(cluster):
    with start_workers("dask", None, cluster) as workers:
        ((_, failed),) = workers.run([Piece(raising, {"number": 3})])
    assert isinstance(failed.error, KeyError)


@pytest.mark.slow
def test_a_worker_with_other_versions_is_refused(cluster, monkeypatch):
    monkeypatch.setattr(module, "versions", lambda: versions() | {"scipy": "0.0.1"})
    with start_workers("dask", None, cluster) as workers:
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
def test_an_interrupt_cancels_the_work_of_the_cluster(cluster):
    from distributed import Client

    command = [sys.executable, "-c", textwrap.dedent(CLIENT), cluster]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(3):
        assert process.stdout.readline() == "done\n"
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert said.strip().endswith("KeyboardInterrupt")
    with Client(cluster) as client:
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
