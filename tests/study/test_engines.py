"""A study in one process, in two, and on a Dask cluster: the same bytes, also if a worker is killed."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.clusters import dask_cluster
from tests.helpers.mixed_tables import table as mixed_table
from whynear.study.settings import grouped
from whynear.work import processes

COMPARED = ("study.json", "scores.csv", "predictions.csv", "relevance.csv")


@pytest.fixture(autouse=True)
def _processes_start(monkeypatch):
    """Let processes start however little work there is."""
    monkeypatch.setattr(processes, "WORTH_STARTING", 0.0)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("dask")) as (address, _):
        yield address


def mixed(n):
    X, y = mixed_table(n)
    return X.mask(np.random.default_rng(1).random(X.shape) < 0.03).assign(outcome=y)


def of_classes():
    return mixed(120), {"target": "outcome", "folds": 3}


def of_numbers():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((80, 5))).add_prefix("x")
    return X.assign(y=X["x0"] - 2 * X["x3"] + 0.3 * rng.standard_normal(80)), {"target": "y", "folds": 3}


def in_groups_by_probability():
    table = mixed(90).drop(columns="colour").assign(patient=np.arange(90) // 3)
    return table, {"target": "outcome", "folds": 2, "group": "patient", "score": "log_loss", "learner": "gmlvq"}


def written(study, folder):
    study.save(folder)
    return {name: (folder / name).read_bytes() for name in COMPARED}


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
@pytest.mark.filterwarnings("ignore:.* contains the .* anchors of a local metric")
@pytest.mark.parametrize("made", [of_classes, of_numbers, in_groups_by_probability])
def test_the_engine_and_the_number_of_workers_change_no_byte(made, cluster, tmp_path):
    table, settings = made()
    one = written(wn.study(table, **grouped(settings), n_jobs=1), tmp_path / "one")
    assert written(wn.study(table, **grouped(settings), n_jobs=2), tmp_path / "two") == one
    assert (
        written(
            wn.study(table, **grouped(settings), running=wn.Running(engine="dask", address=cluster)), tmp_path / "dask"
        )
        == one
    )


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
@pytest.mark.filterwarnings("ignore:.* contains the .* anchors of a local metric")
def test_a_study_survives_a_killed_process(tmp_path):
    table, settings = of_classes()
    killed = []

    def kill_one(step, _share):
        if "compare learners" in step and not killed:
            killed.extend(workers_of(os.getpid())[:1])
            for process in killed:
                os.kill(process, signal.SIGKILL)

    expected = written(wn.study(table, **grouped(settings), n_jobs=1), tmp_path / "one")
    found = wn.study(table, **grouped(settings), n_jobs=2, progress=kill_one)
    assert killed
    assert not workers_of(os.getpid())  # none is left
    assert written(found, tmp_path / "killed") == expected


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
@pytest.mark.filterwarnings("ignore:.* contains the .* anchors of a local metric")
def test_a_study_survives_a_killed_worker_of_a_cluster(tmp_path):
    table, settings = of_classes()
    expected = written(wn.study(table, **grouped(settings), n_jobs=1), tmp_path / "one")
    (tmp_path / "dask").mkdir()
    with dask_cluster(tmp_path / "dask") as (address, programs):

        def kill_one(step, _share):
            if "fold 2" in step:
                with suppress(ProcessLookupError):
                    os.killpg(programs[0].pid, signal.SIGKILL)

        found = wn.study(
            table, **grouped(settings), running=wn.Running(engine="dask", address=address), progress=kill_one
        )
        programs[0].wait(timeout=10)
    assert written(found, tmp_path / "killed") == expected


def workers_of(parent):
    """The processes in which pieces are done."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, of = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            if int(of) == parent and state != "Z" and b"loky.backend.popen" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found
