import numpy as np
import pytest
from numpy.testing import assert_allclose

from whynear.metric import base

RNG = np.random.default_rng(0)
X, CASES = RNG.standard_normal((4, 3)), RNG.standard_normal((5, 3))
DIFFERENCES = X[:, None] - CASES[None]
MAPS = {"diagonal": RNG.random((5, 3)), "full": RNG.standard_normal((5, 2, 3))}


def expected(maps):
    """Squared distances from each row to each case, each under the map of the case, or all under a single one."""
    maps = np.broadcast_to(maps, (5, *maps.shape[1:]))
    if maps.ndim == 2:
        return (maps * DIFFERENCES**2).sum(axis=2)
    return (np.einsum("icd,nid->nic", maps, DIFFERENCES) ** 2).sum(axis=2)


@pytest.mark.parametrize("kind", MAPS)
def test_all_distances_are_those_of_numpy(kind):
    out = np.empty((4, 5))
    kernel = base.diagonal_sq_distances if kind == "diagonal" else base.full_sq_distances
    kernel(X, CASES, MAPS[kind], out)
    assert_allclose(out, expected(MAPS[kind]))


@pytest.mark.parametrize("n_maps", [1, 5])
@pytest.mark.parametrize("kind", MAPS)
def test_listed_distances_are_those_of_numpy_under_one_map_or_one_per_case(kind, n_maps):
    maps = MAPS[kind][:n_maps]
    indices = np.array([[0, 4], [2, 2], [3, 1], [4, 0]])
    out = np.empty((4, 2))
    base.listed_sq_distances(X, CASES, maps, indices, out)
    assert_allclose(out, np.take_along_axis(expected(maps), indices, axis=1))
