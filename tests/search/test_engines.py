import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.neighbours import all_sq_distances
from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.search.engines import (
    FARTHEST_FACTOR,
    Everything,
    Products,
    Tree,
    any_within,
    finish_lists,
    list_length,
    replace_root,
    scan_scores,
)

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


def test_a_heap_keeps_its_largest_entry_on_top():
    rng = np.random.default_rng(0)
    heap = np.full(7, np.inf, dtype=np.float32)
    values = rng.random(50).astype(np.float32)
    for value in values:
        if value < heap[0]:
            replace_root(heap, value)
        assert heap[0] == heap.max()
    assert_array_equal(np.sort(heap), np.sort(values)[:7])


def test_some_score_is_within_a_limit():
    scores, shifts = np.array([3.0, 5.0]), np.array([1.0, -2.0])
    assert any_within(scores, shifts, 3.0)
    assert not any_within(scores, shifts, 2.9)


def listed(scores, slack, relative, k, excluded, width, part):
    """The lists of all columns, seen ``part`` at a time."""
    uppers = np.full((len(scores), k), np.inf, dtype=np.float32)
    found, lowers = np.full((len(scores), width), -1), np.empty((len(scores), width), dtype=np.float32)
    counts = np.zeros(len(scores), dtype=np.intp)
    for first in range(0, scores.shape[1], part):
        these = np.ascontiguousarray(scores[:, first : first + part])
        scan_scores(these, slack[first : first + part], first, relative, excluded, uppers, found, lowers, counts)
    finish_lists(relative, uppers, found, lowers, counts)
    return found, counts


@pytest.mark.parametrize(("columns", "part"), [(10, 10), (10, 3), (600, 600), (600, 7), (3000, 512)])
def test_candidates_are_those_whose_lower_bound_is_below_the_kth_upper_bound(columns, part):
    rng = np.random.default_rng(columns)
    scores = rng.random((5, columns)).astype(np.float32)
    slack = (10 / columns * 0.01 * rng.random(columns)).astype(np.float32)
    excluded = np.array([-1, 0, 1, 2, int(scores[4].argmin())])
    relative, k = 1e-3, 3
    found, counts = listed(scores, slack, relative, k, excluded, 20, part)
    for row in range(5):
        others = np.delete(np.arange(columns), excluded[row] if excluded[row] >= 0 else [])
        upper = (scores[row] + slack)[others] / (1 - relative)
        lower = (scores[row] - slack)[others] / (1 + relative)
        assert_array_equal(found[row, : counts[row]], others[lower <= np.sort(upper)[k - 1]])


@pytest.mark.parametrize("part", [9, 4, 1])
def test_more_candidates_than_fit_are_counted_as_one_too_many(part):
    zeros = np.zeros((1, 9), dtype=np.float32)
    _, counts = listed(zeros, zeros[0], 0.0, 1, np.array([-1]), 2, part)
    assert counts[0] == 3


def test_a_full_list_makes_room_when_nearer_columns_come():
    falling = np.arange(50, 0, -1, dtype=np.float32)[None]
    found, counts = listed(falling, np.zeros(50, dtype=np.float32), 0.0, 2, np.array([-1]), 4, 5)
    assert_array_equal(found[0, : counts[0]], [48, 49])
