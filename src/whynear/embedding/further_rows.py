"""Further rows on the map of some rows, without laying out all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from whynear.embedding.embed import has_prototypes, weighted
from whynear.embedding.layout import Plane, between, on_plane
from whynear.metric import DiagonalMetric, LocalMetric
from whynear.metric.as_metric import metric_and_rows
from whynear.metric.pipeline import FittedPipeline
from whynear.search import NeighborSearch
from whynear.search.exact import searchable
from whynear.utils.arrays import Array
from whynear.utils.threads import row_blocks

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
        return by_blocks(lambda rows: _at(plane, metric.map(rows_of(rows))), further)
    by_prototypes = has_prototypes(model, metric, metric.table(made))

    def coordinates(rows: pd.DataFrame) -> Array:
        table = metric.table(rows_of(rows))
        return np.sqrt(metric.between(table)) if by_prototypes else weighted(metric, table)

    known = coordinates(X)
    search = NeighborSearch(DiagonalMetric(np.ones(known.shape[1])), known)
    return by_blocks(lambda rows: between(search, coordinates(rows), N_NEAREST, points), further)


def _at(plane: Plane | None, mapped: Array) -> Array:
    return on_plane(mapped) if plane is None else plane.at(mapped)


def by_blocks(place: Coordinates, further: pd.DataFrame) -> Array:
    """Place rows block by block, so that their coordinates are never in memory all at once."""
    found = np.empty((len(further), 2))
    for rows in row_blocks(len(further), row_bytes=64 * (further.shape[1] + 8)):
        found[rows] = place(further.iloc[rows])
    return found
