import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.helpers.notebook_html import HOSTILE, shown
from whynear import DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric
from whynear.utils import html


def metrics(names):
    d, rng = len(names), np.random.default_rng(0)
    weights = rng.random(d)
    weights[0] = 10 * d
    return [
        DiagonalMetric(weights, names),
        LinearMetric(np.vstack([weights, weights]), names, scale=np.full(d, 2.0)),
        LocalMetric(rng.random((3, d)), [weights, weights, weights], feature_names=names),
        LocalMetric(rng.random((2, d)), omegas=[[weights], [weights]], feature_names=names),
        MinkowskiMetric(weights, 1, names),
    ]


@given(st.lists(st.text(), min_size=1, max_size=4), st.floats(), st.floats())
def test_whatever_names_and_numbers_are_the_html_is_well_formed(names, start, stop):
    rows = [(name, html.bar(start, stop, (0.0, 1.0), mark=start), start) for name in names]
    shown(html.block(html.heading(names[0]), *names, html.table(["feature", "bar", "number"], rows)))


@pytest.mark.parametrize("number", range(5))
def test_metrics_name_themselves_and_their_most_relevant_feature(number):
    metric = metrics([*"abcdefgh"])[number]
    text = shown(metric)
    assert repr(metric) in text
    assert text.index(" a ") < text.index(" b ")


@pytest.mark.parametrize("number", range(5))
def test_hostile_names_are_shown_as_they_are(number):
    metric = metrics(HOSTILE)[number]
    assert HOSTILE[0] in shown(metric)
    assert "<script" not in metric._repr_html_()


@pytest.mark.parametrize("number", range(5))
def test_thousands_of_features_are_counted_not_shown(number):
    text = shown(metrics([f"{'gene':>200} {j}" for j in range(7_000)])[number])
    assert "and 6,985 more features" in text


def test_names_that_cannot_be_encoded_are_shown():
    assert "\ufffd[2J a\ufffd" in shown(DiagonalMetric([1.0], ["\x1b[2J\na\udc80"]))


def test_a_metric_without_weight_shows_itself():
    assert "0.0%" in shown(DiagonalMetric([0.0, 0.0]))


def layers(drawn):
    """Place and size in per cent of each layer of a bar."""
    return [tuple(map(float, found)) for found in re.findall(r"([\d.]+)% 0/max\(\dpx,([\d.]+)%\)", drawn)]


def test_a_bar_lies_where_its_numbers_are():
    ((place, size),) = layers(html.bar(2.0, 6.0, (0.0, 10.0)))
    assert size == 40
    assert place * (100 - size) / 100 == pytest.approx(20, abs=0.1)  # the start: a share of the room that is left free
    assert layers(html.bar(0.0, 10.0, (0.0, 10.0))) == [(0, 100)]
    assert layers(html.bar(0.0, -5.0, (-5.0, 5.0))) == [(0, 50)]
    assert layers(html.bar(0.0, 1.0, (0.0, 2.0), mark=1.0)) == [(50, 0), (0, 50)]


@pytest.mark.parametrize("within", [(0.0, 0.0), (0.0, np.nan), (0.0, np.inf)])
def test_a_range_of_nothing_leaves_the_track_empty(within):
    assert layers(html.bar(0.0, 1.0, within, mark=1.0)) == []


@pytest.mark.parametrize(
    ("number", "text"),
    [(3, "3"), (np.int64(12_000), "12,000"), (0.123456, "0.123"), (1234.5, "1,234"), (-0.5, "−0.5"), (5.0, "5"),
     (1e-9, "1e−09"), (1e12, "1e+12"), (np.nan, "–"), (np.inf, "inf")],
)  # fmt: skip
def test_numbers_are_short(number, text):
    assert f">{text}</td>" in html.table(["number"], [(number,)])


def test_a_curve_of_one_point_or_of_equal_ones_can_be_drawn():
    for values in (np.array([0.5]), np.array([0.5, 0.5])):
        places = np.arange(1.0, 1 + len(values))
        shown(html.block(html.curve({"<error>": values}, places, 1.0, "directions")))
