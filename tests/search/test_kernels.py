import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear.search.kernels import any_within, replace_root, select_candidates


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


@pytest.mark.parametrize("columns", [10, 600])
def test_candidates_are_those_whose_lower_bound_is_below_the_kth_upper_bound(columns):
    rng = np.random.default_rng(columns)
    scores = rng.random((5, columns)).astype(np.float32)
    slack = (0.01 * rng.random(columns)).astype(np.float32)
    excluded = np.array([-1, 0, 1, 2, int(scores[4].argmin())])
    relative, k = 1e-3, 3
    found, counts = np.full((5, columns), -1), np.empty(5, dtype=np.intp)
    select_candidates(scores, slack, relative, k, excluded, found, counts)
    for row in range(5):
        others = np.delete(np.arange(columns), excluded[row] if excluded[row] >= 0 else [])
        upper = (scores[row] + slack)[others] / (1 - relative)
        lower = (scores[row] - slack)[others] / (1 + relative)
        assert_array_equal(found[row, : counts[row]], others[lower <= np.sort(upper)[k - 1]])


def test_candidates_that_do_not_fit_are_counted():
    found, counts = np.full((1, 2), -1), np.empty(1, dtype=np.intp)
    zeros = np.zeros((1, 9), dtype=np.float32)
    select_candidates(zeros, zeros[0], 0.0, 1, np.array([-1]), found, counts)
    assert counts[0] == 9
    assert_array_equal(found, [[0, 1]])
