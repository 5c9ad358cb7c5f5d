"""Large margin nearest neighbours (Weinberger and Saul 2009): the loss with its gradient, and the search for impostors.

Rows are kept in the order of their classes, so that the pairs of different classes are the blocks above a diagonal.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.metric import DiagonalMetric
from whynear.search.exact import ExactSearch
from whynear.utils.arrays import Array
from whynear.utils.compiling import njit
from whynear.utils.threads import row_blocks

Pairs = tuple[NDArray[np.int32], NDArray[np.int32]]
Buffers = tuple[Array, Array]
Band = tuple[int, int]

ALL_ROWS: Band = (0, 1)

# One block of scores stays in the cache, and one call of a kernel is short enough for an interrupt to take effect soon.
BLOCK_ROWS, BLOCK_COLUMNS = 256, 4096
CHUNK_TERMS = 50_000_000
PRODUCT_TERMS = 2_000_000_000

TILE_COLUMNS = 256
TERMS_BETWEEN_CHECKS = 32

# Lists of pairs longer than this are not kept, but found anew for every evaluation of the loss: 8 bytes a pair.
MOST_PAIRS = 8_000_000

# Squared distances between mapped cases, the farthest coordinate being one, are below the first; below the second
# float32 loses digits.
FARTHEST_SQ_DISTANCE, VANISHING_SQ_DISTANCE = 1e30, 1e-36


@dataclass(frozen=True)
class Margins:
    """The data of the loss: cases in the order of their classes, and the target neighbours of each."""

    X: Array  # of shape (n, d), class by class
    class_ends: NDArray[np.int32]  # for each case the number of the first case of the next class
    targets: NDArray[np.int32]  # of shape (n, k): numbers of target neighbours, -1 where a class has no more
    weights: Array  # how much the targets and impostors of each case count, above zero
    push_weight: float = 0.5  # mu, the weight of the impostors; that of the targets is 1 - mu
    margin: float = 1.0  # the gap between targets and impostors that costs nothing

    @property
    def n_targets(self) -> int:
        """Number of pairs of a case and its target."""
        return int(np.count_nonzero(self.targets >= 0))

    @property
    def weight_of_targets(self) -> float:
        """Sum over these pairs of the weight of the case, one without any pair."""
        return float(self.weights @ np.count_nonzero(self.targets >= 0, axis=1)) or 1.0


def target_neighbors(
    X: Array, codes: NDArray[np.intp], n_neighbors: int, n_jobs: int | None = None
) -> NDArray[np.int32]:
    """Numbers of the nearest other cases of the same class, -1 where a class has too few; codes must be in order."""
    targets = np.full((len(X), n_neighbors), -1, dtype=np.int32)
    metric = DiagonalMetric(np.ones(X.shape[1]))
    ends = np.cumsum(np.bincount(codes))
    for start, stop in zip(ends - np.bincount(codes), ends, strict=True):
        k = min(n_neighbors, stop - start - 1)
        if k > 0:
            own = X[start:stop]
            search = ExactSearch(metric, own, n_jobs)
            targets[start:stop, :k] = start + search.find(own, k, np.arange(len(own)))[1]
    return targets


def mean_target_scatter(X: Array, targets: NDArray[np.int32]) -> Array:
    """Mean of (x_i - x_j)(x_i - x_j)^T over all pairs of a case and its target, zero without targets."""
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(len(X), row_bytes=scatter.size, budget=PRODUCT_TERMS):
        for column in targets[rows].T:
            differences = (X[rows] - X[column])[column >= 0]
            scatter += differences.T @ differences
    return scatter / max(1, int(np.count_nonzero(targets >= 0)))


def loss_grad(
    omega: Array, problem: Margins, pairs: Iterable[Pairs], buffers: Buffers | None = None, *, draw: bool = True
) -> tuple[float, Array]:
    r"""LMNN loss and gradient with respect to the map (Weinberger and Saul 2009, eq. 11 to 13), per target.

    With d the squared distance under omega, j a target of i, l any case of another class, and w the weights of cases,

    .. math:: E = \frac{1}{N} \sum_{i,j} w_i \Big( (1-\mu) d_{ij} + \mu \sum_l [m + d_{ij} - d_{il}]_+ \Big),
        \quad N = \sum_{i,j} w_i .

    Every hinge that is open puts a weight on two pairs, so the gradient is 2 R^T X / N with R = L Z, Z = X omega^T and
    L the Laplacian of the weighted pairs. Only the listed pairs of different classes are looked at: the loss is exact
    if they include all impostors. The loss of some of the pairs, without what draws targets near where ``draw`` is
    False, and that of the others add up to the loss of all. Time O(n d c + p c) for p pairs, memory O(n (c + k)).
    """
    mapped, spread = buffers if buffers is not None else empty_buffers(omega, problem)
    _product(problem.X, omega.T, out=mapped)
    spread.fill(0.0)
    has_target = problem.targets >= 0
    pull, of_case = 1.0 - problem.push_weight, problem.weights
    weights = np.where(has_target, pull * of_case[:, None] * draw, 0.0)
    sq_targets = _target_sq_distances(mapped, problem.targets)
    loss = pull * float((sq_targets * of_case[:, None])[has_target].sum()) if draw else 0.0
    reach = sq_targets + problem.margin
    widest = reach.max(axis=1)
    for first, second in pairs:
        loss += _push(first, second, mapped, reach, widest, problem.push_weight, of_case, weights, spread)
    _pull(problem.targets, mapped, weights, spread)
    gradient = np.zeros_like(omega)
    for rows in row_blocks(len(mapped), row_bytes=omega.size, budget=PRODUCT_TERMS):
        gradient += spread[rows].T @ problem.X[rows]
    n = problem.weight_of_targets
    return loss / n, gradient * (2.0 / n)


def empty_buffers(omega: Array, problem: Margins) -> Buffers:
    """Return work arrays that `loss_grad` can reuse."""
    shape = (len(problem.X), len(omega))
    return np.empty(shape), np.empty(shape)


def _product(X: Array, right: Array, out: Array | None = None) -> Array:
    """X times a matrix, in blocks of rows after each of which an interrupt takes effect."""
    out = np.empty((len(X), right.shape[1])) if out is None else out
    for rows in row_blocks(len(X), row_bytes=right.size, budget=PRODUCT_TERMS):
        np.matmul(X[rows], right, out=out[rows])
    return out


def impostor_pairs(omega: Array, problem: Margins, slack: float = 0.0, band: Band = ALL_ROWS) -> Iterator[Pairs]:
    """Pairs of different classes of which one is an impostor of the other, or would be if nearer by a share ``slack``.

    A band (i, m) is every m-th block of rows from the i-th on: the bands of all i below m have all pairs. Distances are
    float32 products lowered by a bound of their rounding, so that no impostor is missed. Time O(n^2 c), memory of one
    block.
    """
    mapped = _product(problem.X, omega.T)
    reach = _target_sq_distances(mapped, problem.targets).max(axis=1) + problem.margin
    unit = float(np.abs(mapped).max(initial=0.0)) or 1.0
    mapped /= unit
    terms = mapped.shape[1] + 2
    norms = np.einsum("ic,ic->i", mapped, mapped) * (1.0 - 4 * (terms + 8) * np.finfo(np.float32).eps)
    ones = np.ones_like(norms)
    left = np.column_stack([-2.0 * mapped, norms, ones]).astype(np.float32)
    right = np.ascontiguousarray(np.column_stack([mapped, ones, norms]).astype(np.float32).T)
    reach = np.minimum((1.0 + slack) * reach / unit**2, FARTHEST_SQ_DISTANCE) + terms * VANISHING_SQ_DISTANCE
    limits = np.where(np.isfinite(reach), reach, -1.0).astype(np.float32)
    n, width = len(mapped), BLOCK_COLUMNS
    found = np.empty((2, BLOCK_ROWS * width), dtype=np.int32)
    for top in range(band[0] * BLOCK_ROWS, n, band[1] * BLOCK_ROWS):
        bottom = min(top + BLOCK_ROWS, n)
        for start in range(int(problem.class_ends[top]), n, width):
            stop = min(start + width, n)
            scores = left[top:bottom] @ right[:, start:stop]
            count = _list_close(scores, limits, problem.class_ends, top, start, found[0], found[1])
            if count:
                yield found[0, :count].copy(), found[1, :count].copy()


def best_scale(omega: Array, problem: Margins, n_rows: int = 100) -> float:
    """The factor of the map, a power of two, at which some of the rows have the least loss. Time O(n_rows n c)."""
    sq_scales = 4.0 ** np.arange(-12, 13)
    with_targets = np.flatnonzero(problem.targets[:, 0] >= 0)
    rows = with_targets[:: max(1, len(with_targets) // n_rows)]
    losses = np.zeros(len(sq_scales))
    mapped = _product(problem.X, omega.T)
    for some in np.array_split(rows, max(1, len(rows) * mapped.size // CHUNK_TERMS)):
        _losses_at_scales(
            mapped, problem.class_ends, problem.targets, some, sq_scales, problem.push_weight, problem.margin,
            problem.weights, losses,
        )  # fmt: skip
    return float(np.sqrt(sq_scales[np.argmin(losses)]))


class Impostors:
    """Candidate pairs found at one map, to be used while the map stays near it.

    They are kept in memory up to `MOST_PAIRS`. Beyond that nothing is kept: iteration finds the impostors of the
    current map anew, block by block, which is exact and needs no memory, but takes O(n^2 c) time.
    """

    def __init__(
        self, omega: Array, problem: Margins, slack: float, most: int = MOST_PAIRS, band: Band = ALL_ROWS
    ) -> None:
        self.problem, self.band = problem, band
        self.chunks: list[Pairs] | None = []
        chunk_pairs = max(1, CHUNK_TERMS // max(1, len(omega)))
        waiting: list[Pairs] = []
        total = n_waiting = 0
        for pairs in impostor_pairs(omega, problem, slack, band):
            waiting.append(pairs)
            total += len(pairs[0])
            n_waiting += len(pairs[0])
            if total > most:
                self.chunks = None
                return
            if n_waiting >= chunk_pairs:
                self.chunks.append(_joined(waiting))
                waiting, n_waiting = [], 0
        if waiting:
            self.chunks.append(_joined(waiting))

    def at(self, omega: Array) -> Iterable[Pairs]:
        """The pairs to look at for the loss of a map."""
        return impostor_pairs(omega, self.problem, band=self.band) if self.chunks is None else self.chunks


def _joined(pairs: list[Pairs]) -> Pairs:
    return np.concatenate([first for first, _ in pairs]), np.concatenate([second for _, second in pairs])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _part_of_sq_distance(Z: NDArray[Any], i: int, j: int, begin: int, end: int) -> float:  # pragma: no cover
    total = 0.0
    for c in range(begin, end):
        difference = Z[i, c] - Z[j, c]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _sq_distance_within(Z: NDArray[Any], i: int, j: int, limit: float) -> float:  # pragma: no cover
    """Squared distance, or a part of its sum that already exceeds the limit."""
    total = 0.0
    for begin in range(0, Z.shape[1], TERMS_BETWEEN_CHECKS):
        total += _part_of_sq_distance(Z, i, j, begin, min(begin + TERMS_BETWEEN_CHECKS, Z.shape[1]))
        if total >= limit:
            break
    return total


@njit(cache=True, nogil=True)
def _target_sq_distances(Z: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:  # pragma: no cover
    """Squared distance from each case to its targets, -inf where there is none."""
    sq = np.empty(targets.shape)
    for i in range(targets.shape[0]):
        for j in range(targets.shape[1]):
            sq[i, j] = _sq_distance_within(Z, i, targets[i, j], np.inf) if targets[i, j] >= 0 else -np.inf
    return sq


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _add_difference(Z: NDArray[Any], i: int, j: int, weight: float, spread: NDArray[Any]) -> None:  # pragma: no cover
    for c in range(Z.shape[1]):
        part = weight * (Z[i, c] - Z[j, c])
        spread[i, c] += part
        spread[j, c] -= part


@njit(cache=True, nogil=True)
def _push(
    first: NDArray[Any],
    second: NDArray[Any],
    Z: NDArray[Any],
    reach: NDArray[Any],
    widest: NDArray[Any],
    push_weight: float,
    of_case: NDArray[Any],
    weights: NDArray[Any],
    spread: NDArray[Any],
) -> float:  # pragma: no cover
    """Add up the open hinges of pairs: their loss, their weight on targets, and R of the pairs themselves."""
    loss = 0.0
    for p in range(len(first)):
        i, other = first[p], second[p]
        sq = _sq_distance_within(Z, i, other, max(widest[i], widest[other]))
        count = 0.0
        for own in (i, other):
            if sq < widest[own]:
                for j in range(reach.shape[1]):
                    gap = reach[own, j] - sq
                    if gap > 0:
                        loss += push_weight * gap * of_case[own]
                        weights[own, j] += push_weight * of_case[own]
                        count += of_case[own]
        if count > 0:
            _add_difference(Z, i, other, -push_weight * count, spread)
    return loss


@njit(cache=True, nogil=True)
def _pull(
    targets: NDArray[Any], Z: NDArray[Any], weights: NDArray[Any], spread: NDArray[Any]
) -> None:  # pragma: no cover
    """Add R of the weighted pairs of cases and targets."""
    for i in range(targets.shape[0]):
        for j in range(targets.shape[1]):
            if targets[i, j] >= 0:
                _add_difference(Z, i, targets[i, j], weights[i, j], spread)


@njit(cache=True, nogil=True)
def _list_close(
    scores: NDArray[Any],
    limits: NDArray[Any],
    class_ends: NDArray[Any],
    top: int,
    left: int,
    first: NDArray[Any],
    second: NDArray[Any],
) -> int:  # pragma: no cover
    """List the pairs of a block whose score is below the limit of either; the block starts at row top, column left.

    They come tile by tile, so that the cases of consecutive pairs are in the cache when the pairs are measured.
    """
    count = 0
    width = scores.shape[1]
    for tile in range(0, width, TILE_COLUMNS):
        for r in range(scores.shape[0]):
            i = top + r
            limit = limits[i]
            for begin in range(max(tile, class_ends[i] - left), min(tile + TILE_COLUMNS, width), 16):
                end = min(begin + 16, tile + TILE_COLUMNS, width)
                close = False
                for s in range(begin, end):
                    close |= scores[r, s] < max(limit, limits[left + s])
                if close:
                    for s in range(begin, end):
                        if scores[r, s] < max(limit, limits[left + s]):
                            first[count] = i
                            second[count] = left + s
                            count += 1
    return count


@njit(cache=True, nogil=True)
def _losses_at_scales(
    Z: NDArray[Any],
    class_ends: NDArray[Any],
    targets: NDArray[Any],
    rows: NDArray[Any],
    scales: NDArray[Any],
    push_weight: float,
    margin: float,
    of_case: NDArray[Any],
    losses: NDArray[Any],
) -> None:  # pragma: no cover
    """Add to losses[s] the loss of some rows when all squared distances are multiplied by scales[s], rising."""
    for i in rows:
        sq_targets = np.empty(targets.shape[1])
        for j in range(targets.shape[1]):
            sq_targets[j] = _sq_distance_within(Z, i, targets[i, j], np.inf) if targets[i, j] >= 0 else -np.inf
            if targets[i, j] >= 0:
                losses += (1.0 - push_weight) * scales * sq_targets[j] * of_case[i]
        farthest = sq_targets.max() + margin / scales[0]
        for other in range(Z.shape[0]):
            if class_ends[other] == class_ends[i]:
                continue
            sq = _sq_distance_within(Z, i, other, farthest)
            for j in range(targets.shape[1]):
                for s in range(len(scales)):
                    gap = margin + scales[s] * (sq_targets[j] - sq)
                    if not gap > 0:
                        break
                    losses[s] += push_weight * gap * of_case[i]
