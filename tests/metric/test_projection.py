import numpy as np
import pytest
from numpy.testing import assert_allclose

from whynear.metric.projection import principal_directions


def rows(n, d, rank, offset=0.0):
    rng = np.random.default_rng(n + d)
    return offset + rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))


@pytest.mark.parametrize(("n", "d", "rank"), [(40, 6, 3), (6, 40, 4), (30, 5, 5)])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_directions_are_the_eigenvectors_of_the_scatter_matrix(n, d, rank, offset):
    X = rows(n, d, rank, offset)
    found = principal_directions(X)
    assert found.rank == found.effective_dim == rank
    assert_allclose(found.vectors.T @ found.vectors, np.eye(rank), atol=1e-9)
    centred = X - X.mean(axis=0)
    assert_allclose(centred.T @ centred @ found.vectors, found.vectors * found.singular_values**2, atol=1e-5)
    assert (np.diff(found.singular_values) <= 0).all()
    assert_allclose(found.project(centred), centred, atol=1e-7)


def test_projection_keeps_the_first_directions():
    X = rows(40, 6, 4)
    found = principal_directions(X, effective_dim=2)
    assert found.kept.shape == (6, 2)
    psi = found.kept @ found.kept.T
    assert_allclose(found.project(X), X @ psi)
    assert_allclose(found.project(found.project(X)), found.project(X))


@pytest.mark.parametrize("k", [0, 5])
def test_more_directions_than_the_data_have_are_refused(k):
    with pytest.raises(ValueError, match=rf"effective_dim={k} .*Use 1 <= effective_dim <= 4"):
        principal_directions(rows(40, 6, 4), effective_dim=k)


def test_equal_rows_have_no_direction():
    assert principal_directions(np.ones((5, 3))).rank == 0


def test_a_row_of_weight_two_counts_as_two():
    X, counts = rows(12, 4, 3) + 5.0, np.arange(12) % 3 + 1
    weighted, copied = principal_directions(X, weights=counts), principal_directions(np.repeat(X, counts, axis=0))
    assert_allclose(weighted.singular_values, copied.singular_values)
    assert_allclose(np.abs((weighted.vectors * copied.vectors).sum(axis=0)), 1.0)
