"""Figures for a numeric target."""

import numpy as np
import pandas as pd
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from whynear.report.regression_drawing import LINE_COLOUR, draw_map_of_numbers, draw_predictions, draw_residuals
from whynear.study.residuals import residuals_of


def test_predictions_are_drawn_over_true_values_with_the_line_where_both_are_equal():
    predictions = pd.DataFrame({"true": [1.0, 2.0, 4.0], "predicted": [1.5, 2.0, 3.0]})
    ax = draw_predictions(predictions, "price", Figure().add_subplot())
    points, line = ax.lines
    assert points.get_xydata().tolist() == predictions.to_numpy().tolist()
    assert (line.get_slope(), to_hex(line.get_color())) == (1, LINE_COLOUR)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("price, measured", "price, predicted when held out")


def test_errors_are_drawn_over_predictions_with_the_interval_and_rings_on_the_largest():
    rng = np.random.default_rng(0)
    predictions = pd.DataFrame({"true": rng.random(40), "predicted": rng.random(40)})
    errors = residuals_of(predictions)
    ax = draw_residuals(predictions, "price", errors, Figure().add_subplot())
    zero, low, high, points, rings = ax.lines
    assert [line.get_ydata()[0] for line in (zero, low, high)] == [0.0, *errors.interval]
    assert_allclose(points.get_ydata(), predictions["true"] - predictions["predicted"])
    assert rings.get_ydata().tolist() == [error.residual for error in errors.largest]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("price, predicted when held out", "measured − predicted")


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
