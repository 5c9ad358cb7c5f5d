import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear.large.local_metrics import BORDER_SHARE, cut_space, members

X = np.random.default_rng(0).standard_normal((4000, 3)) * [1.0, 5.0, 2.0]


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_every_row_is_in_one_region_and_regions_are_alike_in_size(depth):
    found = members(cut_space(X, depth), X)
    own = [rows[mine] for rows, mine in found]
    assert_array_equal(np.sort(np.concatenate(own)), np.arange(4000))
    assert {len(rows) for rows in own} == {4000 >> depth}


def test_borders_are_the_rows_nearest_to_a_cut():
    cut = cut_space(X, 1)
    assert cut.column == 1
    for rows, own in members(cut, X):
        border = X[rows[~own], 1]
        assert len(border) == pytest.approx(BORDER_SHARE / 2 * 4000, abs=2)
        others = np.setdiff1d(np.arange(4000), rows)
        assert np.abs(border - cut.value).max() <= np.abs(X[others, 1] - cut.value).min()


def test_rows_of_which_no_two_differ_are_not_cut():
    assert cut_space(np.ones((10, 2)), 3) is None
    half = np.vstack([np.ones((10, 1)), 1 + X[:10, :1] ** 2])
    cut = cut_space(half, 3)
    assert cut is None or cut.n_regions < 8
    found = members(cut, half)
    assert sum(own.sum() for _, own in found) == 20
