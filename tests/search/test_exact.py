import subprocess
import sys
import textwrap

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.helpers.neighbours import all_sq_distances
from tests.helpers.strategies import cases, global_metrics, local_metrics
from whynear import DiagonalMetric, LinearMetric, LocalMetric, NeighborSearch
from whynear.search.engines import Everything, Products, Tree


def assert_same_neighbours(metric, X, Y, k, search, exclude=None):
    """The distances are the k smallest, and the numbers belong to cases at these distances, each named once."""
    sq, indices = search.nearest(X, k, exclude=exclude)
    every = all_sq_distances(metric, X, Y)
    if exclude is not None:
        every[np.arange(len(X)), exclude] = np.inf
    tolerance = {"rtol": 1e-9, "atol": 1e-300}
    assert_allclose(sq, np.sort(every, axis=1)[:, :k], **tolerance)
    assert_allclose(np.take_along_axis(every, indices, axis=1), sq, **tolerance)
    assert all(len(set(row)) == k for row in indices)
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


@pytest.mark.slow
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
        assert_array_equal(indices, np.argsort(all_sq_distances(metric, X, Y), axis=1, kind="stable")[:, :5])


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


@pytest.mark.parametrize("d", [2, 8, 60])
def test_copies_tie_exactly_under_any_weights(d):
    rng = np.random.default_rng(17)
    for _ in range(10):
        Y = np.repeat(rng.standard_normal((5, d)), 7, axis=0)
        metrics = (
            DiagonalMetric(rng.random(d)),
            LinearMetric(rng.standard_normal((2, d))),
            LinearMetric(rng.standard_normal((d, d))),
            LocalMetric(Y, np.tile(rng.random(d), (len(Y), 1))),
        )
        for metric in metrics:
            for search in engines(metric, Y):
                sq, indices = search.nearest(rng.standard_normal((4, d)), 14)
                assert_array_equal(sq[:, :7], np.repeat(sq[:, :1], 7, axis=1))
                assert_array_equal(np.diff(indices[:, :7], axis=1), 1)


@pytest.mark.parametrize("spread", [1e-5, 1e-3])
@pytest.mark.parametrize("d", [1, 2, 9])
def test_small_clusters_very_far_apart_keep_their_neighbours(d, spread):
    rng = np.random.default_rng(18)
    Y = rng.standard_normal((200, d)) * spread
    Y[100:] += 1e8
    for metric in (LinearMetric(np.eye(d)), DiagonalMetric(np.ones(d)), LocalMetric(Y, rng.random(Y.shape))):
        for search in engines(metric, Y):
            assert_same_neighbours(metric, Y[::20], Y, 5, search)


def test_weights_over_many_orders_of_magnitude():
    rng = np.random.default_rng(19)
    for _ in range(20):
        Y = rng.standard_normal((30, 4))
        metric = LocalMetric(Y, 10 ** rng.uniform(-40, 0, Y.shape))
        for search in engines(metric, Y):
            assert_same_neighbours(
                metric, rng.standard_normal((5, 4)) * 10 ** rng.uniform(-3, 12, (5, 1)), Y, 3, search
            )


def test_more_ties_than_a_list_holds_are_measured_one_by_one():
    grid = np.array(np.meshgrid(*[[0.0, 1.0]] * 9)).reshape(9, -1).T
    for metric in (LinearMetric(np.eye(9)), LocalMetric(grid, np.ones_like(grid))):
        for search in engines(metric, grid):
            indices = assert_same_neighbours(metric, grid[:4] + 0.5, grid, 3, search)
            assert_array_equal(indices, np.argsort(all_sq_distances(metric, grid[:4] + 0.5, grid), 1, "stable")[:, :3])


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_extreme_scales_are_searched_and_what_cannot_be_squared_is_refused(scale):
    rng = np.random.default_rng(20)
    Y = rng.standard_normal((20, 3)) * scale
    for metric in (
        DiagonalMetric(np.ones(3)),
        LinearMetric(rng.standard_normal((9, 3))),
        LocalMetric(Y, np.ones((20, 3))),
    ):
        for search in engines(metric, Y):
            assert_same_neighbours(metric, Y[:4], Y, 3, search)
    for make in (lambda: DiagonalMetric(np.full(3, scale**2)), lambda: LinearMetric(np.full((9, 3), scale))):
        with pytest.raises(ValueError, match=r"Squared distances (overflow|vanish)"):
            NeighborSearch(make(), Y)
    with pytest.raises(ValueError, match=r"Squared distances (overflow|vanish)"):
        NeighborSearch(LocalMetric(Y, np.full((20, 3), scale**2))).nearest(Y, 1)


def test_the_search_keeps_its_own_copy_of_the_cases():
    Y = np.eye(3)
    search = NeighborSearch(DiagonalMetric(np.ones(3)), Y)
    Y += 100
    assert search.nearest([[0.0, 1.0, 0.0]], 1)[1] == 1


def test_a_learner_or_pipeline_can_be_searched_with():
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipeline = make_pipeline(StandardScaler(), PCA(2)).fit(X, y)
    expected = NearestNeighbors(n_neighbors=3).fit(pipeline.transform(X)).kneighbors(pipeline.transform(X[:9]))[0]
    assert_allclose(NeighborSearch(pipeline, X).nearest(X[:9], 3)[0], expected**2, atol=1e-12)


@pytest.mark.parametrize("exclude", [[5], [-2], [1.5], [True], ["0"]])
def test_what_is_excluded_must_be_a_case(exclude):
    with pytest.raises(ValueError, match="exclude must hold"):
        NeighborSearch(DiagonalMetric([1.0]), np.arange(5.0)[:, None]).nearest([[0.0]], 1, exclude=exclude)


def test_excluding_nothing_leaves_all_cases_and_k_must_be_a_number():
    search = NeighborSearch(DiagonalMetric([1.0]), np.arange(5.0)[:, None])
    assert search.nearest([[0.0]], 5, exclude=[-1])[1].tolist() == [[0, 1, 2, 3, 4]]
    for k in (2.0, True, "3", 0, -1):
        with pytest.raises(TypeError, match="k must be an integer >= 1"):
            search.nearest([[0.0]], k)
    with pytest.raises(ValueError, match="at least one row"):
        NeighborSearch(DiagonalMetric([1.0]), np.empty((0, 1)))


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


def test_more_neighbours_than_cases_are_refused():
    search = NeighborSearch(DiagonalMetric([1.0]), np.arange(5.0)[:, None])
    with pytest.raises(ValueError, match="k=6 is more than the 5 cases"):
        search.nearest([[0.0]], 6)
    with pytest.raises(ValueError, match=r"less the excluded one.*<= 4"):
        search.nearest([[0.0]], 5, exclude=[0])


def test_what_to_search_among_must_be_plain():
    with pytest.raises(ValueError, match="Y is missing"):
        NeighborSearch(DiagonalMetric([1.0]))
    local = LocalMetric([[0.0]], [[1.0]])
    with pytest.raises(ValueError, match="its anchors only"):
        NeighborSearch(local, [[1.0]])
    assert NeighborSearch(local, [[0.0]]).nearest([[3.0]], 1)[0] == 9
    with pytest.raises(ValueError, match="one case number for each of the 1 queries"):
        NeighborSearch(local).nearest([[3.0]], 1, exclude=[0, 1])


def test_an_empty_set_of_queries_has_no_neighbours():
    for d in (2, 12):
        sq, indices = NeighborSearch(DiagonalMetric(np.ones(d)), np.eye(d)).nearest(np.empty((0, d)), 2)
        assert sq.shape == indices.shape == (0, 2)


@pytest.mark.slow
def test_memory_stays_within_blocks():
    """200,000 x 16 anchors with 1,000 queries: the full table of distances alone would take 1.6 GB."""
    script = """
        import numpy as np
        from tests.helpers.memory import peak_bytes
        from whynear import LocalMetric, NeighborSearch
        rng = np.random.default_rng(0)
        metric = LocalMetric(rng.standard_normal((200_000, 16)), rng.exponential(size=(200_000, 16)))
        NeighborSearch(metric).nearest(rng.standard_normal((1_000, 16)), 5)
        print(peak_bytes())
    """
    run = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 1 << 30
