import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.metric.strategies import cases, global_metrics, local_metrics
from whynear import DiagonalMetric, LinearMetric, LocalMetric, NeighborSearch
from whynear.metric.engines import Everything, Products, Tree


def double_loop(metric, X, Y, k, exclude=None):
    """Every distance by its definition, sorted by distance and number."""
    sq = np.empty((len(X), len(Y)))
    for n, x in enumerate(X):
        for i, y in enumerate(Y):
            one = metric[i] if isinstance(metric, LocalMetric) else metric
            difference = x - y
            mapped = one.omega @ difference if isinstance(one, LinearMetric) else np.sqrt(one.weights) * difference
            sq[n, i] = mapped @ mapped
    if exclude is not None:
        sq[np.arange(len(X)), exclude] = np.inf
    order = np.argsort(sq, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(sq, order, axis=1), order


def assert_same_neighbours(metric, X, Y, k, search, exclude=None):
    sq, indices = search.nearest(X, k, exclude=exclude)
    expected, order = double_loop(metric, X, Y, k, exclude)
    assert_allclose(sq, expected, rtol=1e-9, atol=1e-20 + 1e-12 * expected.max())
    # Numbers may differ only where rounding cannot tell the distances apart.
    apart = indices != order
    assert_allclose(sq[apart], expected[apart], rtol=1e-9, atol=1e-20 + 1e-12 * expected.max())
    return indices


def engines(metric, Y):
    """The search as chosen, and with each other engine that serves the metric."""
    given_cases = None if isinstance(metric, LocalMetric) else Y
    searches = [NeighborSearch(metric, given_cases) for _ in range(3)]
    searches[1]._engine = Everything(len(Y))
    if isinstance(metric, LocalMetric):
        searches[2]._engine = Products(metric, Y, 1) if metric.weights is not None else searches[2]._engine
        return searches
    searches[2]._engine = Products(metric, Y, 1)
    searches.append(NeighborSearch(metric, Y))
    searches[3]._engine = Tree(metric, Y, 1)
    return searches


@given(st.data())
def test_neighbours_are_those_of_a_double_loop(data):
    d = data.draw(st.integers(1, 5))
    metric = data.draw(global_metrics(st.just(d)) | local_metrics(st.just(d)))
    Y = metric.anchors if isinstance(metric, LocalMetric) else data.draw(cases(d, st.integers(1, 30)))
    X = np.vstack([data.draw(cases(d)), Y[:3]])
    k = data.draw(st.integers(1, min(len(Y), 7)))
    for search in engines(metric, Y):
        assert_same_neighbours(metric, X, Y, k, search)


@given(st.data())
def test_a_case_is_not_its_own_neighbour_when_excluded(data):
    d = data.draw(st.integers(1, 4))
    metric = data.draw(global_metrics(st.just(d)) | local_metrics(st.just(d)))
    Y = metric.anchors if isinstance(metric, LocalMetric) else data.draw(cases(d, st.integers(2, 20)))
    if len(Y) < 2:
        return
    own = np.arange(len(Y))
    for search in engines(metric, Y):
        indices = assert_same_neighbours(metric, Y, Y, min(3, len(Y) - 1), search, exclude=own)
        assert (indices != own[:, None]).all()


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
@pytest.mark.parametrize("kind", ["linear", "diagonal", "local", "local full"])
def test_neighbours_are_exact_under_offsets_of_a_thousand_deviations(offset, kind):
    rng = np.random.default_rng(9)
    Y = offset + rng.standard_normal((400, 12))
    X = offset + rng.standard_normal((30, 12))
    metric = {
        "linear": LinearMetric(rng.standard_normal((12, 12))),
        "diagonal": DiagonalMetric(rng.exponential(size=12)),
        "local": LocalMetric(Y, weights=rng.exponential(size=Y.shape) ** 4),
        "local full": LocalMetric(Y, omegas=rng.standard_normal((400, 3, 12))),
    }[kind]
    for search in engines(metric, Y):
        indices = assert_same_neighbours(metric, X, Y, 5, search)
        assert_array_equal(indices, double_loop(metric, X, Y, 5)[1])


def test_two_far_clusters_defeat_float32_but_not_the_search():
    rng = np.random.default_rng(10)
    Y = rng.standard_normal((300, 10)) * 1e-3
    Y[150:] += 1e6
    for metric in (LinearMetric(np.eye(10)), LocalMetric(Y, weights=rng.exponential(size=Y.shape))):
        for search in engines(metric, Y):
            assert_same_neighbours(metric, Y[::10], Y, 4, search)


def test_ties_go_to_the_lower_number_and_all_copies_are_at_zero():
    Y = np.repeat(np.arange(50.0)[:, None], 20, axis=1)[np.arange(500) % 50]
    for metric in (LinearMetric(np.eye(20)), LinearMetric(np.ones((1, 20))), LocalMetric(Y, np.ones_like(Y))):
        for search in engines(metric, Y):
            sq, indices = search.nearest(Y[:50], 3)
            assert_array_equal(sq, 0)
            assert_array_equal(indices, np.arange(50)[:, None] + [0, 50, 100])


def test_far_queries_and_degenerate_cases():
    rng = np.random.default_rng(11)
    Y = rng.standard_normal((40, 9))
    for metric in (DiagonalMetric(np.ones(9)), LocalMetric(Y, np.ones_like(Y)), DiagonalMetric(np.zeros(9))):
        for search in engines(metric, Y):
            assert_same_neighbours(metric, 1e25 * rng.standard_normal((3, 9)), Y, 2, search)
    alike = np.ones((8, 9))
    for metric in (DiagonalMetric(np.ones(9)), LocalMetric(alike, np.ones_like(alike))):
        for search in engines(metric, alike):
            assert_array_equal(search.nearest(alike, 3)[1], np.tile([0, 1, 2], (8, 1)))


@pytest.mark.parametrize("k", [0, 6, -1])
def test_more_neighbours_than_cases_are_refused(k):
    search = NeighborSearch(DiagonalMetric([1.0]), np.arange(5.0)[:, None])
    with pytest.raises(ValueError, match=f"k={k} neighbours cannot be had from 5 cases"):
        search.nearest([[0.0]], k)
    with pytest.raises(ValueError, match=r"less the excluded one.*<= 4"):
        search.nearest([[0.0]], 5, exclude=[0])


def test_what_to_search_among_must_be_plain():
    with pytest.raises(ValueError, match="Y is missing"):
        NeighborSearch(DiagonalMetric([1.0]))
    local = LocalMetric([[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="its own anchors only"):
        NeighborSearch(local, [[1.0]])
    assert NeighborSearch(local, [[0.0]]).nearest([[3.0]], 1)[0] == 9
    with pytest.raises(ValueError, match="one number for each of the 1 queries"):
        NeighborSearch(local).nearest([[3.0]], 1, exclude=[0, 1])


def test_an_empty_set_of_queries_has_no_neighbours():
    for d in (2, 12):
        sq, indices = NeighborSearch(DiagonalMetric(np.ones(d)), np.eye(d)).nearest(np.empty((0, d)), 2)
        assert sq.shape == indices.shape == (0, 2)


def test_memory_stays_within_blocks():
    """200,000 x 16 anchors with 1,000 queries: the full table of distances alone would take 1.6 GB."""
    script = """
        import numpy as np, resource
        from whynear import LocalMetric, NeighborSearch
        rng = np.random.default_rng(0)
        metric = LocalMetric(rng.standard_normal((200_000, 16)), rng.exponential(size=(200_000, 16)))
        NeighborSearch(metric).nearest(rng.standard_normal((1_000, 16)), 5)
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 1 << 30
