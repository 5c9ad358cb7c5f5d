"""Embeddings of cases on a plane under a learned metric, and a score of how well they separate the classes."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from whynear.embedding.inputs import embedded_classes
from whynear.embedding.layout import between, on_plane, principal_plane, umap_layout
from whynear.metric import DiagonalMetric, LocalMetric, Metric
from whynear.metric.as_metric import metric_and_rows
from whynear.metric.pipeline import FittedPipeline
from whynear.search import NeighborSearch
from whynear.search.exact import searchable
from whynear.utils.arrays import Array
from whynear.utils.checks import Seed, choice, number, seed_of, whole
from whynear.utils.threads import row_blocks

Method = Literal["auto", "prototypes", "cases", "euclidean", "pca"]

# Up to this many anchors of a metric without its learner are taken for prototypes.
MOST_PROTOTYPES = 100

DEFAULT_NEIGHBORS = 15


def embed(
    learner_or_metric: Metric | BaseEstimator,
    X: ArrayLike,
    *,
    n_neighbors: int | None = None,
    min_dist: float = 0.1,
    method: Method = "auto",
    random_state: Seed = None,
) -> Array:
    r"""Place cases on a plane such that those near under a metric lie near each other.

    Parameters
    ----------
    learner_or_metric : metric, fitted learner or Pipeline
        The metric; anything that `as_metric` takes.
    X : array-like of shape (n_samples, n_features)
        The cases, in the columns of the metric; the table itself for a Pipeline that starts with an encoder.
    n_neighbors : int, default=None
        The number of neighbours of UMAP, including the case itself; at most one less than there are cases. None is 15;
        for a learner with a metric per training case one more than its number of voting neighbours, because only
        these were learned to be near.
    min_dist : float, default=0.1
        The smallest distance between points in UMAP, from 0 to 1.
    method : {"auto", "prototypes", "cases", "euclidean", "pca"}, default="auto"
        ``"auto"`` depends on the metric (see Notes); ``"prototypes"`` and ``"cases"`` choose between the two methods
        for a local one. ``"euclidean"`` is UMAP and ``"pca"`` the principal plane of X without the metric, in the
        coordinates of the learner.
    random_state : int, Generator, RandomState or None, default=None
        Seed of UMAP: an int gives the same embedding every time.

    Returns
    -------
    embedding : ndarray of shape (n_samples, 2)

    Notes
    -----
    - One map for all cases with two rows: the map itself, :math:`x \mapsto \Omega x`. More rows: the principal plane
      of the mapped cases. A single row leaves the second coordinate zero.
    - One map per prototype: UMAP of the vectors of distances :math:`\sqrt{d_j(x)}` to all prototypes.
    - One map per training case: UMAP over the neighbours of each case, which are the other training cases nearest to
      it, each by its own map. If X is not the training cases, these are placed first, and a row of X is placed at the
      mean of its nearest ones with the weights :math:`1 / d_i(x)`.

    The anchors of a learner with ``prototypes_`` are prototypes, those of any other learner are training cases. The
    anchors of a metric without its learner are training cases if they are the rows of X, or more than 100.

    UMAP takes its neighbours from `NeighborSearch`, beyond 20,000 cases from `CandidateSearch`; no table of all
    distances is made. Fewer than ten cases are placed on their principal plane. So are more cases, with a warning, if
    UMAP is not installed (``pip install 'whynear[embed]'``): on that of their distances to prototypes, or of the
    columns weighted by the mean relevances of the training cases.

    References
    ----------
    Goepfert, Wersing, Hammer: Interpretable locally adaptive nearest neighbors.

    McInnes, Healy, Melville: UMAP: uniform manifold approximation and projection for dimension reduction, 2018.

    Examples
    --------
    >>> from whynear.metric import LinearMetric
    >>> embed(LinearMetric([[1.0, 0.0, 1.0], [0.0, 2.0, 0.0]]), [[1, 2, 3], [4, 5, 6]])
    array([[ 4.,  4.],
           [10., 10.]])
    """
    learner_or_metric = FittedPipeline.of_any(learner_or_metric)
    given, X, _ = metric_and_rows(learner_or_metric, X)
    metric = searchable(given)
    n_neighbors = (
        _n_neighbors(learner_or_metric, metric) if n_neighbors is None else whole("n_neighbors", n_neighbors, 2)
    )
    number("min_dist", min_dist, most=1)
    choice("method", method, get_args(Method))
    rows = metric.table(X)
    if not len(rows):
        raise ValueError("X must have at least one row to embed, got none.")
    given_state = seed_of(random_state) if isinstance(random_state, np.random.Generator) else random_state
    seed = int(check_random_state(given_state).randint(2**31 - 1))
    lay_out = partial(umap_layout, n_neighbors=n_neighbors, min_dist=float(min_dist), seed=seed)
    if method == "pca":
        return principal_plane(metric.learned_coordinates(X))
    if method == "euclidean":
        coordinates = metric.learned_coordinates(X)
        return lay_out(_euclidean(coordinates), coordinates, coordinates)
    if not isinstance(metric, LocalMetric):
        if method != "auto":
            raise ValueError(f"method={method!r} needs a local metric, got a {type(metric).__name__}. Use 'auto'.")
        mapped = metric.mapped(rows)
        return on_plane(mapped) if mapped.shape[1] <= 2 else principal_plane(mapped)
    if method == "prototypes" or (method == "auto" and has_prototypes(learner_or_metric, metric, rows)):
        distances = np.sqrt(metric.between(rows))
        return lay_out(_euclidean(distances), distances, distances)
    anchors = lay_out(metric, metric.anchors, weighted(metric, metric.anchors))
    return anchors if _are_anchors(metric, rows) else between(NeighborSearch(metric), rows, n_neighbors, anchors)


def _n_neighbors(learner: Any, metric: Metric) -> int:
    last = getattr(learner, "learner", None)
    if isinstance(metric, LocalMetric) and not hasattr(last, "prototypes_"):
        return int(getattr(last, "n_neighbors", DEFAULT_NEIGHBORS - 1)) + 1
    return DEFAULT_NEIGHBORS


def embedding_score(embedding: ArrayLike, y: ArrayLike, n_neighbors: int = 5) -> float:
    """Return the share of points whose class is the majority class of their nearest other points.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_dimensions)
        Positions, as `embed` returns them.
    y : array-like of shape (n_samples,)
        Classes of the points.
    n_neighbors : int, default=5
        How many other points vote. Of classes with the same number of votes the one with the smaller sum of distances
        is taken.

    Examples
    --------
    >>> embedding_score([[0, 0], [0, 1], [1, 0], [9, 9], [9, 8]], ["a", "a", "a", "b", "b"], n_neighbors=1)
    1.0
    """
    points, _, codes = embedded_classes(embedding, y)
    n = len(points)
    if whole("n_neighbors", n_neighbors, 1) >= n:
        raise ValueError(f"n_neighbors={n_neighbors} is more than the {n - 1} other points. Use n_neighbors < {n}.")
    sq, others = NeighborSearch(_euclidean(points), points).nearest(points, n_neighbors, exclude=np.arange(n))
    right = np.empty(n, dtype=bool)
    for rows in row_blocks(n, row_bytes=16 * n_neighbors**2):
        votes = codes[others[rows]]
        alike = votes[:, :, None] == votes[:, None, :]
        total = (alike * np.sqrt(sq[rows])[:, None, :]).sum(axis=2)
        winner = np.lexsort((total, -alike.sum(axis=2)), axis=1)[:, :1]
        right[rows] = np.take_along_axis(votes, winner, axis=1)[:, 0] == codes[rows]
    return float(right.mean())


def _euclidean(points: Array) -> DiagonalMetric:
    return DiagonalMetric(np.ones(points.shape[1]))


def has_prototypes(obj: Any, metric: LocalMetric, rows: Array) -> bool:
    """Return whether the anchors of a metric are prototypes; without its learner, few that are not the rows are."""
    if isinstance(obj, Metric):
        return len(metric) <= MOST_PROTOTYPES and not _are_anchors(metric, rows)
    return hasattr(FittedPipeline.of(obj).learner, "prototypes_")


def _are_anchors(metric: LocalMetric, rows: Array) -> bool:
    """Return whether each row is the anchor with its number, up to rounding.

    The anchors of a Pipeline were scaled and scaled back, so they differ from the rows by rounding, and in directions
    that no map contains. Differences e_l of the columns give a squared distance of at most d sum_l relevance_l e_l^2.
    """
    if rows.shape != metric.anchors.shape:
        return False
    own = np.arange(len(rows))[:, None]
    rounding = 1e-9 * np.abs(metric.anchors).max(axis=0)
    bound = metric.n_features * (metric.relevances() @ np.square(rounding))
    return bool((metric.sq_distances_at(rows, metric.anchors, own)[:, 0] <= bound).all())


def weighted(metric: LocalMetric, cases: Array) -> Array:
    """Return the cases in columns weighted by the mean relevances of the anchors, each scaled to sum to one."""
    return cases * np.sqrt(metric.mean_shares())
