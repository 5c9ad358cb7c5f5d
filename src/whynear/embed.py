"""Cases as points on a plane, further rows among them, and their figure."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state, column_or_1d

from whynear.metric import DiagonalMetric, LocalMetric, Metric
from whynear.metric.projection import principal_directions, turned_up
from whynear.model.as_metric import metric_and_rows
from whynear.model.pipeline import FittedPipeline
from whynear.search import CandidateSearch, NeighborSearch
from whynear.search.exact import AnyMetric, nearest_listed, searchable
from whynear.utils.arrays import Array, Indices
from whynear.utils.axes import CLASS_COLORS, new_axes
from whynear.utils.checks import Seed, choice, number, seed_of, whole
from whynear.utils.text import counted
from whynear.utils.threads import row_blocks

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def embedded_classes(embedding: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[Any], NDArray[np.intp]]:
    """Return the positions, the classes, and for each position the number of its class."""
    points: Array = check_array(embedding, dtype=np.float64, input_name="embedding")
    labels = column_or_1d(y)
    if len(labels) != len(points):
        raise ValueError(f"y must hold one class for each of the {len(points)} points, got {len(labels)} instead.")
    if missing := int(np.count_nonzero(pd.isna(labels))):
        raise ValueError(f"y lacks the class of {counted(missing, 'point. Leave it out', 'points. Leave them out')}.")
    classes, codes = np.unique(labels, return_inverse=True)
    return points, classes, codes


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
    if n_neighbors is None:
        last = getattr(learner_or_metric, "learner", None)
        voting = isinstance(metric, LocalMetric) and not hasattr(last, "prototypes_")
        n_neighbors = getattr(last, "n_neighbors", DEFAULT_NEIGHBORS - 1) + 1 if voting else DEFAULT_NEIGHBORS
    n_neighbors = whole("n_neighbors", n_neighbors, 2)
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


N_NEAREST = 3  # rows of the map between which a further one lies

Coordinates = Callable[[pd.DataFrame], Array]


def place_before(model: Any, X: pd.DataFrame, further: pd.DataFrame) -> Array:
    """Place further rows on the principal plane of X, where ``embed(model, X, method="pca")`` places X."""
    model = FittedPipeline.of_any(model)

    def coordinates(rows: pd.DataFrame) -> Array:
        given, made, _ = metric_and_rows(model, rows)
        return searchable(given).learned_coordinates(made)

    plane = Plane.of(coordinates(X))
    return by_blocks(lambda rows: plane.at(coordinates(rows)), further)


def place_after(model: Any, X: pd.DataFrame, points: Array, further: pd.DataFrame) -> Array:
    """Place further rows on the map of X, whose points are those of ``embed(model, X)``.

    Where one linear map serves all rows, further rows lie where it takes them. Otherwise each lies at the mean of the
    nearest three rows of X, with weights 1 / squared distance: between vectors of distances to prototypes, or, for a
    metric per training case, in columns weighted by mean relevances. Time O(n_further * len(X)).
    """
    model = FittedPipeline.of_any(model)
    given, made, _ = metric_and_rows(model, X)
    metric = searchable(given)

    def rows_of(rows: pd.DataFrame) -> Any:
        return metric_and_rows(model, rows)[1]

    if not isinstance(metric, LocalMetric):
        mapped = metric.map(made)
        plane = Plane.of(mapped) if mapped.shape[1] > 2 else None
        at = on_plane if plane is None else plane.at
        return by_blocks(lambda rows: at(metric.map(rows_of(rows))), further)
    by_prototypes = has_prototypes(model, metric, metric.table(made))

    def coordinates(rows: pd.DataFrame) -> Array:
        table = metric.table(rows_of(rows))
        return np.sqrt(metric.between(table)) if by_prototypes else weighted(metric, table)

    known = coordinates(X)
    search = NeighborSearch(DiagonalMetric(np.ones(known.shape[1])), known)
    return by_blocks(lambda rows: between(search, coordinates(rows), N_NEAREST, points), further)


def by_blocks(place: Coordinates, further: pd.DataFrame) -> Array:
    """Place rows block by block, so that their coordinates are never in memory all at once."""
    found = np.empty((len(further), 2))
    for rows in row_blocks(len(further), row_bytes=64 * (further.shape[1] + 8)):
        found[rows] = place(further.iloc[rows])
    return found


# They distinguish classes in grey print. As 10 colours and 9 markers have no common divisor, 90 classes look different.
MARKERS = ("o", "^", "s", "D", "v", "P", "*", "X", "p")
LEGEND_ROWS = 20


def plot_embedding(embedding: ArrayLike, y: ArrayLike, ax: Axes | None = None, errors: ArrayLike | None = None) -> Axes:
    """Draw an embedding with a colour and a marker for each class.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, 2)
        Positions, as `embed` returns them.
    y : array-like of shape (n_samples,)
        Classes of the points, named in the legend.
    ax : Axes, optional
        Where to draw; a new figure without it.
    errors : array-like of shape (n_samples,) of bool, optional
        Points to mark by a ring, for example ``learner.predict(X) != y``.

    Returns
    -------
    ax : Axes

    Examples
    --------
    >>> ax = plot_embedding([[0.0, 0.0], [1.0, 1.0], [4.0, 4.0]], ["cat", "cat", "dog"], errors=[False, True, False])
    >>> [text.get_text() for text in ax.get_legend().get_texts()][:2]
    ['cat', 'dog']
    """
    from matplotlib.lines import Line2D  # imported when needed, because it takes long

    points, classes, codes = embedded_classes(embedding, y)
    if points.shape[1] != 2:
        raise ValueError(f"embedding must have 2 columns to be drawn, got {points.shape[1]} instead.")
    marked = np.zeros(len(points), dtype=bool) if errors is None else np.asarray(errors)
    if marked.shape != (len(points),) or marked.dtype != bool:
        raise ValueError(
            f"errors must hold True or False for each of the {len(points)} points, "
            f"got shape {marked.shape} of {marked.dtype} instead."
        )
    ax = ax or new_axes(6, 4.5)
    size = float(np.clip(180 / len(points) ** 0.35, 6, 36))
    # Large classes first, so that they do not cover small ones.
    for code in np.argsort(-np.bincount(codes), kind="stable"):
        across, up = points[codes == code].T
        ax.scatter(
            across,
            up,
            s=size,
            c=CLASS_COLORS[code % len(CLASS_COLORS)],
            marker=MARKERS[code % len(MARKERS)],
            edgecolors="white",
            linewidths=0.2,
            alpha=0.85,
            gid=f"class-{code}",
        )
    point = partial(Line2D, [], [], linestyle="")
    looks = zip(classes, cycle(CLASS_COLORS), cycle(MARKERS), strict=False)
    handles = [point(color=color, marker=marker, markersize=6, label=str(name)) for name, color, marker in looks]
    if errors is not None:
        across, up = points[marked].T
        ax.scatter(across, up, s=3 * size, marker="o", edgecolors="black", facecolors="none", linewidths=0.6)
        ring: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 9, "markerfacecolor": "none"}
        handles.append(point(label=f"error ({marked.sum()} of {len(points)})", **ring))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("0.8")
    # Beside the axes, where it covers no point.
    legend = ax.legend(
        handles=handles,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=-(-len(handles) // LEGEND_ROWS),
        frameon=False,
        fontsize="small",
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
    return ax
