"""Figures for a numeric target."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from whynear.report.regression_drawing import LINE_COLOUR, draw_map_of_numbers, draw_predictions


def test_predictions_are_drawn_over_true_values_with_the_line_where_both_are_equal():
    predictions = pd.DataFrame({"true": [1.0, 2.0, 4.0], "predicted": [1.5, 2.0, 3.0]})
    ax = draw_predictions(predictions, "price", Figure().add_subplot())
    points, line = ax.lines
    assert points.get_xydata().tolist() == predictions.to_numpy().tolist()
    assert (line.get_slope(), to_hex(line.get_color())) == (1, LINE_COLOUR)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("price, measured", "price, predicted when held out")


def test_a_map_colours_the_cases_by_the_target():
    points, y = np.arange(6.0).reshape(3, 2), np.array([5.0, 7.0, 6.0])
    figure = Figure()
    ax = draw_map_of_numbers(points, y, "$price", figure.add_subplot())
    drawn = ax.collections[0]
    assert drawn.get_offsets().tolist() == points.tolist()
    assert drawn.get_array().tolist() == y.tolist()
    assert drawn.get_gid() == "class-0"
    assert "$price" in [axes.get_ylabel() for axes in figure.axes]
    assert not ax.get_xticks().size
