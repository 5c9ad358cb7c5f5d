import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from whynear import CandidateSearch, DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric, NeighborSearch
from whynear.search import exact
from whynear.search.engines import (
    FARTHEST_FACTOR,
    GlobalForm,
    LocalForm,
    absolute_errors,
    coordinates,
    may_be_nearest,
    relative_error,
)

RNG = np.random.default_rng(0)
CASES = RNG.standard_normal((60, 4)) + 3
QUERY = RNG.standard_normal(4)
GLOBAL = {"linear": LinearMetric(RNG.standard_normal((3, 4))), "diagonal": DiagonalMetric([1.0, 0.0, 3.0, 0.5])}


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


def test_products_in_float32_keep_to_the_bound():
    rng = np.random.default_rng(0)
    cases, queries = (
        rng.standard_normal((200, 12)),
        FARTHEST_FACTOR ** rng.uniform(-0.5, 0.25) * rng.standard_normal((50, 12)),
    )
    constants = np.square(cases).sum(axis=1)
    terms = np.hstack([-2 * cases, constants[:, None], np.ones((200, 1))]).astype(np.float32)
    factors = np.hstack([queries, np.ones((50, 1)), np.square(queries).sum(axis=1)[:, None]]).astype(np.float32)
    true = np.square(queries[:, None] - cases).sum(axis=2)
    error = np.abs((factors @ terms.T).astype(np.float64) - true)
    assert (error <= relative_error(14) * true + absolute_errors(constants, 14)).all()


def test_the_bound_grows_with_the_number_of_terms_and_never_vanishes():
    assert 0 < relative_error(3) < relative_error(30)
    assert (absolute_errors(np.zeros(2), 3) > 0).all()


D = 30
METRICS = {
    "linear": LinearMetric(RNG.standard_normal((3, D))),
    "diagonal": DiagonalMetric(np.where(np.arange(D) % 3, RNG.random(D), 0.0)),
}


def table(n, seed=0):
    return csr_array(random_array((n, D), density=0.2, rng=np.random.default_rng(seed)))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@given(seed=st.integers(0, 1000), k=st.integers(1, 9))
def test_neighbours_among_sparse_cases_are_those_among_dense_ones(metric, seed, k):
    Y, X = table(40, seed), table(7, seed + 1)
    sq, indices = NeighborSearch(metric, Y).nearest(X, k)
    expected, numbers = NeighborSearch(metric, Y.toarray()).nearest(X.toarray(), k)
    assert_allclose(sq, expected, rtol=1e-9)
    assert_array_equal(indices, numbers)
    assert_array_equal(NeighborSearch(metric, Y).nearest(X.toarray(), k)[1], numbers)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_of_equal_cases_the_lower_number_comes_first_and_one_can_be_left_out(metric):
    rows = table(5)
    Y = rows[np.tile(np.arange(5), 4)]
    search = NeighborSearch(metric, Y)
    sq, indices = search.nearest(rows, 4)
    assert (sq == 0).all()
    assert_array_equal(indices, np.arange(5)[:, None] + [0, 5, 10, 15])
    assert_array_equal(search.nearest(rows, 3, exclude=np.arange(5))[1], np.arange(5)[:, None] + [5, 10, 15])


def test_blocks_change_nothing(monkeypatch):
    metric, Y = METRICS["diagonal"], table(40)
    whole = NeighborSearch(metric, Y).nearest(Y, 5)
    monkeypatch.setattr(exact, "QUERY_BYTES", 1)
    for one, other in zip(whole, NeighborSearch(metric, Y).nearest(Y, 5), strict=True):
        assert_array_equal(one, other)


def test_many_columns_are_never_made_dense():
    Y = csr_array(random_array((1_000, 100_000), density=1e-4, rng=np.random.default_rng(0)))
    metric = DiagonalMetric(np.ones(100_000))
    tracemalloc.start()
    NeighborSearch(metric, Y).nearest(Y, 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 << 20, "a dense table has 800 MB"


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_wrong_searches_are_refused(metric):
    with pytest.raises(ValueError, match="at least one row to search among"):
        NeighborSearch(metric, table(0))
    with pytest.raises(ValueError, match=r"k=9 is more than the 5 cases. Use 1 <= k <= 5"):
        NeighborSearch(metric, table(5)).nearest(table(2), 9)
    with pytest.raises(TypeError, match=r"dense data is required. Use '.toarray"):
        NeighborSearch(metric, table(5).toarray()).nearest(table(2), 1)


@pytest.mark.parametrize(
    "search",
    [
        lambda: NeighborSearch(MinkowskiMetric(np.ones(D), p=3), table(5)),
        lambda: NeighborSearch(LocalMetric(table(5).toarray(), weights=np.ones((5, D))), table(5)),
        lambda: CandidateSearch(METRICS["linear"], table(70)),
    ],
)
def test_other_searches_need_dense_cases(search):
    with pytest.raises(TypeError, match=r"Y must be a dense table, .* Use Y.toarray\(\)"):
        search()
