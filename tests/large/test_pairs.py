import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from whynear.large.blocks import RemotePairs
from whynear.learn.lmnn.large_margin import PairSearch
from whynear.learn.lmnn.objective import Margins

RNG = np.random.default_rng(0)
CODES = np.sort(RNG.integers(0, 3, 700))
X = RNG.standard_normal((700, 4)) + CODES[:, None]


def test_targets_are_those_of_a_search_of_all_rows():
    codes = np.append(CODES, 3)  # a class of one row has no targets
    rows = np.vstack([X, X[:1]])
    assert_array_equal(RemotePairs().targets(rows, codes, 5), PairSearch().targets(rows, codes, 5))


@pytest.mark.parametrize("bands", [1, 2, 5])
@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_losses_of_bands_add_up_to_that_of_all_pairs(bands, slack):
    ends = np.cumsum(np.bincount(CODES))[CODES].astype(np.int32)
    problem = Margins(X, ends, PairSearch().targets(X, CODES, 3), RNG.random(700) + 0.1)
    search, omega = RemotePairs(), RNG.standard_normal((2, 4))
    search.n_bands = bands
    found = search.loss_near(problem, omega, slack)(omega)
    expected = PairSearch().loss_near(problem, omega, slack)(omega)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-12)
