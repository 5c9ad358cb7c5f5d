import numpy as np
import pytest

from tests.helpers.reproduction import drawn, invented, lines_of, missing_rows
from whynear.reproduce import EXPERIMENTS
from whynear.reproduce.schulz import figures

NAMES = [name for name in EXPERIMENTS if name.startswith("schulz-")]
REAL_DATA = {"schulz-fig2"}  # it draws the spectra themselves


@pytest.mark.parametrize("name", NAMES)
def test_every_published_row_is_computed(name):
    missing = missing_rows(EXPERIMENTS[name](), invented)
    assert all("adrenal" in row for row, _ in missing), missing


@pytest.mark.parametrize("name", [name for name in NAMES if name not in REAL_DATA])
def test_figures_are_drawn(name):
    figure = drawn(EXPERIMENTS[name]().draw, invented)
    assert figure.axes
    assert all(ax.has_data() for ax in figure.axes if ax.axison)


# The command line makes figure 3, too.
@pytest.mark.parametrize("make", [figures.figure1, pytest.param(figures.figure3, marks=pytest.mark.slow)])
def test_xor_is_as_in_the_paper(result_of, make):
    experiment = make()
    lines = lines_of(experiment.plan.name, experiment.measure(result_of)).values()
    assert [line for line in lines if line.met is False] == []
    assert any(line.met for line in lines)


def test_weights_are_read_where_they_are_little_shrunk():
    weights = np.array([[0.0, 0.0], [0.5, 0.2], [0.6, 0.35], [0.6, 0.4]])
    assert figures._little_shrunk(weights).tolist() == [0.6, 0.35]


def test_the_features_with_most_weight_are_counted():
    assert figures._n_features_with_most_weight(np.array([0.5, 0.3, 0.15, 0.05])) == 3
    assert figures._n_features_with_most_weight(np.array([1.0, 0.0])) == 1
    assert figures._n_features_with_most_weight(np.ones(10)) == 9
