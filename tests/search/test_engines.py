import numpy as np
import pytest

from tests.helpers.neighbours import all_sq_distances
from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.search.engines import Everything, Products, Tree, list_length
from whynear.search.products import FARTHEST_FACTOR

RNG = np.random.default_rng(0)
CASES = RNG.standard_normal((200, 4)).round(1)
QUERIES = np.vstack([RNG.standard_normal((20, 4)), CASES[:5]])
METRICS = {
    "linear": LinearMetric(RNG.standard_normal((3, 4))),
    "diagonal": DiagonalMetric(RNG.random(4)),
    "local": LocalMetric(CASES, weights=RNG.random((200, 4))),
}
NONE = np.full(len(QUERIES), -1)


@pytest.mark.parametrize("skipped", [NONE, np.arange(len(QUERIES))], ids=["all", "one left out"])
@pytest.mark.parametrize(
    ("engine", "kind"),
    [(Tree, "linear"), (Tree, "diagonal"), (Products, "linear"), (Products, "diagonal"), (Products, "local")],
)
def test_the_nearest_cases_are_always_among_the_candidates(engine, kind, skipped):
    metric, k = METRICS[kind], 3
    found, counts = engine(metric, CASES, 1).candidates(QUERIES, k, skipped)
    sq = all_sq_distances(metric, QUERIES, CASES)
    sq[skipped >= 0, skipped[skipped >= 0]] = np.inf
    assert found.shape == (len(QUERIES), list_length(k))
    for row, listed, count in zip(sq, found, counts, strict=True):
        assert k <= count <= list_length(k)
        assert set(np.flatnonzero(row < np.sort(row)[k - 1])) <= set(listed[:count])


def test_ties_that_do_not_fit_a_list_are_known_by_the_count():
    copies = np.zeros((500, 2))
    for engine in (Tree, Products):
        _, counts = engine(DiagonalMetric([1.0, 1.0]), copies, 1).candidates(np.zeros((1, 2)), 1, NONE[:1])
        assert counts[0] > list_length(1)


def test_queries_too_far_away_for_the_bound_have_no_list():
    far = np.array([[10 * FARTHEST_FACTOR, 0, 0, 0], [0, 0, 0, 0]])
    _, counts = Products(METRICS["diagonal"], CASES, 1).candidates(far, 3, NONE[:2])
    assert counts[0] == -1
    assert counts[1] >= 3


def test_without_an_engine_no_query_has_a_list():
    engine = Everything(200)
    assert engine.row_bytes(3) == 1600
    assert engine.candidates(QUERIES, 3, NONE)[1].tolist() == [-1] * len(QUERIES)
