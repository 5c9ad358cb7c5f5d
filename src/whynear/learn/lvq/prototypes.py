"""Prototypes: where they start, how they are moved, and the scale of their distances."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from whynear.learn.blocks import Block, Blocks, class_squares, class_sums, joined_triangles, parts_of, summed, triangle
from whynear.learn.lvq import objective as glvq
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.metric.projection import turned_up
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import whole
from whynear.utils.compiling import njit
from whynear.utils.text import counted
from whynear.utils.threads import fork_safe_openmp

CLUSTERED_ROWS = 10_000  # of a class, among which clusters are looked for
JITTER = 0.1  # of the spread of a class, between prototypes that start at its mean


def prototype_counts(n_prototypes: int | Mapping[Any, int], classes: NDArray[Any]) -> list[int]:
    """How many prototypes each class gets, by one number for all or a mapping from labels to numbers."""
    if isinstance(n_prototypes, Mapping):
        missing = [label for label in classes.tolist() if label not in n_prototypes]
        if missing:
            raise ValueError(
                f"n_prototypes={dict(n_prototypes)!r} has no number for the class {missing[0]!r}. "
                "Give one for every class, or a single number for all."
            )
        counts = [n_prototypes[label] for label in classes.tolist()]
    else:
        counts = [n_prototypes] * len(classes)
    for count in counts:
        whole("n_prototypes", count, why="for every class")
    return counts


def starting_prototypes(
    blocks: Blocks, counts: list[int], init: str, rng: np.random.RandomState
) -> tuple[Array, Indices]:
    """Prototypes and the places of their classes, sorted by class.

    ``init`` is ``"means"`` (a little apart where a class gets several), ``"kmeans"``, or ``"auto"``: means where a
    class gets one prototype, cluster centres where it gets more. A class with fewer different rows gets fewer.
    """
    known = np.flatnonzero(blocks.class_rows)
    n_rows = np.where(blocks.class_rows > 0, blocks.class_rows, blocks.class_rows.sum())
    counts = _possible_counts(counts, n_rows, blocks.classes)
    means, spreads = _means_and_spreads(blocks, spread=init == "means" and max(counts) > 1)
    samples = blocks.samples(CLUSTERED_ROWS) if init != "means" and max(counts) > 1 else None
    prototypes = []
    for code, count in enumerate(counts):
        if count == 1:
            prototypes.append(means[code, None])
        elif samples is None:
            prototypes.append(means[code] + JITTER * spreads[code] * rng.standard_normal((count, means.shape[1])))
        else:
            own = samples.codes == code if code in known else slice(None)
            clusters = KMeans(count, n_init=5, random_state=rng.randint(2**31 - 1))
            with fork_safe_openmp():
                clusters.fit(samples.X[own], sample_weight=samples.weights[own])
            prototypes.append(clusters.cluster_centers_)
    return np.vstack(prototypes), np.repeat(np.arange(len(counts)), counts)


def _possible_counts(counts: list[int], n_rows: Indices, classes: NDArray[Any]) -> list[int]:
    for code, (count, n) in enumerate(zip(counts, n_rows.tolist(), strict=True)):
        if count > n:
            warnings.warn(
                f"Class {classes.tolist()[code]!r} has {n} different rows and gets as many prototypes, "
                f"instead of {count}.",
                UserWarning,
                stacklevel=6,
            )
    return [min(count, n) for count, n in zip(counts, n_rows.tolist(), strict=True)]


def _means_and_spreads(blocks: Blocks, *, spread: bool) -> tuple[Array, Array]:
    """The mean of each class, and the deviation of each column from it; of all rows for a class without any.

    There is none in a stream that has not shown it yet.
    """
    n_classes, d = len(blocks.classes), blocks.n_features
    weights, sums = summed(blocks.map(class_sums, n_classes, d))
    shown = weights > 0
    means = np.where(shown[:, None], sums, sums.sum(axis=0)) / np.where(shown, weights, 1.0)[:, None]
    if not spread:
        return means, np.zeros_like(means)
    squares = summed(blocks.map(class_squares, means)) / np.where(shown, weights, 1.0)[:, None]
    about_all = summed(blocks.map(class_squares, np.repeat(sums.sum(axis=0)[None], n_classes, axis=0))).sum(axis=0)
    return means, np.sqrt(np.where(shown[:, None], squares, about_all))


def data_directions(blocks: Blocks, counting: Array | None = None) -> Array:
    """The principal directions of the rows about their mean, of shape (d, rank).

    A row of weight two counts as two copies, and each of the points ``counting`` as one more row. Each direction points
    to where its largest entry is positive.
    """
    d, total = blocks.n_features, blocks.total_weight
    points = np.empty((0, d)) if counting is None else counting
    all_weight = total + len(points)
    _, sums = summed(blocks.map(class_sums, len(blocks.classes), d))
    centre = (total * sums.sum(axis=0) + points.sum(axis=0)) / all_weight
    found = blocks.map(triangle, centre)
    rows = joined_triangles(
        [np.sqrt(total / all_weight) * R for R in found] + [(points - centre) / np.sqrt(all_weight)]
    )
    _, singular, vectors = np.linalg.svd(rows, full_matrices=False)
    n = blocks.n_rows + len(points)
    rank = int(np.count_nonzero(singular > max(n, d) * np.finfo(float).eps * singular.max(initial=0.0)))
    return turned_up(vectors[:rank].T)


def chosen_directions(blocks: Blocks, effective_dim: int, counting: Array | None = None) -> Array:
    """The first of the `data_directions`, of shape (d, K)."""
    directions = data_directions(blocks, counting)
    rank = directions.shape[1]
    if not 1 <= effective_dim <= rank:
        n = blocks.n_rows + (0 if counting is None else len(counting))
        raise ValueError(
            f"effective_dim={effective_dim} is not among the {rank} directions in which the {n} different rows "
            f"vary. Use 1 <= effective_dim <= {rank}, or None for all."
        )
    return np.array(directions[:, :effective_dim])


def starting_map(
    blocks: Blocks, varying: NDArray[np.bool_], n_components: int | None, init: str, rng: np.random.RandomState
) -> Array:
    """A map of shape (n_components, d) with orthogonal rows of length one, or of random ones.

    Without a number there are as many components as varying features, or with more of these than rows as the data have
    directions. ``"auto"`` begins with the axes where these are all of the space, else with the first directions. The
    columns of features that do not vary are zero.
    """
    d = len(varying)
    if n_components is not None and not 1 <= n_components <= d:
        raise ValueError(
            f"n_components={n_components} asks for more directions than X has features ({d}), or for none. "
            f"Use 1 <= n_components <= {d}, or None for all."
        )
    most = n_components and min(n_components, int(np.count_nonzero(varying)))
    n, n_varying = blocks.n_rows, int(np.count_nonzero(varying))
    if init == "auto":
        init = "identity" if most == n_varying or (most is None and n_varying <= n) else "pca"
    shape = most or min(n, n_varying), n_varying
    if init == "pca":
        directions = data_directions(blocks).T[:, varying]
        part = np.zeros((most or max(1, len(directions)), n_varying))
        part[: len(directions)] = directions[: len(part)]
        part = part if part.any() else np.eye(*part.shape)
    else:
        part = np.eye(*shape) if init == "identity" else rng.standard_normal(shape)
    omega = np.zeros((n_components or len(part), d))
    omega[: len(part), varying] = part
    return omega


@dataclass(frozen=True)
class Coordinates:
    """The coordinates of a fit: cases about their mean, divided by one number, along chosen directions of the data.

    One number for all columns keeps all ratios of distances, and the steps of the solver do not depend on units.
    """

    origin: Array
    scale: float
    directions: Array | None  # of shape (d, K); all of the space for None

    @classmethod
    def about(cls, blocks: Blocks) -> Self:
        """The coordinates of a training set, with all of its space."""
        low, high = blocks.input_range
        _, sums = summed(blocks.map(class_sums, len(blocks.classes), len(low)))
        origin = np.where(high > low, sums.sum(axis=0), low)  # constant columns are zero inside
        centres = np.repeat(origin[None], len(blocks.classes), axis=0)
        scale = float(np.sqrt(summed(blocks.map(class_squares, centres)).sum()))
        return cls(origin, scale or 1.0, None)

    def inside(self, X: Array) -> Array:
        """Cases in these coordinates."""
        centred = (X - self.origin) / self.scale
        return np.ascontiguousarray(centred if self.directions is None else centred @ self.directions)

    def points(self, W: Array) -> Array:
        """Points of these coordinates as cases."""
        return self.origin + self.scale * (W if self.directions is None else W @ self.directions.T)


@dataclass(frozen=True)
class Quantizer:
    """Prototypes, the places of their classes, and one map for all or one for each.

    ``maps`` has the shape (c, d) for all prototypes or (m, c, d) for each; (d,) or (m, d) where they are diagonal.
    """

    maps: Array
    prototypes: Array
    labels: Indices
    local: bool

    @classmethod
    def of(cls, metric: Metric, prototypes: Array, labels: Indices, coordinates: Coordinates) -> Self:
        """Return the quantizer of a fitted metric, to learn it further."""
        match metric:
            case DiagonalMetric():
                maps = np.sqrt(metric.weights)
            case LocalMetric(omegas=None):
                maps = np.sqrt(metric.maps)
            case LocalMetric():
                maps = metric.maps
            case LinearMetric():
                maps = metric.omega
            case _:
                raise TypeError(f"{type(metric).__name__} has no maps to learn further.")
        if coordinates.directions is not None:
            if maps.ndim == 1 + isinstance(metric, LocalMetric):
                raise TypeError(
                    f"{type(metric).__name__} weighs columns, and the learner learns along "
                    f"{counted(coordinates.directions.shape[1], 'direction')} (effective_dim): its weights cannot be "
                    "learned further. Fit anew without effective_dim."
                )
            maps = maps @ coordinates.directions
        return cls(maps, coordinates.inside(prototypes), labels, isinstance(metric, LocalMetric))

    def packed(self) -> Array:
        """Return all parameters as one vector, for solvers."""
        return np.concatenate([self.maps.ravel(), self.prototypes.ravel()])

    def unpacked(self, x: Array) -> Self:
        """A quantizer of the same shape with these parameters."""
        size = self.maps.size
        return replace(self, maps=x[:size].reshape(self.maps.shape), prototypes=x[size:].reshape(self.prototypes.shape))

    def loss_grad(self, cases: Block, x: Array, squashing: glvq.Squashing, sigma: float) -> tuple[float, Array]:
        """The cost at given parameters and its gradient."""
        at = self.unpacked(x)
        of = glvq.local_loss_grad if self.local else glvq.global_loss_grad
        value, by_maps, by_prototypes = of(at.maps, at.prototypes, at.labels, cases, squashing, sigma)
        return value, np.concatenate([by_maps.ravel(), by_prototypes.ravel()])

    def metric(self, coordinates: Coordinates, names: tuple[str, ...]) -> LinearMetric | DiagonalMetric | LocalMetric:
        """The metric in the table's columns, the trace of every Lambda one."""
        maps, diagonal = self.maps, self.maps.ndim == 1 + self.local
        maps = maps if coordinates.directions is None else maps @ coordinates.directions.T
        axes = tuple(range(int(self.local), maps.ndim))
        norms = np.sqrt(np.square(maps).sum(axis=axes, keepdims=True))
        maps = np.divide(maps, norms, out=np.zeros_like(maps), where=norms > 0)
        values = np.square(maps) if diagonal else maps
        if not self.local:
            return (DiagonalMetric if diagonal else LinearMetric)(values, names)
        anchors = coordinates.points(self.prototypes)
        return LocalMetric(anchors, **{"weights" if diagonal else "omegas": values}, feature_names=names)


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
    some = parts_of(block, n_classes) if every == 1 else [block.some(slice(None, None, every))]
    for relative, codes, weights in some:
        of_part = _moments(relative, weights, t)
        mean, variance = mean + of_part[0], variance + of_part[1]
        to_own += float(weights @ relative[np.arange(len(codes)), codes])
        to_all += float(weights @ relative.sum(axis=1))
    return mean, variance, to_own, to_all


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
