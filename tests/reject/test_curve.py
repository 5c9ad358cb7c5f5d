import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from whynear.reject.outcome import MOST_POINTS, Decisions, curve_of, draw_curve, promise_of, reasons_for

CASES = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30)


@given(CASES)
def test_points_are_the_accuracies_of_thresholds(cases):
    certainty, right = (np.array(column) for column in zip(*cases, strict=True))
    curve = curve_of(certainty.astype(float), right)
    assert_allclose(curve.certainty, np.unique(certainty)[::-1])
    for threshold, coverage, accuracy in curve.frame().itertuples(index=False):
        accepted = certainty >= threshold
        assert_allclose([coverage, accuracy], [accepted.mean(), right[accepted].mean()])


@given(CASES)
def test_the_area_is_the_mean_over_orders_of_ties(cases):
    certainty, right = (np.array(column) for column in zip(*cases, strict=True))
    rng, areas = np.random.default_rng(0), []
    for _ in range(100):
        order = np.lexsort((rng.random(len(right)), -certainty))
        areas.append(np.mean(np.cumsum(~right[order]) / np.arange(1, len(right) + 1)))
    around = 5 * np.std(areas) / np.sqrt(100) + 1e-9
    assert abs(curve_of(certainty.astype(float), right).area - np.mean(areas)) <= around


def test_without_an_order_the_area_is_the_error():
    right = np.arange(1000) % 5 > 0
    assert_allclose(curve_of(np.full(1000, 0.5), right).area, 0.2)


def test_the_accuracy_at_a_coverage_is_that_of_the_next_point():
    curve = curve_of(np.array([0.9, 0.8, 0.8, 0.3]), np.array([True, True, False, False]))
    assert curve.accuracy_at(0.5) == pytest.approx(2 / 3)
    assert curve.accuracy_at(0.75) == pytest.approx(2 / 3)
    assert curve.accuracy_at(1) == 0.5


def test_plain_values_are_few():
    rng = np.random.default_rng(0)
    held = curve_of(rng.random(5000), rng.random(5000) > 0.1).to_dict()
    assert len(held["coverage"]) == MOST_POINTS
    assert held["coverage"][-1] == 1
    assert held["cases"] == 5000


def test_no_case_is_refused():
    with pytest.raises(ValueError, match="at least one case"):
        curve_of(np.empty(0), np.empty(0, dtype=bool))


def some():
    accepted = np.array([True, False, False])
    reason = reasons_for(accepted, np.array([False, True, False]))
    return Decisions(np.array(["a", "b", "a"]), accepted, np.array([0.9, 0.2, 0.4]), reason)


def test_rejected_cases_are_masked_and_keep_their_prediction():
    masked = some().masked()
    assert masked.mask.tolist() == [False, True, True]
    assert masked.compressed().tolist() == ["a"]
    assert masked.data.tolist() == ["a", "b", "a"]
    assert (masked == np.array(["a", "x", "x"])).mean() == 1


def test_tables_hold_a_row_for_each_case():
    assert reasons_for(np.zeros(2, dtype=bool), np.array([True, False]), promised=False).tolist() == [
        "outlier",
        "no promise",
    ]
    assert some().frame()["reason"].tolist() == ["", "outlier", "ambiguous"]
    assert some().to_dict()["accepted"] == [True, False, False]
    assert some() == some()


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
