import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, random_array

from whynear import DiagonalMetric, LinearMetric, LocalMetric, MinkowskiMetric

D = 30
RNG = np.random.default_rng(0)
METRICS = {
    "linear": LinearMetric(RNG.standard_normal((3, D))),
    "diagonal": DiagonalMetric(np.where(np.arange(D) % 3, RNG.random(D), 0.0)),
}


def table(n=20, seed=0):
    return csr_array(random_array((n, D), density=0.2, rng=np.random.default_rng(seed)))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@given(seed=st.integers(0, 1000), scale=st.sampled_from([1e-60, 1e-3, 1.0, 1e6, 1e60]))
def test_distances_of_sparse_rows_are_those_of_dense_ones(metric, seed, scale):
    X, Y = table(8, seed) * scale, table(5, seed + 1) * scale
    assert_allclose(metric.sq_distances(X, Y), metric.sq_distances(X.toarray(), Y.toarray()), rtol=1e-6)
    assert_allclose(metric.sq_distances(X), metric.sq_distances(X.toarray()), rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_near_copies_keep_their_distances_and_equal_rows_have_none(metric):
    X = table()
    near = X.copy()
    near.data = near.data * (1 + 1e-9)
    exact = [metric.sq_distances(a[None], b[None])[0, 0] for a, b in zip(X.toarray(), near.toarray(), strict=True)]
    assert_allclose(np.diag(metric.sq_distances(X, near)), exact, rtol=1e-6)
    assert (np.diag(metric.sq_distances(X)) == 0).all()


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("kind", [csr_array, csr_matrix, csc_matrix, coo_array])
def test_any_sparse_format_is_taken_beside_a_dense_table_and_stays_unchanged(metric, kind):
    X, Y = kind(table()), table(seed=1).toarray()
    before = X.toarray()
    expected = metric.sq_distances(before, Y)
    assert_allclose(metric.sq_distances(X, Y), expected)
    assert_allclose(metric.sq_distances(Y, X), expected.T)
    assert (X.toarray() == before).all()


def test_entries_given_twice_are_summed():
    X = coo_array(([1.0, 2.0], ([0, 0], [1, 1])), shape=(1, D))
    for metric in METRICS.values():
        assert_allclose(metric.sq_distances(X, X.toarray()), [[0.0]], atol=1e-12)


def test_sparse_rows_are_mapped():
    metric = METRICS["linear"]
    assert_allclose(metric.map(table()), metric.map(table().toarray()))


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_empty_tables_have_no_distances(metric):
    assert metric.sq_distances(table()[:0], table()).shape == (0, 20)
    assert metric.sq_distances(csr_array((2, D))).tolist() == [[0.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -1e200])
def test_values_that_cannot_be_squared_are_named(metric, value):
    X = coo_array(([1.0, value], ([0, 0], [1, 7])), shape=(1, D))
    with pytest.raises(ValueError, match=r"Y holds .* in column 'x7': .* finite, and their squares too"):
        metric.sq_distances(table(), X)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_values_whose_squares_vanish_are_refused(metric):
    with pytest.raises(ValueError, match=r"X holds nothing larger than 9.95e-201"):
        metric.sq_distances(table() * 1e-200)


@pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS)
def test_other_columns_are_refused(metric):
    with pytest.raises(ValueError, match=r"X must have 30 features, got shape \(20, 29\) instead"):
        metric.sq_distances(table()[:, 1:])


def test_metrics_that_need_dense_rows_refuse_sparse_ones():
    local = LocalMetric(table().toarray(), weights=np.ones((20, D)))
    for metric in (local, MinkowskiMetric(np.ones(D), p=3)):
        with pytest.raises(TypeError, match=r"dense data is required. Use '.toarray\(\)'"):
            metric.sq_distances(table())
