import numpy as np
import pytest

from papers import schulz
from papers.catalog import EXPERIMENTS
from papers.relevance_bounds import Case
from papers.schulz import MOST_BARS
from papers.splits import Split
from tests.helpers.reproduction import drawn, invented, lines_of, missing_rows, words_on

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
@pytest.mark.parametrize("make", [schulz.figure1, pytest.param(schulz.figure3, marks=pytest.mark.slow)])
def test_xor_is_as_in_the_paper(result_of, make):
    experiment = make()
    lines = lines_of(experiment.plan.name, experiment.measure(result_of)).values()
    assert [line for line in lines if line.met is False] == []
    assert any(line.met for line in lines)


def test_weights_are_read_where_they_are_little_shrunk():
    weights = np.array([[0.0, 0.0], [0.5, 0.2], [0.6, 0.35], [0.6, 0.4]])
    assert schulz._little_shrunk(weights).tolist() == [0.6, 0.35]


def test_the_features_with_most_weight_are_counted():
    assert schulz._n_features_with_most_weight(np.array([0.5, 0.3, 0.15, 0.05])) == 3
    assert schulz._n_features_with_most_weight(np.array([1.0, 0.0])) == 1
    assert schulz._n_features_with_most_weight(np.ones(10)) == 9


@pytest.fixture
def case():
    return Case("xor", "GMLVQ", {}, [1, 2, 3], published=2, n_folds=2)


@pytest.fixture
def bounds(case):
    return invented(case.bounds_at(2))


def test_error_curves_have_a_panel_for_each_case(case):
    figure = drawn(schulz.draw_error_curves, {"xor": case, "wine": Case("wine", "GMLVQ", {}, [1, 2])}, invented)
    assert [ax.get_title() for ax in figure.axes] == ["xor", "wine"]
    assert {"training", "test", "cross-validation", "published choice", "error"} <= words_on(figure)
    assert [len(ax.lines) for ax in figure.axes] == [4, 2]


def test_xor_shows_both_classes_and_the_curve(case):
    scatter, curve = drawn(schulz.draw_xor, case, invented).axes
    assert len(scatter.collections) == 2
    assert (scatter.get_xlabel(), scatter.get_ylabel()) == ("feature 1", "feature 4")
    assert curve.lines


def test_every_spectrum_is_a_line(monkeypatch):
    data = Split(np.zeros((2, 5)), np.zeros(2), np.ones((3, 5)), np.zeros(3))
    monkeypatch.setattr(schulz, "spectra", lambda _dataset: data)
    figure = drawn(schulz.draw_spectra, {"wine": "wine_spectra", "tecator": "tecator"})
    assert [len(ax.lines) for ax in figure.axes] == [5, 5]
    assert all(line.get_rasterized() for ax in figure.axes for line in ax.lines)


def test_maps_stand_above_their_bounds(bounds):
    figure = drawn(schulz.draw_maps_and_bounds, bounds)
    assert [ax.get_title() for ax in figure.axes] == ["row 1 of the map", "row 2 of the map", "", ""]
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == bounds["original"][0]
    assert [len(ax.patches) for ax in figure.axes[2:]] == [12, 12]


def test_summed_bounds_have_two_bars_for_each_feature(bounds):
    figure = drawn(schulz.draw_summed_bounds, bounds)
    assert [bar.get_height() for bar in figure.axes[0].patches] == bounds["upper"] + bounds["lower"]
    assert {"can matter (upper bound)", "must matter (lower bound)"} <= words_on(figure)


def test_many_features_are_drawn_as_areas():
    upper = np.ones(MOST_BARS + 1)
    (ax,) = drawn(schulz.draw_summed_bounds, {"lower": upper / 2, "upper": upper}).axes
    assert not ax.patches
    assert len(ax.collections) == 2


def test_the_learned_map_stands_above_the_mean_of_the_extreme_ones(bounds):
    learned, average = drawn(schulz.draw_average_map, bounds).axes
    assert [bar.get_height() for bar in learned.patches] == pytest.approx(np.sum(bounds["original"], axis=0))
    assert [bar.get_height() for bar in average.patches] == pytest.approx(np.sum(bounds["average"], axis=0))


def test_bounds_of_cases_stand_below_each_other(case):
    figure = drawn(schulz.draw_bounds_of_cases, {"GMLVQ": case, "LMNN": case}, invented)
    assert [ax.get_title() for ax in figure.axes] == ["GMLVQ", "LMNN"]


def test_each_shrinkage_has_a_panel(case):
    figure = drawn(schulz.draw_shrinkage, invented(case.paths))
    assert len(figure.axes) == 3
    assert "feature 1" in words_on(figure)
