import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.notebook_html import HOSTILE, shown
from tests.helpers.relevance import CASES, intervals, local, same_bounds, table, with_unknown
from whynear import DiagonalMetric, LinearMetric, LocalMetric, relevance_intervals
from whynear.interpret.null_space import maps_with_directions, row_problems
from whynear.metric.projection import principal_directions


@given(CASES, st.sampled_from([0.0, 0.01, 0.1]))
def test_extreme_maps_act_as_the_row_does_keep_to_the_budget_and_attain_their_bounds(drawn, slack):
    X, w, kept = drawn
    found = relevance_intervals(LinearMetric([w]), X, kept, slack, extremes=True)
    projected = principal_directions(X, kept).project(X - X.mean(axis=0))
    for row in found.rows:
        acts, size = projected @ row.map, np.abs(projected).max() * row.mu
        assert_allclose(projected @ w, acts, atol=1e-9 * (size + np.abs(projected).max() * np.abs(w).max()))
        for j in range(len(w)):
            maps = {
                row.low[j]: row.extreme(j, "low"),
                row.high[j]: row.extreme(j, "high"),
                row.lower[j]: np.abs(row.extreme_map(j, "lower")),
                row.upper[j]: np.abs(row.extreme_map(j, "upper")),
            }
            for bound, extreme in maps.items():
                assert_allclose(extreme[j], bound, atol=1e-9 * row.mu)
            for extreme in (row.extreme(j, "low"), row.extreme(j, "high"), row.extreme_map(j, "lower")):
                assert_allclose(projected @ extreme, acts, atol=1e-8 * size)
                assert np.abs(extreme).sum() <= (1 + slack) * row.mu * (1 + 1e-9)


def test_the_floor_is_relative_to_the_largest_upper_bound():
    X, rng = table()
    metric = LinearMetric(rng.standard_normal((1, 8)))
    for floor in (0.0, 0.1, 0.5, 1.0):
        found = relevance_intervals(metric, X, floor=floor)
        assert_allclose(found.threshold, max(floor, 1e-9) * found.upper.max())
        assert_array_equal(found.strength == "strong", found.lower > found.threshold)
        assert_array_equal(found.strength == "irrelevant", found.upper <= found.threshold)
    assert (found.strength == "irrelevant").all()


def test_without_a_floor_rounding_does_not_count():
    X, _ = table(d=5, rank=5)
    found = relevance_intervals(LinearMetric([[1.0, 0, 1, 0, 0]]), X, slack=0.0, floor=0.0)
    assert_array_equal(found.strength, ["strong", "irrelevant", "strong", "irrelevant", "irrelevant"])


def test_the_rows_of_a_local_metric_make_no_common_map():
    metric, left, right = local("omegas")
    found = relevance_intervals(metric, np.vstack([left, right]), extremes=True)
    with pytest.raises(ValueError, match="different anchors"):
        found.mean_map()
    with pytest.raises(ValueError, match="different anchors"):
        next(found.extreme_metrics())


def test_the_mean_map_is_the_mean_of_the_two_metrics_per_feature():
    X, rng = table()
    found = relevance_intervals(LinearMetric(rng.standard_normal((2, 8))), X, extremes=True)
    metrics = list(found.extreme_metrics())
    assert len(metrics) == 16
    assert_allclose(found.mean_map().omega, np.mean([metric.omega for metric in metrics], axis=0), atol=1e-12)
    for metric in (*metrics, found.mean_map()):
        expected = LinearMetric([row.map for row in found.rows]).sq_distances(X)
        assert_allclose(metric.sq_distances(X), expected, atol=1e-6 * expected.max())
    for j in range(8):
        assert_allclose(np.abs(metrics[2 * j].omega[:, j]).sum(), found.lower[j], atol=1e-9)
        assert_allclose(np.abs(metrics[2 * j + 1].omega[:, j]).sum(), found.upper[j], atol=1e-9)


def test_results_are_read_as_a_table_and_as_plain_values():
    X, rng = table()
    X = pd.DataFrame(X, columns=[f"c{i}" for i in range(8)])
    found = relevance_intervals(LinearMetric(rng.standard_normal((2, 8)), list(X.columns)), X)
    frame = found.frame()
    assert list(frame.columns) == ["feature", "lower", "upper", "strength"]
    assert list(frame["feature"]) == list(X.columns)
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert plain["upper"] == found.upper.tolist()
    assert len(plain["rows"]) == 2
    assert plain["certificate"]["programs"] == 32
    assert repr(found).startswith("Relevance(8 features: ")


def test_relevance_names_strong_features_first_and_counts_the_others():
    found = intervals(n_irrelevant=60)
    text = shown(found)
    assert repr(found) in text
    assert f"floor {found.threshold:.3g}" in text
    places = [text.index(name) for name in ("strong_0", "weak_0_0", "noise_")]
    assert places == sorted(places)
    rest = len(found.upper) - 15
    assert f"and {rest} more features: {rest} irrelevant" in text


def test_relevance_shows_hostile_names_and_what_could_not_be_bounded():
    found = with_unknown(intervals())
    names = (*HOSTILE, *found.feature_names[len(HOSTILE) :])
    text = shown(replace(found, feature_names=names, upper=np.where(found.strength == "unknown", np.inf, found.upper)))
    assert HOSTILE[0] in text
    assert "unknown" in text


mpl.use("agg")


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


@pytest.mark.parametrize("rows", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["eigen", "map"])
def test_what_lies_in_the_null_space_does_not_matter(rows, kind):
    X, rng = table(seed=rows)
    omega = rng.standard_normal((rows, 8))
    null = np.linalg.svd(X - X.mean(axis=0))[2][4:]
    noisy = omega + 10 * rng.standard_normal((rows, len(null))) @ null
    expected = relevance_intervals(LinearMetric(omega), X, rows=kind)
    found = relevance_intervals(LinearMetric(noisy), X, rows=kind)
    same_bounds(found, expected)
    assert len(found.rows) == min(rows, 4) if kind == "eigen" else rows
    assert found.rank == found.effective_dim == 4


def test_rotating_the_map_does_not_matter_to_its_eigenvectors():
    X, rng = table()
    omega = rng.standard_normal((3, 8))
    turned = np.linalg.qr(rng.standard_normal((3, 3)))[0] @ omega
    same_bounds(relevance_intervals(LinearMetric(turned), X), relevance_intervals(LinearMetric(omega), X))


@given(CASES)
def test_for_one_row_the_eigenvector_is_the_row(drawn):
    X, w, kept = drawn
    eigen = relevance_intervals(LinearMetric([w]), X, kept, rows="eigen")
    same_bounds(relevance_intervals(LinearMetric([w]), X, kept, rows="map"), eigen)
    for row in eigen.rows:
        assert_allclose(row.map, principal_directions(X, kept).project(w), atol=1e-9 * row.mu)


@pytest.mark.parametrize("rows", ["eigen", "map"])
def test_a_diagonal_metric_is_the_linear_one_with_the_roots_of_its_weights(rows):
    X, rng = table()
    weights = rng.exponential(size=8) * (rng.random(8) < 0.8)
    expected = relevance_intervals(LinearMetric(np.diag(np.sqrt(weights))), X, rows=rows)
    same_bounds(relevance_intervals(DiagonalMetric(weights), X, rows=rows), expected)


def test_rows_add_up():
    X, rng = table()
    omega = rng.standard_normal((2, 8))
    both = relevance_intervals(LinearMetric(omega), X, rows="map")
    alone = [relevance_intervals(LinearMetric(row[None]), X) for row in omega]
    assert_allclose(both.upper, alone[0].upper + alone[1].upper, atol=1e-9)
    assert_allclose(both.lower, alone[0].lower + alone[1].lower, atol=1e-9)


def test_a_map_in_the_null_space_is_skipped_as_rounding():
    X = np.column_stack([np.arange(9.0)] * 3) / 7
    found = relevance_intervals(LinearMetric([[1.0, 1.0, -2.0]]), X)
    assert (found.rank, found.skipped_rows) == (1, ("row 0",))
    assert_array_equal(found.upper, np.zeros(3))
    assert_array_equal(found.strength, ["irrelevant"] * 3)


def test_negligible_rows_are_skipped_and_named():
    X, rng = table()
    omega = rng.standard_normal((2, 8))
    padded = np.vstack([omega, 1e-9 * rng.standard_normal(8), np.zeros(8)])
    found = relevance_intervals(LinearMetric(padded), X, rows="map")
    assert (len(found.rows), found.skipped_rows) == (2, ("row 2", "row 3"))
    same_bounds(found, relevance_intervals(LinearMetric(omega), X, rows="map"))


@pytest.mark.parametrize("kind", ["weights", "omegas"])
@pytest.mark.parametrize("effective_dim", [None, 1, 3])
def test_a_local_metric_adds_its_maps_by_the_share_of_rows_they_serve(kind, effective_dim):
    metric, left, right = local(kind)
    found = relevance_intervals(metric, np.vstack([left, right]), effective_dim)
    alone = [
        relevance_intervals(metric[0], left, effective_dim and min(effective_dim, 2)),
        relevance_intervals(metric[1], right, effective_dim),
    ]
    assert_allclose(found.upper, (15 * alone[0].upper + 25 * alone[1].upper) / 40, atol=1e-9)
    assert_allclose(found.lower, (15 * alone[0].lower + 25 * alone[1].lower) / 40, atol=1e-9)
    assert {row.anchor for row in found.rows} == {0, 1}
    assert {row.share for row in found.rows} == {15 / 40, 25 / 40}
    assert found.rank == 3


def test_a_map_that_serves_equal_rows_only_adds_nothing():
    metric, left, right = local("omegas")
    found = relevance_intervals(metric, np.vstack([np.tile(left[:1], (15, 1)), right]), 2)
    assert_allclose(found.upper, 25 / 40 * relevance_intervals(metric[1], right, 2).upper, atol=1e-9)


def test_more_than_a_hundred_maps_are_refused():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((101, 3))
    with pytest.raises(ValueError, match="has 101 maps"):
        relevance_intervals(LocalMetric(X, weights=np.ones((101, 3))), X)
    assert relevance_intervals(LocalMetric(X[:100], weights=np.ones((100, 3))), np.repeat(X, 2, axis=0)).rank > 0


def test_a_problem_states_the_row_in_the_directions_of_the_data():
    X, rng = table()
    X[:, 2] = 1.0
    omega = rng.standard_normal((2, 8))
    problems, skipped = row_problems(list(maps_with_directions(LinearMetric(omega), X, None)), "map")
    assert skipped == ()
    for problem, row in zip(problems, omega, strict=True):
        assert 2 not in problem.live
        assert_allclose(problem.U.T @ problem.U, np.eye(problem.U.shape[1]), atol=1e-9)
        assert_allclose(problem.U.T @ row[problem.live], problem.b)
        assert_allclose((X - X.mean(axis=0)) @ problem.map, (X - X.mean(axis=0)) @ row, atol=1e-9)
        assert (problem.share, problem.anchor) == (1.0, None)
