import numpy as np
import pytest
from matplotlib.figure import Figure

import whynear as wn
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.outcome import outcome

NAMES = [f"strickert-fig{number}" for number in range(1, 9)]


def lines_by_row(name, result_of):
    experiment = EXPERIMENTS[name]()
    lines = outcome(experiment.plan, experiment.measure(result_of), 0.0).lines
    return {line.row: line for line in lines}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_what_is_published_is_computed_and_nothing_else(name, result_of):
    experiment = EXPERIMENTS[name]()
    assert experiment.measure(result_of).keys() == {(known.row, known.column) for known in experiment.plan.published}


@pytest.mark.parametrize("name", NAMES)
def test_figures_are_drawn(name, result_of, real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    experiment, figure = EXPERIMENTS[name](), Figure(layout="constrained")
    experiment.draw(figure, result_of)
    figure.draw_without_rendering()
    assert figure.axes
    assert all(ax.has_data() for ax in figure.axes)


def test_cells_hold_no_spectra(result_of, real_data):
    spectrum = wn.datasets.load("wine_spectra", real_data).X.to_numpy()[:, 100]
    for cell in (EXPERIMENTS[name]().cells[0] for name in NAMES[:3] + NAMES[4:7]):
        numbers = np.array(list(_numbers(result_of(cell))))
        assert np.isin(spectrum, numbers).mean() < 0.05


def _numbers(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            yield from _numbers(each)
    elif value is not None:
        yield float(value)


@pytest.mark.parametrize("name", ["strickert-fig1", "strickert-fig2", "strickert-fig3"])
def test_the_papers_numbers_hold(name, result_of):
    judged = [line for line in lines_by_row(name, result_of).values() if line.met is not None]
    assert len(judged) >= 2
    assert all(line.met for line in judged)


def test_best_correlation_is_the_papers(result_of):
    lines = lines_by_row("strickert-fig2", result_of)
    assert lines["K with the highest test correlation"].ours == 12
    assert round(lines["test correlation at this K"].ours, 4) == 0.9954
    assert lines["first K from which the test correlation stays above 0.95"].ours == 5
    whole, inside = (
        lines[f"test correlation{row}"].ours for row in (", not regularized", " with all directions of the data")
    )
    assert 0.95 < whole < inside


def test_norms_are_the_papers(result_of):
    lines = lines_by_row("strickert-fig3", result_of)
    assert [round(line.ours, 1) for line in lines.values()] == [7132.8, 758.0]


def test_figures_of_one_model_share_its_cells():
    cells = [set(EXPERIMENTS[name]().cells) for name in NAMES[4:7]]
    assert cells[0] == cells[1] == cells[2]
    assert len(cells[0]) == EXPERIMENTS["strickert-fig6"]().plan.settings["n_starts"]
