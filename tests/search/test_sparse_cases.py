import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array, random_array

from whynear import CandidateSearch, DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric, NeighborSearch
from whynear.search import exact

D = 30
RNG = np.random.default_rng(0)
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
    with pytest.raises(TypeError, match=r"Y must be a dense table, got a sparse one instead. Use Y.toarray\(\)"):
        search()
