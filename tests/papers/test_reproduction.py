import json
from dataclasses import replace

import numpy as np
import pytest

from papers import page, reproduction
from papers.computations import Cell, WorkFailed
from papers.outcome import Experiment, Line, Measured, Outcome
from papers.plans import load_plan
from papers.reproduction import MOST_PANELS, draw_outcome, outcome_size
from tests.helpers.pieces import double, raising
from tests.helpers.reproduction import drawn, words_on


def experiment(name, numbers):
    """An experiment with the plan of a published one and invented values."""
    cells = [Cell(double, {"number": number}) for number in numbers]

    def measure(found):
        total = sum(found(cell)["doubled"] for cell in cells)
        return {(known.row, known.column): Measured(float(total)) for known in load_plan(name).published}

    return Experiment(load_plan(name), cells, measure)


@pytest.fixture
def experiments(monkeypatch):
    made = {"lann-fig2": lambda: experiment("lann-fig2", [1, 2]), "lann-fig3": lambda: experiment("lann-fig3", [2, 3])}
    for module in (page, reproduction):
        monkeypatch.setattr(module, "EXPERIMENTS", made)
    return made


def test_outcomes_are_written_as_json_svg_and_a_page(tmp_path, experiments):
    seen = []
    outcomes = reproduction.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1, finished=seen.append)
    assert [found.name for found in outcomes] == ["lann-fig3", "lann-fig2"]
    assert sorted(found.name for found in seen) == ["lann-fig2", "lann-fig3"]
    assert [found.lines[0].ours for found in outcomes] == [10.0, 6.0]
    written = json.loads((tmp_path / "lann-fig2.json").read_text())
    assert written["lines"][0]["ours"] == 6.0
    assert written["lines"][0]["met"] is True
    assert (tmp_path / "lann-fig2.svg").read_text().startswith("<svg")
    text = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in text
    assert "6.000" in text
    assert "](lann-fig3.svg)" in text
    assert len(list((tmp_path / "cells").rglob("*.json"))) == 3  # one is shared


def test_a_second_run_writes_the_same_bytes(tmp_path, experiments):
    reproduction.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    first = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    reproduction.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == first


def test_finished_outcomes_are_on_the_page_if_a_cell_fails(tmp_path, experiments):
    failing = experiment("lann-fig3", [])
    failing.cells.append(Cell(raising, {"number": 3}))
    experiments["lann-fig3"] = lambda: failing
    with pytest.raises(WorkFailed, match="1 of 3 computations failed"):
        reproduction.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1)
    text = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in text
    assert "### lann-fig3" not in text


def test_an_outcome_that_cannot_be_computed_is_named_and_the_others_are_written(tmp_path, experiments):
    made = experiment("lann-fig3", [4])
    experiments["lann-fig3"] = lambda: replace(made, measure=lambda found: {("row", "column"): Measured(np.nan)})
    for _ in range(2):  # also if its cells are already saved
        with pytest.raises(ValueError, match=r"^lann-fig3 could not be computed or drawn: "):
            reproduction.reproduce(["lann-fig3", "lann-fig2"], tmp_path, n_jobs=1)
        assert "### lann-fig2" in (tmp_path / "reproduction.md").read_text()


@pytest.mark.parametrize("damage", ["", '{"name": ', '{"name": "lann-fig3", "lines": [{}]}', "[]"])
def test_a_damaged_outcome_is_left_out(tmp_path, experiments, damage):
    (tmp_path / "lann-fig3.json").write_text(damage)
    reproduction.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    assert [found.name for found in page.known_outcomes(tmp_path)] == ["lann-fig2"]


def test_the_page_has_the_outcomes_of_earlier_runs(tmp_path, experiments):
    reproduction.reproduce(["lann-fig2"], tmp_path, n_jobs=1)
    reproduction.reproduce(["lann-fig3"], tmp_path, n_jobs=1)
    text = (tmp_path / "reproduction.md").read_text()
    assert "### lann-fig2" in text
    assert "### lann-fig3" in text


def line(row, column, published=None, ours=0.5):
    return Line(row, column, published, None, ours, 0.1, None, "higher", 3)


def test_every_column_has_a_panel_and_every_row_a_line():
    found = Outcome(
        "lann-table0", tuple(line(row, column) for row in ("iris", "wine") for column in ("kNN", "LANN")), 1
    )
    figure = drawn(draw_outcome, found)
    assert [ax.get_title() for ax in figure.axes] == ["kNN", "LANN"]
    assert {"iris", "wine", "ours", "published"} <= words_on(figure)


def test_a_value_that_is_missing_is_not_drawn():
    known, unknown = line("a", "x", published=0.4), line("b", "x", ours=None)
    (ax,) = drawn(draw_outcome, Outcome("lann-table0", (known, unknown), 1)).axes
    assert len(ax.containers) == 2  # published and ours, of the first row


def test_rows_that_the_first_column_lacks_are_left_out():
    lines = line("iris", "kNN"), line("iris", "LANN"), line("mean gain", "LANN")
    assert "mean gain" not in words_on(drawn(draw_outcome, Outcome("lann-table0", lines, 1)))


def test_only_the_first_columns_are_drawn():
    many = Outcome("lann-table0", tuple(line("iris", f"column {n}") for n in range(MOST_PANELS + 3)), 1)
    assert len(drawn(draw_outcome, many).axes) == MOST_PANELS


def test_the_size_grows_with_rows_and_columns():
    small = outcome_size(Outcome("a", (line("iris", "kNN"),), 1))
    large = outcome_size(Outcome("a", (line("iris", "kNN"), line("iris", "LANN"), line("wine", "kNN")), 1))
    assert small[0] < large[0]
    assert small[1] < large[1]
