import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

from whynear.utils.axes import LONGEST_NAME, color_bar, new_axes, short_name, tidy


@pytest.mark.parametrize("length", [0, 1, LONGEST_NAME, LONGEST_NAME + 1, 500])
def test_a_long_name_keeps_its_beginning_and_its_end(length):
    name = ("abcdefghij" * 50)[:length]
    short = short_name(name)
    assert len(short) == min(length, LONGEST_NAME)
    assert short == name or (name.startswith(short.split("…")[0]) and name.endswith(short.split("…")[1]))


def test_axes_are_new_and_of_the_given_size():
    ax = new_axes(3, 2)
    assert ax.figure.get_size_inches().tolist() == [3, 2]
    assert new_axes(3, 2) is not ax
    plt.close("all")


def test_tidy_axes_have_two_spines_and_a_grid_behind_the_data():
    ax = Figure().add_subplot()
    tidy(ax, "x")
    assert [name for name, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    assert ax.get_axisbelow()


def test_a_colour_bar_is_vector_graphics_without_an_outline():
    figure = Figure()
    ax = figure.add_subplot()
    bar = color_bar(ax.imshow(np.eye(2)), ax)
    assert len(figure.axes) == 2
    assert not bar.solids.get_rasterized()
    assert not bar.outline.get_visible()
