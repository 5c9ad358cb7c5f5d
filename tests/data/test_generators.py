"""What all generators of data have in common."""

import numpy as np
import pytest
from pandas.testing import assert_frame_equal

from whynear.datasets import make_casebase, make_licorice, make_relevance, make_xor

GENERATORS = [make_xor, make_licorice, make_relevance, make_casebase]


@pytest.mark.parametrize("make", GENERATORS)
def test_the_same_seed_gives_the_same_data_and_another_seed_other_data(make):
    assert_frame_equal(make(60, random_state=3).X, make(60, random_state=3).X)
    assert_frame_equal(make(60, random_state=3).X, make(60, random_state=np.random.default_rng(3)).X)
    assert not make(60, random_state=3).X.equals(make(60, random_state=4).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_every_kind_of_random_state_is_taken(make):
    twice = [make(60, random_state=np.random.RandomState(1)).X for _ in range(2)]
    assert_frame_equal(*twice)
    assert not make(60).X.equals(make(60).X)
    rng = np.random.default_rng(0)
    assert not make(60, random_state=rng).X.equals(make(60, random_state=rng).X)


@pytest.mark.parametrize("make", GENERATORS)
def test_names_and_shapes_agree(make):
    data = make(60, random_state=0)
    assert data.X.shape == (60, len(data.feature_names))
    assert list(data.X.columns) == data.feature_names
    assert data.y.shape == (60,)
    assert data.y.dtype == np.int64
    assert data.y.max() < len(data.target_names)
    assert np.isfinite(data.X.to_numpy()).all()


@pytest.mark.parametrize("make", GENERATORS)
@pytest.mark.parametrize("n", [0, 1, -5, 10.0, "10", None, True])
def test_numbers_of_rows_that_cannot_be_are_refused(make, n):
    with pytest.raises(ValueError, match=r"n_\w+ must be an integer >= \d+"):
        make(n)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, "much", None])
@pytest.mark.parametrize("make", [make_xor, make_relevance])
def test_noise_must_be_an_amount(make, noise):
    with pytest.raises(ValueError, match="noise must be a finite number >= 0"):
        make(noise=noise)
