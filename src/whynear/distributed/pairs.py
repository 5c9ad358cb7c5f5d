"""The searches of large margin nearest neighbours on the workers of a Dask cluster."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.distributed.partitions import computed, kept, n_workers, shared, task
from whynear.learn.blocks import summed
from whynear.learn.lmnn.objective import Band, Impostors, Margins, empty_buffers, loss_grad
from whynear.learn.lmnn.pair_search import LossOfMap, PairSearch
from whynear.metric import DiagonalMetric
from whynear.search import NeighborSearch
from whynear.utils.arrays import Array

LEAST_BANDS = 2
TARGET_TASKS_PER_WORKER = 4


class RemotePairs(PairSearch):
    """Searches in bands of rows against all rows, one task for each band; every worker has all rows."""

    def __init__(self) -> None:
        self.n_bands = max(LEAST_BANDS, n_workers())

    def targets(
        self, X: Array, codes: NDArray[np.intp], n_neighbors: int, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return the nearest other cases of the same class, found by parts of each class."""
        found = np.full((len(X), n_neighbors), -1, dtype=np.int32)
        ends = np.cumsum(np.bincount(codes))
        rows, tasks, places = shared(X), [], []
        part = -(-len(X) // (self.n_bands * TARGET_TASKS_PER_WORKER))
        for start, stop in zip((ends - np.bincount(codes)).tolist(), ends.tolist(), strict=True):
            k = min(n_neighbors, stop - start - 1)
            for first in range(start, stop, part) if k > 0 else ():
                last = min(first + part, stop)
                places.append((slice(first, last), k))
                tasks.append(task(_targets, rows, start=start, stop=stop, first=first, last=last, k=k, n_jobs=n_jobs))
        for (some, k), targets in zip(places, computed(tasks), strict=True):
            found[some, :k] = targets
        return found

    def loss_near(self, problem: Margins, omega: Array, slack: float) -> LossOfMap:
        """Return the loss over the impostors found at a map, which stay where they were found."""
        data = shared(problem)
        bands = [(i, self.n_bands) for i in range(self.n_bands)]
        found = kept([task(_impostors, data, omega=omega, slack=slack, band=band) for band in bands])

        def loss_of(at: Array) -> tuple[float, Array]:
            tasks = [task(_loss_of_band, band, omega=at, draw=place == 0) for place, band in enumerate(found)]
            total: tuple[float, Array] = summed(computed(tasks))
            return total

        return loss_of


def _targets(X: Array, start: int, stop: int, first: int, last: int, k: int, n_jobs: int | None) -> Any:
    search = NeighborSearch(DiagonalMetric(np.ones(X.shape[1])), X[start:stop], n_jobs=n_jobs)
    return start + search.nearest(X[first:last], k, exclude=np.arange(first - start, last - start))[1]


def _impostors(problem: Margins, omega: Array, slack: float, band: Band) -> Impostors:
    return Impostors(omega, problem, slack, band=band)


def _loss_of_band(impostors: Impostors, omega: Array, draw: bool) -> tuple[float, Array]:
    problem = impostors.problem
    return loss_grad(omega, problem, impostors.at(omega), empty_buffers(omega, problem), draw=draw)
