"""Where learning begins: prototypes at means or cluster centres, maps along axes or directions of the data."""

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from whynear.learn.lvq.objective import Cases
from whynear.metric.projection import principal_directions
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import whole

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
    cases: Cases, counts: list[int], classes: NDArray[Any], init: str, rng: np.random.RandomState
) -> tuple[Array, Indices]:
    """Prototypes and the places of their classes, sorted by class.

    ``init`` is ``"means"`` (a little apart where a class gets several), ``"kmeans"``, or ``"auto"``: means where a
    class gets one prototype, cluster centres where it gets more. A class with fewer different rows gets fewer.
    """
    prototypes, labels = [], []
    for code, count in enumerate(counts):
        own = cases.codes == code
        X, weights = cases.X[own], cases.weights[own]
        if not len(X):  # a class that a stream has not shown yet
            X, weights = cases.X, cases.weights
        if count > len(X):
            warnings.warn(
                f"Class {classes.tolist()[code]!r} has {len(X)} different rows and gets as many prototypes, "
                f"instead of {count}.",
                UserWarning,
                stacklevel=4,
            )
            count = len(X)
        labels += [code] * count
        mean = np.average(X, axis=0, weights=weights)
        if count == 1:
            prototypes.append(mean[None])
        elif init == "means":
            spread = np.sqrt(np.average(np.square(X - mean), axis=0, weights=weights))
            prototypes.append(mean + JITTER * spread * rng.standard_normal((count, X.shape[1])))
        else:
            clusters = KMeans(count, n_init=5, random_state=rng.randint(2**31 - 1))
            prototypes.append(clusters.fit(X, sample_weight=weights).cluster_centers_)
    return np.vstack(prototypes), np.array(labels, dtype=np.intp)


def weighted_directions(X: Array, weights: Array, effective_dim: int) -> Array:
    """The first principal directions, of shape (d, K), of rows of which one of weight two counts as two copies."""
    shares = weights / weights.sum()
    centred = np.sqrt(shares)[:, None] * (X - shares @ X)
    if X.shape[0] > X.shape[1]:
        centred = np.linalg.qr(centred, mode="r")
    _, singular, vectors = np.linalg.svd(centred, full_matrices=False)
    rank = int(np.count_nonzero(singular > max(X.shape) * np.finfo(float).eps * singular.max(initial=0.0)))
    if not 1 <= effective_dim <= rank:
        raise ValueError(
            f"effective_dim={effective_dim} is not among the {rank} directions in which the {len(X)} different rows "
            f"vary. Use 1 <= effective_dim <= {rank}, or None for all."
        )
    return np.array(vectors[:effective_dim].T)


def starting_map(
    X: Array, varying: NDArray[np.bool_], n_components: int | None, init: str, rng: np.random.RandomState
) -> Array:
    """A map of shape (n_components, d) with orthogonal rows of length one, or of random ones.

    Without a number there are as many components as varying features, or with more of these than rows as the data have
    directions. ``"auto"`` begins with the axes where these are all of the space, else with the first directions. The
    columns of features that do not vary are zero.
    """
    d = X.shape[1]
    if n_components is not None and not 1 <= n_components <= d:
        raise ValueError(
            f"n_components={n_components} asks for more directions than X has features ({d}), or for none. "
            f"Use 1 <= n_components <= {d}, or None for all."
        )
    if varying.all():
        return _starting_map(X, n_components, init, rng)
    n_varying = int(np.count_nonzero(varying))
    part = _starting_map(X[:, varying], n_components and min(n_components, n_varying), init, rng)
    omega = np.zeros((n_components or len(part), d))
    omega[: len(part), varying] = part
    return omega


def _starting_map(X: Array, n_components: int | None, init: str, rng: np.random.RandomState) -> Array:
    n, d = X.shape
    if init == "auto":
        init = "identity" if n_components == d or (n_components is None and d <= n) else "pca"
    if init == "identity":
        return np.eye(n_components or min(n, d), d)
    if init == "random":
        return rng.standard_normal((n_components or min(n, d), d))
    directions = principal_directions(X).vectors.T
    omega = np.zeros((n_components or max(1, len(directions)), d))
    omega[: len(directions)] = directions[: len(omega)]
    return omega if omega.any() else np.eye(*omega.shape)
