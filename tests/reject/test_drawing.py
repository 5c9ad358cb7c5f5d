import numpy as np
from matplotlib.figure import Figure

from whynear.reject.curve import curve_of, draw_curve
from whynear.reject.promise import promise_of


def drawn(n, promise=None):
    rng = np.random.default_rng(0)
    certainty = rng.random(n)
    curve = curve_of(certainty, rng.random(n) < 0.8 + 0.2 * certainty)
    return curve, draw_curve(curve, Figure().add_subplot(), promise)


def test_the_line_is_the_curve():
    curve, ax = drawn(300)
    line = ax.get_lines()[0]
    assert np.array_equal(line.get_xdata(), curve.coverage)
    assert np.array_equal(line.get_ydata(), curve.accuracy)
    assert len(ax.get_lines()) == 2
    assert curve.plot(Figure().add_subplot()).get_xlabel() == ax.get_xlabel() != ""


def test_a_promise_is_drawn_where_it_ends():
    given = promise_of(np.linspace(0, 1, 400), np.ones(400, dtype=bool), np.linspace(0, 1, 9), 0.95, 0.9)
    _, ax = drawn(300, given)
    assert ax.get_lines()[2].get_ydata()[0] == 0.95
    refused = promise_of(np.ones(4), np.ones(4, dtype=bool), np.ones(4), 0.95, 0.9)
    assert len(drawn(300, refused)[1].get_lines()) == 2


def test_one_case_can_be_drawn():
    ax = draw_curve(curve_of(np.array([0.5]), np.array([False])), Figure().add_subplot())
    assert ax.get_ylim()[0] >= 0
