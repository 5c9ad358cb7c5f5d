import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from papers.catalog import EXPERIMENTS
from tests.helpers.command_line import run
from tests.helpers.pieces import is_gone
from whynear.work import pieces
from whynear.work.pieces import run_piece


def test_without_a_name_all_are_listed():
    shown = run("reproduce").stdout
    assert all(name in shown for name in EXPERIMENTS)
    assert json.loads(run("reproduce", "--json").stdout).keys() == EXPERIMENTS.keys()


def test_a_name_that_is_none_is_told_in_a_sentence():
    result = run("reproduce", "lann-fig9")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: There is no table or figure 'lann-fig9'. Did you mean 'lann-fig")
    assert run("reproduce", "slider-fig2", "--protocol", "fifth").exit_code == 2


def test_an_installed_package_names_where_the_papers_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("whynear.cli.app.REPOSITORY", tmp_path)
    result = run("reproduce")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: The folder papers, ")
    assert "get a copy of the repository or the source archive" in result.stderr


def test_the_folder_is_a_program_with_the_same_options():
    command = [sys.executable, "-m", "papers", "lann", "--protocol", "sixth"]
    ended = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 2
    assert "--protocol" in ended.stderr
    assert "python -m papers" in ended.stderr


def test_an_address_without_a_cluster_is_refused(tmp_path):
    result = run("reproduce", "schulz-fig3", "--out", tmp_path, "--address", "tcp://somewhere:1")
    assert result.exit_code == 2
    assert "choose engine='dask'" in result.stderr


@pytest.mark.slow
def test_a_figure_is_made_printed_and_made_again_from_what_is_kept(tmp_path):
    first = run("reproduce", "schulz-fig3", "--out", tmp_path, "--n-jobs", 1, "--debug")
    assert first.exit_code == 0, first.output
    assert "schulz-fig3: The map of the xor data, and its relevance bounds" in first.stdout
    assert "strengths as in the paper" in first.stdout
    assert "4 of 4 criteria met" in first.stdout
    written = json.loads((tmp_path / "schulz-fig3.json").read_text())
    assert [line["met"] for line in written["lines"]].count(True) == 4
    assert (tmp_path / "schulz-fig3.svg").exists()
    again = run("reproduce", "schulz-fig3", "--out", tmp_path, "--json")
    assert json.loads(again.stdout) == [written]


def test_a_set_that_cannot_be_had_is_named(tmp_path, monkeypatch):
    monkeypatch.delenv("WHYNEAR_DATA", raising=False)
    result = run("reproduce", "strickert-fig3", "--out", tmp_path, "--n-jobs", 1)
    assert result.exit_code == 2
    assert "The data set 'wine_spectra' was not found" in result.stderr
    assert "WHYNEAR_DATA" in result.stderr


def test_no_process_at_all_is_refused(tmp_path):
    result = run("reproduce", "schulz-fig3", "--out", tmp_path, "--n-jobs", 0)
    assert result.exit_code == 2
    assert "n_jobs must be the number of processes" in result.stderr


def test_a_folder_in_the_way_is_told(tmp_path):
    (tmp_path / "file").touch()
    result = run("reproduce", "schulz-fig3", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert "is not a folder" in result.stderr


def test_an_interrupt_keeps_the_cells_that_are_done(tmp_path, monkeypatch):
    begun = []

    def interrupted_in_the_second(cell, *words):
        begun.append(cell)
        if len(begun) == 2:
            raise KeyboardInterrupt
        return run_piece(cell, *words)

    monkeypatch.setattr(pieces, "run_piece", interrupted_in_the_second)
    result = run("reproduce", "schulz-fig3", "--out", tmp_path, "--n-jobs", 1)
    assert result.exit_code == 130, result.output
    assert f"Finished cells are kept in {tmp_path}; the same command continues." in result.stderr.replace("\n", " ")
    (kept,) = (tmp_path / "cells").rglob("*.json")
    assert json.loads(kept.read_text())["result"]


# Ctrl-C reaches the whole group, what ends a service its first process alone.
WAYS = [(1, os.killpg, signal.SIGINT), (2, os.killpg, signal.SIGINT), (2, os.kill, signal.SIGTERM)]


@pytest.mark.slow
@pytest.mark.parametrize(("n_jobs", "stop", "how"), WAYS)
def test_an_interrupt_keeps_what_is_finished_and_gives_code_130(tmp_path, real_data, n_jobs, stop, how):
    launcher = "import sys; from whynear.cli.app import main; sys.argv = sys.argv[1:]; main()"
    words = ["reproduce", "strickert-fig8", "--out", str(tmp_path), "--n-jobs", str(n_jobs)]
    command = [sys.executable, "-c", launcher, "whynear", *words]
    environment = os.environ | {"WHYNEAR_DATA": str(real_data)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment, start_new_session=True, **pipes)
    deadline = time.monotonic() + 120
    while len(list((tmp_path / "cells").rglob("*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    stop(process.pid, how)
    start = time.monotonic()
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert time.monotonic() - start < 20
    assert f"Finished cells are kept in {tmp_path}; the same command continues." in said
    assert "Traceback" not in said
    assert is_gone(process.pid)
    kept = [json.loads(path.read_text()) for path in (tmp_path / "cells").rglob("*.json")]
    assert len(kept) >= 2
    assert all(cell["seconds"] > 0 and cell["result"] for cell in kept)
