import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.notebook_html import HOSTILE, shown
from tests.helpers.relevance import (
    CASES,
    intervals,
    local,
    table,
    with_unknown,
)
from whynear import (
    LinearMetric,
    relevance_intervals,
)
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
