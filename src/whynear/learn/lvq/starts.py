"""Where learning begins: prototypes at means or cluster centres, maps along axes or directions of the data."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from whynear.learn.blocks import Blocks, class_squares, class_sums, joined_triangles, summed, triangle
from whynear.metric.projection import turned_up
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import whole
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
    n_varying = int(np.count_nonzero(varying))
    most = n_components and min(n_components, n_varying)
    part = _starting_map(blocks, varying, most, init, rng)
    omega = np.zeros((n_components or len(part), d))
    omega[: len(part), varying] = part
    return omega


def _starting_map(
    blocks: Blocks, varying: NDArray[np.bool_], n_components: int | None, init: str, rng: np.random.RandomState
) -> Array:
    n, d = blocks.n_rows, int(np.count_nonzero(varying))
    if init == "auto":
        init = "identity" if n_components == d or (n_components is None and d <= n) else "pca"
    if init == "identity":
        return np.eye(n_components or min(n, d), d)
    if init == "random":
        return rng.standard_normal((n_components or min(n, d), d))
    directions = data_directions(blocks).T[:, varying]
    omega = np.zeros((n_components or max(1, len(directions)), d))
    omega[: len(directions)] = directions[: len(omega)]
    return omega if omega.any() else np.eye(*omega.shape)
