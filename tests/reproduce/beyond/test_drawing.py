from matplotlib.colors import to_hex

from tests.helpers.reproduction import drawn, words_on
from whynear.reproduce.beyond.drawing import JOINED, OTHERS, OURS, draw_ranks, draw_scores
from whynear.reproduce.outcome import Measured

RANKS = {"LANN": 1.25, "kNN": 2.0, "NCA": 2.75}


def test_names_stand_at_their_mean_ranks_in_the_colour_of_their_library():
    (ax,) = drawn(draw_ranks, RANKS, [(1.25, 2.0)], 1.0, {"LANN"}).axes
    colors = {text.get_text(): to_hex(text.get_color()) for text in ax.texts}
    assert (colors["LANN"], colors["kNN"], colors["NCA"]) == (OURS, OTHERS, OTHERS)
    dots = {float(line.get_xdata()[0]) for line in ax.lines if line.get_marker() == "o" and len(line.get_xdata())}
    assert dots == set(RANKS.values())
    assert {"1.2", "2.0", "2.8", "critical difference 1.00", "mean rank"} <= set(colors)


def test_each_group_without_a_difference_has_a_bar():
    (ax,) = drawn(draw_ranks, RANKS, [(1.25, 2.0), (2.0, 2.75)], 1.0, set()).axes
    bars = [line for line in ax.lines if line.get_color() == JOINED and len(line.get_xdata())]
    assert [[round(x, 1) for x in bar.get_xdata()] for bar in bars] == [[1.2, 2.0], [2.0, 2.8]]
    assert bars[0].get_ydata()[0] != bars[1].get_ydata()[0]


def test_scores_have_a_panel_for_each_kind_and_score():
    kinds, panels, methods = ["linear", "xor, many"], ["strong found", "weak found"], ["intervals", "lasso"]
    scores = {(k, p, m): Measured(0.5, 0.1) for k in kinds for p in panels for m in methods}
    figure = drawn(draw_scores, kinds, panels, methods, scores, {"intervals"})
    assert len(figure.axes) == 4
    assert {*panels, *methods, "linear", "xor\nmany", "this library", "other methods"} <= words_on(figure)
    assert all(len(ax.containers) == len(methods) for ax in figure.axes)
