import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from numpy.testing import assert_array_equal

from tests.helpers.relevance import intervals, with_unknown
from whynear import LinearMetric, relevance_intervals

mpl.use("agg")


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def tick_labels(axis):
    low, high = axis.get_view_interval()
    return [tick.label1.get_window_extent() for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]


def overlapping(ax):
    """Whether labels or the legend cover each other, or anything is cut off at the edge of the figure."""
    ax.figure.canvas.draw()
    edge = ax.figure.bbox
    boxes = [*tick_labels(ax.xaxis), *tick_labels(ax.yaxis)]
    boxes += [ax.xaxis.label.get_window_extent(), ax.get_legend().get_window_extent()]
    crowded = any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[i + 1 :])
    return crowded or any(box.x0 < 0 or box.y0 < 0 or box.x1 > edge.x1 or box.y1 > edge.y1 for box in boxes)


@pytest.mark.parametrize("n_irrelevant", [4, 60])
def test_drawing_uses_the_given_axes_and_shows_nothing(n_irrelevant, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: pytest.fail("shown"))
    found = intervals(n_irrelevant)
    _, ax = plt.subplots()
    assert found.plot(ax=ax) is ax
    assert plt.gcf() is ax.figure
    assert found.plot() is not ax


def test_few_features_are_lines_with_names_and_many_areas_along_the_axis():
    few, many = intervals(32), intervals(33)
    ax = few.plot()
    assert len(few.upper) == 40
    assert sorted(label.get_text() for label in ax.get_yticklabels()) == sorted(few.feature_names)
    assert "in the order of the table" in many.plot().get_xlabel()
    assert "in the order of the table" in few.plot(most=5).get_xlabel()
    assert len(many.plot(most=50).get_yticklabels()) == 41


def test_strengths_differ_without_colour():
    ax = with_unknown(intervals()).plot()
    assert [text.split(":")[0] for text in labels(ax)][:4] == ["strong", "weak", "irrelevant", "unknown"]
    handles = ax.get_legend().legend_handles
    looks = {(getattr(h, "get_marker", lambda: None)(), getattr(h, "get_hatch", lambda: None)()) for h in handles}
    assert len(looks) == len(handles)


def test_along_the_axis_must_can_and_unknown_differ_without_colour():
    ax = with_unknown(intervals(60)).plot()
    areas = ax.collections
    assert len({area.get_hatch() for area in areas}) == len(areas) == 2
    assert any(line.get_marker() == "x" for line in ax.lines)
    assert [text.split(" (")[0] for text in labels(ax)] == ["must matter", "can matter", "floor", "unknown"]


@pytest.mark.parametrize("n_irrelevant", [0, 30, 60])
@pytest.mark.parametrize("unknown", [False, True])
def test_nothing_overlaps_or_is_cut_off(n_irrelevant, unknown):
    found = intervals(n_irrelevant)
    ax = (with_unknown(found) if unknown else found).plot()
    assert not overlapping(ax)


def test_long_names_are_shortened_and_never_read_as_formulas():
    names = ("a price in $ per $ \\frac{", "x" * 200, *(f"f{i}" for i in range(10)))
    ax = intervals(feature_names=names).plot()
    ax.figure.canvas.draw()
    shown = [label.get_text() for label in ax.get_yticklabels()]
    assert "a price in $ per $ \\frac{" in shown
    assert max(map(len, shown)) <= 40
    assert not overlapping(ax)
    assert ax.get_window_extent().width > 0.4 * ax.figure.bbox.width


def test_the_units_and_the_floor_are_shown():
    found = intervals(units="per standard deviation", floor=0.25)
    ax = found.plot()
    assert "per standard deviation" in ax.get_xlabel()
    assert any(line.get_linestyle() == ":" and line.get_xdata()[0] == found.threshold for line in ax.lines)
    assert "per standard deviation" in intervals(60, units="per standard deviation").plot().get_ylabel()


def test_drawing_changes_and_computes_nothing():
    found = intervals()
    before = found.upper.copy()
    found.plot()
    assert_array_equal(found.upper, before)
    nothing = relevance_intervals(LinearMetric(np.eye(2)), np.ones((3, 2)))
    assert nothing.plot().get_xlim()[1] > 0
