"""Stored cases matched to the anchors of a local metric."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from whynear.metric import LocalMetric, Metric
from whynear.utils.arrays import Indices

# In units of the largest value of a column: far above the rounding to float32, far below any difference that matters.
LARGEST_ROUNDING = 1e-6


class Anchors:
    """Finds cases among the anchors of a local metric, within the rounding of float32.

    Anchors of a Pipeline were scaled and scaled back, so an anchor equals its case only up to rounding. Columns with
    weight zero in all maps are ignored. Of equal anchors the first is matched to the first copy of a case, and so on.
    """

    def __init__(self, metric: LocalMetric) -> None:
        self.n_anchors = len(metric)
        self.seen = metric.relevances().max(axis=0, initial=0.0) > 0
        points, self.group = np.unique(metric.anchors[:, self.seen], axis=0, return_inverse=True)
        self.group = self.group.ravel()
        peaks = np.abs(points).max(axis=0, initial=0.0)
        self.unit = np.where(peaks > 0, peaks, 1.0)
        self.tree = cKDTree(points / self.unit) if points.size else None

    def not_anchors(self, cases: NDArray[np.floating]) -> Indices:
        """Return the rows of cases that are no anchors."""
        return np.flatnonzero(self._groups(cases) < 0)

    def places(self, cases: NDArray[np.floating]) -> Indices:
        """Return the number of the anchor of each case; all cases must be anchors."""
        groups = self._groups(cases)
        members = np.argsort(self.group, kind="stable")
        sizes = np.bincount(self.group)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(groups, kind="stable")
        sorted_groups = groups[order]
        copy = np.arange(len(groups)) - np.searchsorted(sorted_groups, sorted_groups)
        places = np.empty(len(groups), dtype=np.intp)
        places[order] = members[starts[sorted_groups] + copy % sizes[sorted_groups]]
        return places

    def _groups(self, cases: NDArray[np.floating]) -> Indices:
        if self.tree is None:  # all weights are zero: every case equals every anchor
            return np.zeros(len(cases), dtype=np.intp)
        reach = LARGEST_ROUNDING * (1 + 1e-9)
        distances, found = self.tree.query(
            cases[:, self.seen].astype(np.float64) / self.unit, p=np.inf, distance_upper_bound=reach
        )
        return np.where(np.isfinite(distances), found, -1)


@lru_cache(maxsize=1)
def anchors_of(metric: LocalMetric) -> Anchors:
    """Return the anchors of a metric; the last one is cached, because cases come in batches."""
    return Anchors(metric)


def check_measurable(metric: Metric, cases: NDArray[np.floating], label: str, names: Sequence[int] | Indices) -> None:
    """Refuse cases that a metric cannot measure: too large, or no anchors of a local metric."""
    metric.table(cases)
    if isinstance(metric, LocalMetric) and (others := anchors_of(metric).not_anchors(cases)).size:
        raise ValueError(
            f"The local metric measures distances to its {len(metric)} anchors only, and {len(others)} of "
            f"{len(cases)} cases are no anchors, first {label.format(names[others[0]])}. Use the cases it was learned "
            "on, or a metric with one map for all cases."
        )
