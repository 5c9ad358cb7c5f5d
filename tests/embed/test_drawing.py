import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose

from tests.helpers.embeddings import random_cases
from whynear.embed.embedding import plot_embedding

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_drawing_uses_the_given_axes_and_shows_nothing(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    points, y = random_cases(30, 2), np.repeat(["one", "two", "$three"], 10)
    _, ax = plt.subplots()
    assert plot_embedding(points, y, ax=ax) is ax
    assert legend_of(ax) == ["$three", "one", "two"]
    assert ax.get_aspect() == 1
    assert not len(ax.get_xticks())
    assert not len(ax.get_yticks())
    assert plot_embedding(points, y) is not ax


def test_ninety_classes_look_different_and_the_first_ones_by_colour_or_marker_alone():
    ax = plot_embedding(random_cases(180, 2), np.arange(180) % 90)
    looks = [(handle.get_color(), handle.get_marker()) for handle in ax.get_legend().legend_handles]
    assert len(set(looks)) == 90
    assert len({color for color, _ in looks[:10]}) == 10
    assert len({marker for _, marker in looks[:9]}) == 9


def test_errors_are_ringed_and_counted():
    points, y = random_cases(30, 2), np.arange(30) % 2
    errors = np.arange(30) < 4
    ax = plot_embedding(points, y, errors=errors)
    assert legend_of(ax) == ["0", "1", "error (4 of 30)"]
    assert_allclose(ax.collections[-1].get_offsets(), points[errors])


@pytest.mark.parametrize("n_classes", [2, 30, 60])
def test_the_legend_covers_no_point_and_is_not_cut_off(n_classes):
    ax = plot_embedding(random_cases(120, 2), [f"class {i % n_classes}" for i in range(120)])
    ax.figure.canvas.draw()
    legend = ax.get_legend().get_window_extent()
    assert not legend.overlaps(ax.get_window_extent())
    assert legend.x1 <= ax.figure.bbox.x1
    assert legend.y0 >= 0


def test_wrong_drawings_are_refused_by_name():
    with pytest.raises(ValueError, match="embedding must have 2 columns to be drawn, got 3"):
        plot_embedding(random_cases(5, 3), np.zeros(5))
    with pytest.raises(ValueError, match="errors must hold True or False for each of the 5 points"):
        plot_embedding(random_cases(5, 2), np.zeros(5), errors=[1, 2])
