"""``--engine`` and ``--address`` of long commands, and an interrupt while several processes work."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from tests.helpers.clusters import dask_cluster
from tests.helpers.command_line import run
from tests.helpers.pieces import is_gone

# The study tells each step on a line of its own; processes start at once, and every fit is kept.
TELLING = """
import whynear
from whynear.study import methods
from whynear.work import processes
processes.WORTH_STARTING = methods.WORTH_KEEPING = 0.0
study = whynear.study
def studied(*words, progress, **options):
    progress.step = lambda step, share: print(step, flush=True)
    return study(*words, progress=progress, **options)
whynear.study = studied
from whynear.cli import main
main()
"""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    cases = pd.DataFrame(rng.random((200, 4))).assign(y=rng.integers(0, 2, 200))
    cases.to_csv(tmp_path / "cases.csv", index=False)
    return tmp_path / "cases.csv"


@pytest.mark.parametrize("command", [["study", "iris"], ["reproduce", "schulz-fig3"]])
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--address", "tcp://somewhere:1"], "needs a cluster: choose engine='dask' with it (--engine dask)."),
        (["--n-jobs", 0], "n_jobs must be the number of processes, or -1 for all cores, got 0 instead."),
    ],
)
def test_options_that_do_not_go_together_are_refused_in_a_sentence(command, words, message, tmp_path):
    result = run(*command, "--out", tmp_path / "out", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert not (tmp_path / "out" / "unfinished").exists()


def test_an_unknown_engine_is_refused_with_the_known_ones(tmp_path):
    result = run("study", "iris", "--out", tmp_path, "--engine", "ray")
    assert result.exit_code == 2
    assert "'ray'" in result.stderr
    assert "processes" in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_a_study_on_a_cluster_is_that_of_this_process(table, tmp_path):
    words = ["study", table, "--target", "y", "--learner", "grlvq", "--folds", 2, "--quiet"]
    (tmp_path / "dask").mkdir()
    with dask_cluster(tmp_path / "dask") as (address, _):
        assert run(*words, "--out", tmp_path / "there", "--engine", "dask", "--address", address).exit_code == 0
    assert run(*words, "--out", tmp_path / "here").exit_code == 0
    there, here = ((tmp_path / name / "study.json").read_text() for name in ("there", "here"))
    assert there == here
    assert "engine" not in json.loads(here)["settings"]  # it does not change the study


@pytest.mark.slow
@pytest.mark.parametrize(("stop", "how"), [(os.killpg, signal.SIGINT), (os.kill, signal.SIGTERM)])
def test_an_interrupted_study_leaves_no_process_and_goes_on(table, tmp_path, stop, how):
    settings = ["--target", "y", "--folds", "3", "--n-jobs", "2", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", TELLING, "study", str(table), *settings]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    kept = tmp_path / "out" / "unfinished"
    assert any(len(fits_in(kept)) > 3 for _ in process.stdout)
    stop(process.pid, how)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert f"The finished parts are in {kept}: fits. The same command goes on from there." in errors
    assert "Traceback" not in errors
    assert is_gone(process.pid)
    first = fits_in(kept)
    process = subprocess.Popen(command, start_new_session=True, **pipes)
    assert any(fits_in(kept).items() > first.items() for _ in process.stdout)  # none was fitted again
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert is_gone(process.pid)


def fits_in(folder):
    return {path: path.stat().st_mtime_ns for path in (folder / "fits").glob("*.whynear")}


@pytest.mark.slow
def test_a_cluster_that_does_not_answer_is_told(tmp_path):
    result = run("study", "iris", "--out", tmp_path / "out", "--engine", "dask", "--address", "tcp://127.0.0.1:9")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: No scheduler answers at address='tcp://127.0.0.1:9'. Start one with")
