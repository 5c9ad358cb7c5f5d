import numpy as np

from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce.outcome import Line, Outcome
from whynear.reproduce.slider.drawing import COLORS, MEASURES, draw_matches, draw_measures, draw_methods


def test_measures_have_a_panel_each_with_marks_for_ours_and_published_values():
    lines = [
        Line(f"wine: {measure}", weights, 0.5, 0.1, 0.6, 0.1, None, "higher", 2)
        for measure in MEASURES
        for weights in ("Euclidean", "Slider")
    ]
    figure = drawn(draw_measures, Outcome("slider-table2", tuple(lines), 1), ["wine"])
    assert [ax.get_title() for ax in figure.axes] == list(MEASURES)
    assert [len(ax.containers) for ax in figure.axes] == [4, 4, 4]
    assert {"wine", "Slider, ours", "Euclidean, published"} <= words_on(figure)


def test_matches_are_drawn_against_the_tolerance():
    counts = {name: np.array([[1.0, 2], [3, 4]]) for name in (*COLORS, "existing matches")}
    figure = drawn(draw_matches, [0.1, 0.2], {"Manhattan": counts, "Euclidean": counts})
    assert [ax.get_title() for ax in figure.axes] == ["Manhattan", "Euclidean"]
    existing = next(line for line in figure.axes[0].lines if line.get_label() == "existing matches")
    assert existing.get_xydata().tolist() == [[0.1, 2], [0.2, 3]]
    assert {*COLORS, "existing matches", "tolerance"} <= words_on(figure)


def test_every_method_has_a_bar_in_both_panels():
    methods = ["equal weights", "Slider"]
    scores = {(method, columns): [1.0, 3.0] for method in methods for columns in ("raw columns", "z-scores")}
    figure = drawn(draw_methods, methods, scores)
    assert [[bar.get_width() for bar in ax.patches] for ax in figure.axes] == [[2, 2], [2, 2]]
    assert {*methods, "raw columns", "z-scores"} <= words_on(figure)
