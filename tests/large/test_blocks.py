import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.partitions import in_partitions
from whynear.large.block_fits import RemoteBlocks, RemotePairs
from whynear.large.partitions import read_table
from whynear.learn.blocks import HeldBlocks, class_sums, held_cases
from whynear.learn.inputs import fit_inputs, weighed
from whynear.learn.lmnn.large_margin import PairSearch
from whynear.learn.lmnn.objective import Margins

N = 400
RNG = np.random.default_rng(0)
X = np.round(RNG.standard_normal((N, 2)), 1)  # with copies, in other partitions too
Y = np.where(np.arange(N) < 300, "u", np.where(np.arange(N) < 380, "v", "w"))


def remote(X=X, y=Y, class_weight=None):
    pairs = list(zip(in_partitions(X), in_partitions(y), strict=True))
    return RemoteBlocks.of(wn.GRLVQ(), read_table(wn.GRLVQ(), pairs, classes=True), class_weight)


def held(class_weight=None):
    return HeldBlocks.of(weighed(fit_inputs(wn.GRLVQ(), X, Y), class_weight).distinct())


@pytest.mark.parametrize("class_weight", [None, "balanced", {"u": 3.0}])
@pytest.mark.parametrize("keys_at_once", [50, 10**6])
def test_blocks_elsewhere_are_those_of_different_rows_here(class_weight, keys_at_once, monkeypatch):
    monkeypatch.setattr("whynear.large.block_fits.KEYS_AT_ONCE", keys_at_once)
    one, other = remote(class_weight=class_weight), held(class_weight)
    assert_array_equal(one.classes, other.classes)
    assert_array_equal(one.class_rows, other.class_rows)
    assert_array_equal(one.input_range, other.input_range)
    assert one.total_weight == pytest.approx(other.total_weight)
    for found, expected in zip(
        map(sum, zip(*one.map(class_sums, 3, 2), strict=True)), other.map(class_sums, 3, 2)[0], strict=True
    ):
        assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize("most", [5, 40, 1000])
def test_samples_are_the_same_rows_in_the_same_order(most):
    one, other = remote().moved(np.negative, 2).samples(most), held().moved(np.negative, 2).samples(most)
    assert_array_equal(one.X, other.X)
    assert_array_equal(one.codes, other.codes)
    assert_allclose(one.weights, other.weights)


def test_rows_are_moved_when_they_are_read():
    moved = remote().moved(np.square, 2).moved(lambda rows: rows[:, :1], 1)
    assert moved.n_features == 1
    assert_array_equal(np.concatenate([cases.X for cases in moved.map(held_cases)]), np.square(X[:, :1]))


def test_a_single_class_and_constant_columns_are_named():
    with pytest.raises(ValueError, match="y holds the single class 'u', and GRLVQ needs at least two"):
        remote(X[:300], Y[:300])
    with pytest.warns(UserWarning, match=r"the same value in every row of 1 column, .*: x1"):
        remote(np.column_stack([X[:, 0], np.ones(N)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        remote()


CODES = np.sort(RNG.integers(0, 3, 700))
X_OF_PAIRS = RNG.standard_normal((700, 4)) + CODES[:, None]


def test_targets_are_those_of_a_search_of_all_rows():
    codes = np.append(CODES, 3)  # a class of one row has no targets
    rows = np.vstack([X_OF_PAIRS, X_OF_PAIRS[:1]])
    assert_array_equal(RemotePairs().targets(rows, codes, 5), PairSearch().targets(rows, codes, 5))


@pytest.mark.parametrize("bands", [1, 2, 5])
@pytest.mark.parametrize("slack", [0.0, 0.5])
def test_losses_of_bands_add_up_to_that_of_all_pairs(bands, slack):
    ends = np.cumsum(np.bincount(CODES))[CODES].astype(np.int32)
    problem = Margins(X_OF_PAIRS, ends, PairSearch().targets(X_OF_PAIRS, CODES, 3), RNG.random(700) + 0.1)
    search, omega = RemotePairs(), RNG.standard_normal((2, 4))
    search.n_bands = bands
    found = search.loss_near(problem, omega, slack)(omega)
    expected = PairSearch().loss_near(problem, omega, slack)(omega)
    assert_allclose(found[0], expected[0], rtol=1e-12)
    assert_allclose(found[1], expected[1], rtol=1e-10, atol=1e-12)
