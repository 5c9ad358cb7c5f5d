"""From relative distances to probabilities."""

from collections.abc import Iterator

import numpy as np

from whynear.learn.blocks import Block, Blocks, Cases, parts_of, summed
from whynear.metric import LocalMetric, Metric
from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit

MOST_CERTAINTY = 1e4  # a larger factor leaves no probability between zero and one
SAMPLED_ROWS = 50_000
LAST_STEP = 1e-6  # relative: the next one would be about its square
STEEPEST_START = 100.0  # at larger factors, the curvature can be zero in floating point


def relative_distances(sq: Array) -> Array:
    """For squared distances to classes, one column each, how much nearer a class is than the nearest other one.

    (d_other - d) / (d_other + d), in [-1, 1]: positive for the nearest class alone, zero for all where two are on the
    case itself.

    >>> relative_distances(np.array([[1.0, 3.0, 9.0]]))
    array([[ 0.5, -0.5, -0.8]])
    """
    relative = np.empty(sq.shape)
    _fill_relative(sq, relative)
    return relative


@njit(cache=True, nogil=True)
def _fill_relative(sq: Array, relative: Array) -> None:  # pragma: no cover - compiled
    for i in range(len(sq)):
        nearest, second = 0, np.inf
        for j in range(1, sq.shape[1]):
            if sq[i, j] < sq[i, nearest]:
                nearest, second = j, sq[i, nearest]
            else:
                second = min(second, sq[i, j])
        for j in range(sq.shape[1]):
            other = second if j == nearest else sq[i, nearest]
            total = other + sq[i, j]
            relative[i, j] = (other - sq[i, j]) / total if total > 0 else 0.0


def class_distances(X: Array, metric: Metric, prototypes: Array, first: Indices) -> Array:
    """The `relative_distances` of rows to classes whose prototypes stand together, from the ``first`` of each on."""
    sq = metric.between(X, None if isinstance(metric, LocalMetric) else prototypes)
    return relative_distances(np.minimum.reduceat(sq, first, axis=1))


def certainty(relative: Blocks) -> float:
    """The factor t for which softmax(t r) fits the classes best, for blocks of relative distances r.

    One number by maximum likelihood: the loss is convex in t and Newton's method finds it. Targets are smoothed by one
    case per class, as Platt did for his sigmoid: t would otherwise have no bound where all are predicted right.
    """
    every = relative.n_rows // SAMPLED_ROWS  # of many rows, every so many-th is enough to start near the optimum
    start = min(_optimum(relative, 1.0, every), STEEPEST_START) if every > 1 else 1.0
    return _optimum(relative, start, 1)


def _optimum(relative: Blocks, t: float, every: int) -> float:
    """The best factor for every so many-th row of each block, searched for from a given one on."""
    n_classes, n = len(relative.classes), relative.n_rows
    for _ in range(50):
        mean, curvature, to_own, to_all = summed(relative.map(_sums, n_classes, t, every))
        if not curvature > 0:
            break
        wanted = (n * to_own + to_all) / (n + n_classes)
        step = (mean - wanted) / curvature
        moved = float(np.clip(t - step, t / 4, 4 * t))  # curvature fades far from the optimum
        moved = min(max(moved, 1e-3), MOST_CERTAINTY)
        before, t = t, moved
        if abs(moved - before) <= LAST_STEP * before:
            break
    return t


def _sums(block: Block, n_classes: int, t: float, every: int) -> tuple[float, float, float, float]:
    """The weighted sums of mean and variance of the relative distance under the probabilities softmax(t r).

    Then those of the relative distances to the cases' own classes, and to all classes.
    """
    mean, variance, to_own, to_all = 0.0, 0.0, 0.0, 0.0
    for relative, codes, weights in _some_of(block, n_classes, every):
        of_part = _moments(relative, weights, t)
        mean, variance = mean + of_part[0], variance + of_part[1]
        to_own += float(weights @ relative[np.arange(len(codes)), codes])
        to_all += float(weights @ relative.sum(axis=1))
    return mean, variance, to_own, to_all


def _some_of(block: Block, n_classes: int, every: int) -> Iterator[Cases]:
    return parts_of(block, n_classes) if every == 1 else iter([block.some(slice(None, None, every))])


@njit(cache=True, nogil=True)
def _moments(relative: Array, weights: Array, t: float) -> tuple[float, float]:  # pragma: no cover - compiled
    first, second = 0.0, 0.0
    for i in range(len(relative)):
        largest = relative[i].max()
        total, once, twice = 0.0, 0.0, 0.0
        for r in relative[i]:
            p = np.exp(t * (r - largest))
            total += p
            once += p * r
            twice += p * r * r
        mean = once / total
        first += weights[i] * mean
        second += weights[i] * (twice / total - mean * mean)
    return first, second
