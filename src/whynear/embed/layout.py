"""Positions of cases on a plane: principal directions, and UMAP over the neighbours that a metric finds."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.metric import LocalMetric
from whynear.metric.projection import principal_directions, turned_up
from whynear.search import CandidateSearch, NeighborSearch
from whynear.search.exact import AnyMetric, nearest_listed
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import row_blocks

# With more cases neighbours are approximate: the time of an exact search grows with the square of their number.
EXACT_CASES = 20_000

# With fewer points UMAP mostly shows its random start.
FEWEST_CASES = 10


@dataclass(frozen=True, eq=False)
class Plane:
    """The plane through the mean of points along their first two principal directions.

    The sign is fixed: the largest entry of each direction is positive.
    """

    mean: Array
    directions: Array

    @classmethod
    def of(cls, points: Array) -> Plane:
        """Return the plane of points; it has fewer directions if they have."""
        return cls(points.mean(axis=0), turned_up(principal_directions(points).vectors[:, :2]))

    def at(self, points: Array) -> Array:
        """Return where points lie on the plane, zeros for directions that it does not have."""
        return on_plane((points - self.mean) @ self.directions)


def principal_plane(points: Array) -> Array:
    """Return the points on their own principal plane."""
    return Plane.of(points).at(points)


def on_plane(points: Array) -> Array:
    """Return points of at most two coordinates with zeros added up to two."""
    return np.pad(points, [(0, 0), (0, 2 - points.shape[1])])


def between(search: NeighborSearch, rows: Array, n_nearest: int, points: Array) -> Array:
    """Return the mean position of the cases nearest to each row, with weights 1 / d^2; only of those at zero."""
    sq, nearest = search.nearest(rows, min(n_nearest, len(points)))
    votes: Array = np.divide(sq[:, :1], sq, out=np.ones_like(sq), where=sq > 0)
    return np.einsum("nk,nkc->nc", votes / votes.sum(axis=1, keepdims=True), points[nearest])


def neighbor_graph(metric: AnyMetric, cases: Array, n_neighbors: int, seed: int) -> tuple[Indices, Array]:
    """Return the numbers of the nearest other cases of each case and their distances; column 0 is the case itself.

    A local metric measures each distance by the map of the other case. Memory O(n n_neighbors).
    """
    n, others = len(cases), n_neighbors - 1
    indices, sq = np.empty((n, n_neighbors), dtype=np.intp), np.zeros((n, n_neighbors))
    indices[:, 0] = np.arange(n)
    given = None if isinstance(metric, LocalMetric) else cases
    if n <= EXACT_CASES:
        sq[:, 1:], indices[:, 1:] = NeighborSearch(metric, given).nearest(cases, others, exclude=indices[:, 0])
    else:
        n_candidates = min(max(64, 2 * n_neighbors), n - 1)
        lists = CandidateSearch(metric, given, n_candidates=n_candidates, random_state=seed).lists
        for rows in row_blocks(n, row_bytes=64 * n_candidates):
            listed, own = lists[rows], indices[rows, 0]
            counts = np.full(len(listed), n_candidates)
            sq[rows, 1:], indices[rows, 1:] = nearest_listed(metric, cases[rows], cases, others, listed, counts, own)
    return indices, np.sqrt(sq)


def umap_layout(
    metric: AnyMetric, cases: Array, coordinates: Array, *, n_neighbors: int, min_dist: float, seed: int
) -> Array:
    """Return the positions of the cases by UMAP over their neighbours under the metric.

    UMAP uses ``coordinates`` only to place unconnected parts of the graph. With too few cases, or without UMAP, the
    result is their principal plane.
    """
    if len(cases) < FEWEST_CASES:
        return principal_plane(coordinates)
    try:
        UMAP = _umap()
    except ImportError as missing:
        warnings.warn(
            f"UMAP is not installed ({missing}): the map shows the first two principal directions of the coordinates "
            "that UMAP would have seen. For UMAP: pip install 'whynear[embed]'",
            UserWarning,
            stacklevel=3,
        )
        return principal_plane(coordinates)
    n_neighbors = min(n_neighbors, len(cases) - 1)
    indices, distances = neighbor_graph(metric, cases, n_neighbors, seed)
    with warnings.catch_warnings():
        _ignore_warnings_of_umap()
        # One thread: with several the result would depend on their timing.
        umap = UMAP(
            n_neighbors=n_neighbors,
            min_dist=min_dist,
            precomputed_knn=(indices, _divided(distances, distances[np.isfinite(distances)].mean()), None),
            random_state=seed,
            n_jobs=1,
        )
        centred = coordinates - coordinates.mean(axis=0)
        positions = umap.fit_transform(_divided(centred, np.linalg.norm(centred, axis=1).max()))
    return np.asarray(positions, dtype=np.float64)


def _umap() -> Any:
    """Return the class UMAP; imported when needed, because that takes seconds."""
    with warnings.catch_warnings():
        _ignore_warnings_of_umap()
        from umap import UMAP
    return UMAP


def _ignore_warnings_of_umap() -> None:
    """Ignore the warnings of UMAP for its developers, and on new data, unconnected parts and missing extras."""
    for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning):
        warnings.simplefilter("ignore", category)
    for message in (r"precomputed_knn\[2\]", "Graph is not fully connected"):
        warnings.filterwarnings("ignore", message, UserWarning)


def _divided(values: Array, size: float) -> NDArray[np.float32]:
    """Return values divided by a size, in float32, in which UMAP computes; the unit does not change its result."""
    return (values / (size or 1.0)).astype(np.float32)
