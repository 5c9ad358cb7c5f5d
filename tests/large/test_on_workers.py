"""Fits on the workers of a Dask cluster: threads of this process, and in slow tests processes, one of which dies."""

import os
import signal

import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import scale

import whynear as wn
from tests.helpers.partitions import in_chunks, in_partitions, in_this_process
from whynear.large.partitions import computed, computed_where_kept, groups_where_kept, kept, task

X, Y = load_wine(return_X_y=True)
X = scale(X)


@pytest.fixture
def _without_workers():
    """Not here."""


@pytest.fixture(scope="module")
def threads():
    settings = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        yield client


@pytest.fixture
def two_processes():
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "memory_limit": "2GiB"}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        client.wait_for_workers(2)
        yield client


def first_plus(part, more):
    return int(part[0]) + more


def fitted_here(learner):
    with in_this_process():
        return wn.distributed.fit(learner, in_chunks(X), in_chunks(Y))


def test_kept_parts_are_worked_on_in_one_task_for_each_thread_and_come_back_in_order(threads):
    parts = kept([task(np.add, part, 1) for part in in_partitions(np.arange(60), list(range(0, 61, 10)))])
    computed(parts)
    assert sorted(map(sorted, groups_where_kept(parts))) == [[0, 2, 4], [1, 3, 5]]
    found = computed_where_kept(first_plus, parts, [{"more": 1000 * place} for place in range(6)])
    assert found == [1, 1011, 2021, 3031, 4041, 5051]
    assert groups_where_kept([task(np.add, 1, 1), *parts])[0] == [0]  # no worker has it


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("kind", [wn.GRLVQ, wn.GMLVQ])
def test_a_fit_on_workers_is_the_fit_of_the_same_partitions_here(kind):
    found = wn.distributed.fit(kind(), in_chunks(X), in_chunks(Y))
    for name, array in fitted_here(kind()).metric_.arrays().items():
        assert_array_equal(found.metric_.arrays()[name], array)
    assert_array_equal(wn.distributed.predict(found, in_chunks(X)).compute(), found.predict(X))


@pytest.mark.usefixtures("threads")
def test_large_margins_on_workers_are_those_of_all_rows():
    found = wn.distributed.fit(wn.LMNN(), in_chunks(X), in_chunks(Y))
    assert_allclose(found.metric_.omega, wn.LMNN().fit(X, Y).metric_.omega, atol=1e-8)


@pytest.mark.usefixtures("threads")
def test_what_a_worker_refuses_is_refused_here():
    text = np.array([["much"]] * len(X), dtype=object)
    with pytest.raises(ValueError, match="could not convert string to float: 'much'"):
        wn.distributed.fit(wn.GRLVQ(), in_chunks(text), in_chunks(Y))


@pytest.mark.slow
def test_a_killed_worker_changes_no_bit(two_processes):
    rows, labels = load_digits(return_X_y=True)
    workers = list(two_processes.run(os.getpid).values())
    killed = []

    def kill_one(step):
        if step.n_iter == 3:
            os.kill(workers[0], signal.SIGKILL)
            killed.append(step)

    found = wn.distributed.fit(wn.GMLVQ(callback=kill_one), in_chunks(rows), in_chunks(labels))
    with in_this_process():
        expected = wn.distributed.fit(wn.GMLVQ(), in_chunks(rows), in_chunks(labels))
    assert killed
    assert_array_equal(found.metric_.omega, expected.metric_.omega)


@pytest.mark.slow
@pytest.mark.usefixtures("two_processes")
def test_all_learners_are_fitted_by_processes(monkeypatch):
    monkeypatch.setattr("whynear.large.local_metrics.REGION_ROWS", 60)
    settings = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 2}
    for learner in (wn.LGMLVQ(), wn.LMNN(), wn.LANN(**settings, random_state=0)):
        found = wn.distributed.fit(learner, in_chunks(X), in_chunks(Y))
        assert wn.distributed.predict(found, in_chunks(X)).compute().shape == (len(X),)
        assert found.score(X, Y) > 0.95
