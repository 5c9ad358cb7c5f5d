import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.search.products import FARTHEST_FACTOR, GlobalForm, LocalForm, coordinates, may_be_nearest, relative_error

RNG = np.random.default_rng(0)
CASES = RNG.standard_normal((60, 4)) + 3
QUERY = RNG.standard_normal(4)
GLOBAL = {
    "linear": LinearMetric(RNG.standard_normal((3, 4))),
    "diagonal": DiagonalMetric([1.0, 0.0, 3.0, 0.5]),
}


def products(metric):
    if isinstance(metric, LocalMetric):
        form = LocalForm.fitting(metric)
        unit = float((metric.maps * np.square(form.unit)).max())
        return form, form.products(metric, np.arange(60)), unit
    form = GlobalForm.fitting(metric, [CASES[:20], CASES[20:]])
    return form, form.products(metric, CASES), form.unit**2


@pytest.mark.parametrize(
    "metric", [*GLOBAL.values(), LocalMetric(CASES, weights=RNG.random((60, 4)))], ids=["linear", "diagonal", "local"]
)
def test_scores_are_squared_distances_within_the_stated_error(metric):
    form, terms, unit = products(metric)
    scores = terms.scores(*form.factors(metric, QUERY))
    sq = metric.sq_distances(QUERY[None], None if isinstance(metric, LocalMetric) else CASES)[0] / unit
    relative = relative_error(terms.terms.shape[1] + 1)
    assert (np.abs(scores - sq) <= relative * sq + terms.slack).all()
    nearest = may_be_nearest(scores, terms.slack, terms.terms.shape[1], 5)
    assert set(np.argsort(sq)[:5]) <= set(nearest)
    assert len(nearest) < 60


def test_parts_joined_are_the_whole():
    metric = GLOBAL["linear"]
    form, whole, _ = products(metric)
    joined = form.products(metric, CASES[:7]).joined(form.products(metric, CASES[7:]))
    assert len(joined) == 60
    assert_allclose(joined.terms, whole.terms, rtol=1e-6)
    assert_allclose(joined.slack, whole.slack, rtol=1e-6)


def test_infinite_scores_are_no_candidates():
    scores = np.array([0.0, np.inf, 1.0], dtype=np.float32)
    assert_array_equal(may_be_nearest(scores, np.zeros(3, dtype=np.float32), 4, 2), [0, 2])


def test_queries_too_far_away_have_no_factors():
    form, _, _ = products(GLOBAL["diagonal"])
    assert form.factors(GLOBAL["diagonal"], np.full(4, 10 * FARTHEST_FACTOR)) is None
    assert form.factors(GLOBAL["diagonal"], np.full(4, np.nan)) is None


def test_coordinates_leave_out_features_without_weight():
    assert coordinates(GLOBAL["diagonal"], CASES).shape == (60, 3)
    assert_allclose(coordinates(GLOBAL["linear"], CASES), GLOBAL["linear"].map(CASES))
