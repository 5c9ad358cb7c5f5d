import json
from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.pieces import double, raising
from whynear.engine.cells import Cell
from whynear.engine.running import WorkFailed
from whynear.reproduce import flow
from whynear.reproduce.experiment import Experiment
from whynear.reproduce.outcome import Measured
from whynear.reproduce.plans import load_plan


def experiment(name, numbers):
    """An experiment with the plan of a published one and invented values."""
    cells = [Cell(double, {"number": number}) for number in numbers]

    def measure(found):
        total = sum(found(cell)["doubled"] for cell in cells)
        return {(known.row, known.column): Measured(float(total)) for known in load_plan(name).published}

    return Experiment(load_plan(name), cells, measure)


@pytest.fixture
def experiments(monkeypatch):
    made = {
        "lann-fig2": lambda: experiment("lann-fig2", [1, 2]),
        "lann-fig3": lambda: experiment("lann-fig3", [2, 3]),
    }
    monkeypatch.setattr(flow, "EXPERIMENTS", made)
    return made


def test_outcomes_are_written_as_json_svg_and_a_page(tmp_path, experiments):
    seen = []
    outcomes = flow.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1, finished=seen.append)
    assert [found.name for found in outcomes] == ["lann-fig3", "lann-fig2"]
    assert sorted(found.name for found in seen) == ["lann-fig2", "lann-fig3"]
    assert [found.lines[0].ours for found in outcomes] == [10.0, 6.0]
    written = json.loads((tmp_path / "lann-fig2.json").read_text())
    assert written["lines"][0]["ours"] == 6.0
    assert written["lines"][0]["met"] is True
    assert (tmp_path / "lann-fig2.svg").read_text().startswith("<svg")
    page = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in page
    assert "6.000" in page
    assert "](lann-fig3.svg)" in page
    assert len(list((tmp_path / "cells").rglob("*.json"))) == 3  # one is shared


def test_a_second_run_writes_the_same_bytes(tmp_path, experiments):
    flow.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    first = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    flow.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == first


def test_finished_outcomes_are_on_the_page_if_a_cell_fails(tmp_path, experiments):
    failing = experiment("lann-fig3", [])
    failing.cells.append(Cell(raising, {"number": 3}))
    experiments["lann-fig3"] = lambda: failing
    with pytest.raises(WorkFailed, match="1 of 3 computations failed"):
        flow.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1)
    page = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in page
    assert "### lann-fig3" not in page


def test_an_outcome_that_cannot_be_computed_is_named_and_the_others_are_written(tmp_path, experiments):
    made = experiment("lann-fig3", [4])
    experiments["lann-fig3"] = lambda: replace(made, measure=lambda found: {("row", "column"): Measured(np.nan)})
    for _ in range(2):  # also if its cells are already saved
        with pytest.raises(ValueError, match=r"^lann-fig3 could not be computed or drawn: "):
            flow.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1)
        assert "### lann-fig2" in (tmp_path / "reproduction.md").read_text()


@pytest.mark.parametrize("damage", ["", '{"name": ', '{"name": "lann-fig3", "lines": [{}]}', "[]"])
def test_a_damaged_outcome_is_left_out(tmp_path, experiments, damage):
    (tmp_path / "lann-fig3.json").write_text(damage)
    flow.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    assert [found.name for found in flow.known_outcomes(tmp_path)] == ["lann-fig2"]


def test_the_page_has_the_outcomes_of_earlier_runs(tmp_path, experiments):
    flow.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    flow.reproduce(["lann-fig3"], tmp_path, n_jobs=1)
    page = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in page
    assert "### lann-fig3" in page
