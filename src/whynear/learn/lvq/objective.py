r"""The cost of generalized learning vector quantization under global and local, full and diagonal metrics.

With d+ the squared distance of a case to the nearest prototype of its own class and d- that to the nearest of another,

.. math:: E = \sum_i u_i f(\mu_i), \qquad \mu_i = \frac{d_i^+ - d_i^-}{d_i^+ + d_i^-} \in [-1, 1],

where the weights u of the cases sum to one (Sato & Yamada 1996; matrices: Schneider, Biehl & Hammer 2009). A map is an
array ``omega`` of shape (n_components, d), or (d,) for the diagonal one, whose squares are the weights of the features.
"""

from enum import IntEnum

import numpy as np

from whynear.learn.blocks import Block
from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit
from whynear.utils.threads import row_blocks

BLOCK_BYTES = 2 << 20  # of mapped cases at a time: they stay in the cache between the two products


class Squashing(IntEnum):
    """The function f of the relative distance; all rise, and ``SIGMOID`` counts errors as sigma grows."""

    IDENTITY = 0  # mu
    SIGMOID = 1  # 1 / (1 + exp(-sigma mu))
    SWISH = 2  # mu / (1 + exp(-sigma mu))


@njit(cache=True, nogil=True)
def squash(mu: float, squashing: int, sigma: float) -> tuple[float, float]:
    """f(mu) and its derivative."""
    if squashing == 0:
        return mu, 1.0
    s = 1.0 / (1.0 + np.exp(-sigma * mu))
    if squashing == 1:
        return s, sigma * s * (1.0 - s)
    return mu * s, s + sigma * mu * s * (1.0 - s)


@njit(cache=True, nogil=True)
def nearest_pair(distances: Array, code: int, labels: Indices) -> tuple[int, int]:
    """The nearest prototype of the case's class and the nearest of another, the first of equally near ones."""
    own, other = -1, -1
    for j in range(len(labels)):
        if labels[j] == code:
            if own < 0 or distances[j] < distances[own]:
                own = j
        elif other < 0 or distances[j] < distances[other]:
            other = j
    return own, other


@njit(cache=True, nogil=True)
def slopes(near: float, far: float, weight: float, squashing: int, sigma: float) -> tuple[float, float, float]:
    """What a case adds to the cost, and the derivatives of that by d+ and d-."""
    total = near + far
    if not total > 0.0:  # on both prototypes at once: mu is taken as zero, and nothing pulls
        return weight * squash(0.0, squashing, sigma)[0], 0.0, 0.0
    value, slope = squash((near - far) / total, squashing, sigma)
    factor = 2.0 * weight * slope / total
    return weight * value, factor * (far / total), -factor * (near / total)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pull(
    Z: Array,
    V: Array,
    scores: Array,
    codes: Indices,
    labels: Indices,
    weights: Array,
    squashing: int,
    sigma: float,
    S: Array,
) -> float:  # pragma: no cover - compiled
    """Cost of mapped cases Z and prototypes V; Z becomes what pulls at each case, and S gathers it by prototype.

    Scores are the squared distances less what is the same for all prototypes of a case.
    """
    total = 0.0
    for i in range(len(Z)):
        z = Z[i]
        own, other = nearest_pair(scores[i], codes[i], labels)
        near, far = 0.0, 0.0
        for f in range(len(z)):
            near += (z[f] - V[own, f]) ** 2
            far += (z[f] - V[other, f]) ** 2
        value, to_own, to_other = slopes(near, far, weights[i], squashing, sigma)
        total += value
        for f in range(len(z)):
            first, second = to_own * (z[f] - V[own, f]), to_other * (z[f] - V[other, f])
            S[own, f] += first
            S[other, f] += second
            z[f] = first + second
    return total


def global_loss_grad(
    omega: Array, prototypes: Array, labels: Indices, cases: Block, squashing: Squashing, sigma: float
) -> tuple[float, Array, Array]:
    r"""Cost with its gradients by a shared map and by the prototypes.

    With r_i what pulls at case i and s_j at prototype j in the mapped space, the gradients are
    :math:`2 (\sum_i r_i x_i^T - \sum_j s_j w_j^T)` and :math:`-2 s_j \Omega`: no Jacobian per case.
    Time O(n d (c + m)), memory of a block. Over several sets of cases, costs and gradients add up.
    """
    V = mapped(omega, prototypes)
    S, by_omega, total = np.zeros_like(V), np.zeros_like(omega), 0.0
    lengths = np.einsum("jl,jl->j", V, V)
    for rows in row_blocks(cases.n_rows, row_bytes=8 * (V.shape[1] + len(V)), budget=BLOCK_BYTES):
        some = cases.some(rows)
        Z = mapped(omega, some.X)
        scores = lengths - 2.0 * (Z @ V.T)
        total += pull(Z, V, scores, some.codes, labels, some.weights, squashing, sigma, S)
        by_omega += _outer(omega, Z, some.X)
    by_omega -= _outer(omega, S, prototypes)
    return total, 2.0 * by_omega, -2.0 * _back(omega, S)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def local_pull(
    Z: Array,
    codes: Indices,
    labels: Indices,
    weights: Array,
    squashing: int,
    sigma: float,
    S: Array,
    served: Indices,
    counts: Indices,
) -> float:  # pragma: no cover - compiled
    """Cost of differences Z to prototypes in the space of each: of shape (m, n, c).

    Of the cases that a prototype serves, ``counts[j]`` numbered ``served[j]``, the first rows of Z[j] become what pulls
    at them, and S[j] the sum of these.
    """
    m, n, c = Z.shape
    distances, total = np.empty(m), 0.0
    counts[:] = 0
    for i in range(n):
        for j in range(m):
            sq = 0.0
            for f in range(c):
                sq += Z[j, i, f] ** 2
            distances[j] = sq
        own, other = nearest_pair(distances, codes[i], labels)
        value, to_own, to_other = slopes(distances[own], distances[other], weights[i], squashing, sigma)
        total += value
        for j, slope in ((own, to_own), (other, to_other)):
            place = counts[j]  # at most i: what stood there has been read
            served[j, place] = i
            counts[j] += 1
            for f in range(c):
                part = slope * Z[j, i, f]
                Z[j, place, f] = part
                S[j, f] += part
    return total


def local_loss_grad(
    omegas: Array, prototypes: Array, labels: Indices, cases: Block, squashing: Squashing, sigma: float
) -> tuple[float, Array, Array]:
    r"""Cost with its gradients by the prototypes' own maps and by the prototypes.

    Each map is divided by its Frobenius norm first, so that the trace of each Lambda is one: without that, the cost
    could be lowered by the sizes of the maps alone. Time O(n m d c), memory O(n d).
    """
    m = len(omegas)
    norms = np.sqrt(np.square(omegas).reshape(m, -1).sum(axis=1)).reshape(-1, *(1,) * (omegas.ndim - 1))
    units = omegas / norms
    by_units, S, total = np.zeros_like(units), np.zeros((m, units.shape[1])), 0.0
    for rows in row_blocks(cases.n_rows, row_bytes=8 * S.size, budget=BLOCK_BYTES):
        X, codes, weights = cases.some(rows)
        Z = np.empty((m, len(X), units.shape[1]))
        for j in range(m):
            Z[j] = mapped(units[j], X - prototypes[j])
        served, counts = np.empty((m, len(X)), dtype=np.intp), np.empty(m, dtype=np.intp)
        total += local_pull(Z, codes, labels, weights, squashing, sigma, S, served, counts)
        for j in range(m):
            by_units[j] += _outer(units[j], Z[j, : counts[j]], X[served[j, : counts[j]]])
    by_prototypes = np.empty_like(prototypes)
    for j in range(m):
        by_units[j] -= _outer(units[j], S[j, None], prototypes[j, None])
        by_prototypes[j] = -_back(units[j], S[j])
    along = (by_units * units).reshape(m, -1).sum(axis=1).reshape(norms.shape)
    return total, 2.0 * (by_units - along * units) / norms, 2.0 * by_prototypes


def mapped(omega: Array, X: Array) -> Array:
    """The cases in the space of the map."""
    return X * omega if omega.ndim == 1 else X @ omega.T


def _outer(omega: Array, R: Array, X: Array) -> Array:
    """The sum of r x^T over rows, or its diagonal for a diagonal map."""
    return np.einsum("il,il->l", R, X) if omega.ndim == 1 else R.T @ X


def _back(omega: Array, S: Array) -> Array:
    """Rows of the mapped space times the map."""
    return S * omega if omega.ndim == 1 else S @ omega
