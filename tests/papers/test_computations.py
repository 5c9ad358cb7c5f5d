import os
import pickle
import signal
import subprocess
import sys
import time

import pytest

from papers import computations
from papers.catalog import EXPERIMENTS
from papers.computations import RUNNER_MODULES, Cell, CellStore, WorkFailed, code_digest, modules_needed, run_cells
from tests.helpers.pieces import always_killed, arrays, double, doubles, is_gone, killed_once, raising, results
from whynear.work.pieces import run_piece


def test_a_saved_cell_is_found_with_its_result(tmp_path):
    cell, other = doubles(2)
    assert CellStore(tmp_path).find(cell) is None
    done = run_piece(cell)
    CellStore(tmp_path).save(cell, done)
    assert CellStore(tmp_path).find(cell) == done
    assert CellStore(tmp_path).result(cell) == {"doubled": 0}
    assert CellStore(tmp_path).find(other) is None


def test_another_function_or_argument_gives_another_name():
    names = {Cell(work, {"number": n}).name for work in (double, doubles) for n in (1, 2)}
    assert len(names) == 4
    assert Cell(double, {"number": 1}).name.startswith("pieces.double/1-")
    assert Cell(double, {"number": 1}, weight=9) == Cell(double, {"number": 1})


def test_other_code_gives_another_name(monkeypatch):
    name = Cell(double, {"number": 1}).name
    assert Cell(double, {"number": 1}).name == name
    with monkeypatch.context() as other:
        other.setattr(computations, "code_digest", lambda module: "changed")
        assert Cell(double, {"number": 1}).name != name


def test_a_worker_with_other_sources_is_refused(monkeypatch):
    cell = doubles(1)[0]
    assert cell.name  # as in every run
    sent = pickle.dumps(cell)
    assert pickle.loads(sent).compute({}) == {"doubled": 0}
    monkeypatch.setattr(computations, "code_digest", lambda module: "changed")
    with pytest.raises(OSError, match=r"^the worker on \S+ has other sources of papers"):
        pickle.loads(sent).compute({})


def test_a_damaged_file_counts_as_missing(tmp_path):
    cell = doubles(1)[0]
    store = CellStore(tmp_path)
    store.save(cell, run_piece(cell))
    for damage in ("", '{"result": ', "[]", '{"seconds": 1}'):
        (tmp_path / cell.name).write_text(damage)
        assert CellStore(tmp_path).find(cell) is None


def test_results_are_plain_numbers():
    cell = Cell(arrays, {})
    assert run_piece(cell).result == {"a": [0.0, 1.0], "n": 3, "gone": None}


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
    with pytest.raises(WorkFailed, match=r"^1 of 13 .* pieces\.always_killed\S+: .* killed twice"):
        run_cells([*cells, Cell(always_killed, {}, weight=weight)], store, n_jobs=2)
    assert results(store, cells) == [2 * number for number in range(12)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cell_that_raises_is_named_and_the_others_are_saved(tmp_path, n_jobs):
    cells, store = doubles(4), CellStore(tmp_path)
    bad = [Cell(raising, {"number": number}, weight=9 - number) for number in range(2)]
    with pytest.raises(WorkFailed, match=r"^2 of 6 .* failed.*raising/\d-\S+: KeyError: 'no \d'") as caught:
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


STOPPED = """
import sys
from pathlib import Path
from tests.helpers.pieces import doubles
from papers.computations import CellStore, run_cells

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


def test_a_module_needs_what_it_imports():
    of_relevance = modules_needed("papers.feature_selection")
    expected = {"whynear.learn.lvq.estimators", "whynear.study.methods", "whynear.interpret.intervals"}
    assert expected <= of_relevance
    assert "papers.accuracy" in modules_needed("papers.profiles_and_embeddings")
    assert not any(name.startswith(RUNNER_MODULES) for name in of_relevance)
    assert not any(name.startswith("whynear.cli") for name in of_relevance)


def test_no_result_needs_drawings_or_pages():
    modules = {cell.work.__module__ for make in EXPERIMENTS.values() for cell in make().cells}
    needed = set().union(*map(modules_needed, modules))
    assert len(modules) >= 6
    drawn = {f"papers.{name}" for name in ("page", "reproduction", "beyond", "lann", "schulz", "slider", "strickert")}
    assert not drawn & needed


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A package with a module that imports another one."""
    package = tmp_path / "whynear_like"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "work.py").write_text("from whynear.utils.threads import one_blas_thread")
    monkeypatch.syspath_prepend(tmp_path)
    yield package / "work.py"
    for name in [name for name in sys.modules if name.startswith("whynear_like")]:
        del sys.modules[name]


def test_a_digest_changes_with_the_sources(module):
    first = code_digest.__wrapped__("whynear_like.work")
    assert "whynear.utils.threads" in modules_needed("whynear_like.work")
    assert code_digest.__wrapped__("whynear_like.work") == first
    module.write_text(module.read_text() + "  # changed")
    assert code_digest.__wrapped__("whynear_like.work") != first
