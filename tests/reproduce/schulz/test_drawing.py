import numpy as np
import pytest

from tests.helpers.reproduction import drawn, invented, words_on
from whynear.reproduce.data import Split
from whynear.reproduce.schulz import drawing
from whynear.reproduce.schulz.cases import Case
from whynear.reproduce.schulz.drawing import MOST_BARS


@pytest.fixture
def case():
    return Case("xor", "GMLVQ", {}, [1, 2, 3], published=2, n_folds=2)


@pytest.fixture
def bounds(case):
    return invented(case.bounds_at(2))


def test_error_curves_have_a_panel_for_each_case(case):
    figure = drawn(drawing.draw_error_curves, {"xor": case, "wine": Case("wine", "GMLVQ", {}, [1, 2])}, invented)
    assert [ax.get_title() for ax in figure.axes] == ["xor", "wine"]
    assert {"training", "test", "cross-validation", "published choice", "error"} <= words_on(figure)
    assert [len(ax.lines) for ax in figure.axes] == [4, 2]


def test_xor_shows_both_classes_and_the_curve(case):
    scatter, curve = drawn(drawing.draw_xor, case, invented).axes
    assert len(scatter.collections) == 2
    assert (scatter.get_xlabel(), scatter.get_ylabel()) == ("feature 1", "feature 4")
    assert curve.lines


def test_every_spectrum_is_a_line(monkeypatch):
    data = Split(np.zeros((2, 5)), np.zeros(2), np.ones((3, 5)), np.zeros(3))
    monkeypatch.setattr(drawing, "spectra", lambda _dataset: data)
    figure = drawn(drawing.draw_spectra, {"wine": "wine_spectra", "tecator": "tecator"})
    assert [len(ax.lines) for ax in figure.axes] == [5, 5]
    assert all(line.get_rasterized() for ax in figure.axes for line in ax.lines)


def test_maps_stand_above_their_bounds(bounds):
    figure = drawn(drawing.draw_maps_and_bounds, bounds)
    assert [ax.get_title() for ax in figure.axes] == ["row 1 of the map", "row 2 of the map", "", ""]
    heights = [bar.get_height() for bar in figure.axes[0].patches]
    assert heights == bounds["original"][0]
    assert [len(ax.patches) for ax in figure.axes[2:]] == [12, 12]


def test_summed_bounds_have_two_bars_for_each_feature(bounds):
    figure = drawn(drawing.draw_summed_bounds, bounds)
    assert [bar.get_height() for bar in figure.axes[0].patches] == bounds["upper"] + bounds["lower"]
    assert {"can matter (upper bound)", "must matter (lower bound)"} <= words_on(figure)


def test_many_features_are_drawn_as_areas():
    upper = np.ones(MOST_BARS + 1)
    (ax,) = drawn(drawing.draw_summed_bounds, {"lower": upper / 2, "upper": upper}).axes
    assert not ax.patches
    assert len(ax.collections) == 2


def test_the_learned_map_stands_above_the_mean_of_the_extreme_ones(bounds):
    learned, average = drawn(drawing.draw_average_map, bounds).axes
    assert [bar.get_height() for bar in learned.patches] == pytest.approx(np.sum(bounds["original"], axis=0))
    assert [bar.get_height() for bar in average.patches] == pytest.approx(np.sum(bounds["average"], axis=0))


def test_bounds_of_cases_stand_below_each_other(case):
    figure = drawn(drawing.draw_bounds_of_cases, {"GMLVQ": case, "LMNN": case}, invented)
    assert [ax.get_title() for ax in figure.axes] == ["GMLVQ", "LMNN"]


def test_each_shrinkage_has_a_panel(case):
    figure = drawn(drawing.draw_shrinkage, invented(case.paths))
    assert len(figure.axes) == 3
    assert "feature 1" in words_on(figure)
