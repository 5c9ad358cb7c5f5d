import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.lvq import blocks_of
from whynear.learn.blocks import class_squares, class_sums, held_cases, joined_triangles, parts_of, summed, triangle


def rows(n=50, d=4):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d)), rng.integers(0, 3, n), rng.random(n)


@pytest.fixture(params=[None, 7], ids=["at once", "in parts"])
def part_rows(request, monkeypatch):
    if request.param:
        monkeypatch.setattr("whynear.learn.blocks.PART_BYTES", 8 * 4 * request.param)
    return request.param


def test_parts_are_all_cases_in_order(part_rows):
    X, codes, _ = rows()
    parts = list(parts_of(blocks_of(X, codes, n_classes=3).cases, 4))
    assert len(parts) == (8 if part_rows else 1)
    assert_array_equal(np.concatenate([part.X for part in parts]), X)
    assert len(next(parts_of(blocks_of(X).cases, 4, least=50)).X) == 50


def test_sums_of_classes_are_those_of_their_rows(part_rows):
    X, codes, weights = rows()
    (found,) = blocks_of(X, codes, weights, 3).map(class_sums, 3, 4)
    shares = weights / weights.sum()
    assert_allclose(found[0], [shares[codes == c].sum() for c in range(3)])
    assert_allclose(found[1], [shares[codes == c] @ X[codes == c] for c in range(3)], atol=1e-12)
    (squares,) = blocks_of(X, codes, weights, 3).map(class_squares, np.ones((3, 4)))
    assert_allclose(squares, [shares[codes == c] @ np.square(X[codes == c] - 1) for c in range(3)])


def test_triangles_below_each_other_have_the_scatter_of_all_rows(part_rows):
    X, codes, weights = rows()
    blocks, centre, shares = blocks_of(X, codes, weights, 3), X.mean(axis=0), weights / weights.sum()
    found = joined_triangles(
        [triangle(blocks.cases.some(slice(*ends)), centre) for ends in ((0, 3), (3, 50), (50, 50))]
    )
    assert found.shape == (4, 4)
    assert_allclose(found.T @ found, (X - centre).T @ (shares[:, None] * (X - centre)))


def test_few_rows_are_their_own_triangle():
    X, _, _ = rows(n=3)
    assert_allclose(triangle(blocks_of(X).cases, np.zeros(4)), X / np.sqrt(3))


def test_moved_blocks_keep_all_but_the_rows():
    X, codes, weights = rows()
    blocks = blocks_of(X, codes, weights, 3)
    moved = blocks.moved(lambda X: X[:, :2] + 1, 2)
    assert_array_equal(moved.map(held_cases)[0].X, X[:, :2] + 1)
    assert (moved.n_features, blocks.n_features) == (2, 4)
    assert_array_equal(moved.class_rows, np.bincount(codes))
    assert moved.total_weight == pytest.approx(weights.sum())


def test_samples_are_the_first_rows_of_every_class():
    X, codes, _ = rows()
    found = blocks_of(X, codes, n_classes=3).samples(4)
    assert np.bincount(found.codes).tolist() == [4, 4, 4]
    for code in range(3):
        assert_array_equal(found.X[found.codes == code], X[codes == code][:4])


def test_columns_vary_or_all_count():
    X, _, _ = rows()
    X[:, 1] = 3.0
    assert blocks_of(X).varying.tolist() == [True, False, True, True]
    assert blocks_of(np.ones((4, 2))).varying.all()


def test_sums_go_from_the_first_block_to_the_last():
    assert summed([1e16, 1.0, -1e16]) == 0.0
    assert summed([1e16, -1e16, 1.0]) == 1.0
