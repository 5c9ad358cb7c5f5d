"""Which anchor of a local metric a stored case is."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from whynear.metric import LocalMetric, Metric
from whynear.utils.arrays import Indices

# Of the largest value of a column: far above the rounding to float32, far below any difference that matters.
ROUNDING = 1e-6


class Anchors:
    """Finds cases among the anchors of a local metric, within the rounding of float32.

    Anchors of a Pipeline were scaled there and back, so an anchor equals its case only up to rounding. Columns that no
    map sees do not count. Where several anchors are equal, the first copy of a case is the first of them, and so on.
    """

    def __init__(self, metric: LocalMetric) -> None:
        self.n_anchors = len(metric)
        self.seen = metric.relevances().max(axis=0, initial=0.0) > 0
        points, self.group = np.unique(metric.anchors[:, self.seen], axis=0, return_inverse=True)
        self.group = self.group.ravel()
        peaks = np.abs(points).max(axis=0, initial=0.0)
        self.unit = np.where(peaks > 0, peaks, 1.0)
        self.tree = cKDTree(points / self.unit) if points.size else None

    def strangers(self, cases: NDArray[np.floating]) -> Indices:
        """The rows of cases that are no anchors."""
        return np.flatnonzero(self._groups(cases) < 0)

    def places(self, cases: NDArray[np.floating]) -> Indices:
        """The number of the anchor that each case is; all must be anchors."""
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
        if self.tree is None:  # no map sees anything: every case is any anchor
            return np.zeros(len(cases), dtype=np.intp)
        reach = ROUNDING * (1 + 1e-9)
        distances, found = self.tree.query(
            cases[:, self.seen].astype(np.float64) / self.unit, p=np.inf, distance_upper_bound=reach
        )
        return np.where(np.isfinite(distances), found, -1)


@lru_cache(maxsize=1)
def anchors_of(metric: LocalMetric) -> Anchors:
    """The anchors of a metric, which one batch after the other is looked up in."""
    return Anchors(metric)


def check_measurable(metric: Metric, cases: NDArray[np.floating], label: str, names: Sequence[int] | NDArray) -> None:
    """Refuse cases a metric cannot measure: too large, or no anchors of a local one."""
    metric.table(cases)
    if isinstance(metric, LocalMetric) and (strangers := anchors_of(metric).strangers(cases)).size:
        raise ValueError(
            f"The local metric measures distances to its {len(metric)} anchors only, and {len(strangers)} of "
            f"{len(cases)} cases are none, first {label.format(names[strangers[0]])}. Use the cases it was learned on, "
            "or a metric with one map for all cases."
        )
