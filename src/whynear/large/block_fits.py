"""Learners whose costs are sums over blocks and pairs of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from whynear.large.partitions import (
    ReadTable,
    Summary,
    computed,
    computed_where_kept,
    groups_where_kept,
    items,
    kept,
    n_workers,
    shared,
    task,
)
from whynear.learn.blocks import Blocks, Cases, parts_of, summed
from whynear.learn.inputs import ClassWeight, Labelled, check_classes, class_factors, row_keys, warn_of_constant_columns
from whynear.learn.lmnn.large_margin import LossOfMap, PairSearch
from whynear.learn.lmnn.objective import Band, Impostors, Margins, empty_buffers, loss_grad
from whynear.metric import DiagonalMetric
from whynear.search import NeighborSearch
from whynear.utils.arrays import Array, Indices

Result = TypeVar("Result")
Change = Callable[[Array], Array]

KEYS_AT_ONCE = 4_000_000  # that one task compares
SAMPLE_ERRORS = 6.0  # standard errors by which more rows are fetched than a sample needs


@dataclass(frozen=True)
class StoredCases:
    """A block as it is stored; its rows become float64 in the coordinates of a fit when they are read."""

    X: NDArray[Any]
    codes: NDArray[Any]
    places: Indices  # of the block's own classes among all
    class_weights: Array
    changes: tuple[Change, ...]

    @property
    def n_rows(self) -> int:
        """Number of cases."""
        return len(self.X)

    def some(self, rows: slice) -> Cases:
        """Return some of the cases."""
        X, codes = np.asarray(self.X[rows], dtype=np.float64), self.places[self.codes[rows]]
        for change in self.changes:
            X = change(X)
        return Cases(X, codes, self.class_weights[codes])


@dataclass(frozen=True)
class RemoteBlocks(Blocks):
    """Blocks of a table that was read by Dask."""

    stored: list[Any]
    places: list[Indices]
    class_weights: Array
    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, learner: Any, table: ReadTable, class_weight: ClassWeight) -> Self:
        """The checked rows of a table with classes; a row counts by the weight of its class."""
        classes, places = classes_of(learner, table)
        counts = np.zeros(len(classes))
        for place, summary in zip(places, table.summaries, strict=True):
            counts[place] += summary.counts
        factors = class_factors(class_weight, classes, counts)
        found = cls(
            classes=classes,
            feature_names=table.names,
            input_range=table.input_range,
            total_weight=float(factors @ counts),
            class_rows=counts.astype(np.intp),
            n_features=table.input_range.shape[1],
            stored=table.blocks,
            places=places,
            class_weights=factors / float(factors @ counts),
        )
        warn_of_constant_columns(found.feature_names, found.varying)
        return replace(found, class_rows=found._different_rows())

    def map(self, work: Callable[..., Result], *args: Any) -> list[Result]:
        """Return ``work(block, *args)`` of every block, in their order."""
        return computed_where_kept(_on_block, self.stored, self._settings(work, *args))

    def moved(self, change: Change, n_features: int) -> Self:
        """Return the same blocks, whose rows are changed whenever they are read."""
        return replace(self, changes=(*self.changes, change), n_features=n_features)

    def samples(self, most: int) -> Cases:
        """Return the rows of every class with the smallest keys, equal ones as one; see `Labelled.distinct`."""
        wanted = np.minimum(1.0, (most + SAMPLE_ERRORS * np.sqrt(most) + 10) / np.maximum(self.class_rows, 1))
        raw = replace(self, changes=())
        found = [part for part in raw.map(_with_small_keys, wanted * 2.0**64, most) if len(part[0])]
        keys = np.concatenate([part[0] for part in found])
        X = np.concatenate([part[1] for part in found])
        codes, weights = (np.concatenate([part[i] for part in found]) for i in (2, 3))
        keys, X, codes, weights = _different(keys, X, codes, weights)
        rows = np.sort(np.concatenate([np.flatnonzero(codes == c)[:most] for c in range(len(self.classes))]))
        X = X[rows]
        for change in self.changes:
            X = change(X)
        return Cases(X, codes[rows], weights[rows])

    def _settings(self, work: Callable[..., Any], *args: Any) -> list[dict[str, Any]]:
        return [
            {"work": work, "args": args, "settings": (places, self.class_weights, self.changes)}
            for places in self.places
        ]

    def _different_rows(self) -> Indices:
        """Count the different rows of each class; rows whose keys are near in size are compared in one task.

        What one thread of a worker has becomes one list of keys: tasks grow with workers, not with partitions.
        """
        n_ranges = -(-int(self.class_rows.sum()) // KEYS_AT_ONCE)
        settings = self._settings(_keys_in_ranges, n_ranges)
        keys = [
            items(
                task(_keys_of_several, [self.stored[i] for i in some], settings=[settings[i] for i in some]), n_ranges
            )
            for some in groups_where_kept(self.stored)
        ]
        counts = [task(_count_different, list(part), n_classes=len(self.classes)) for part in zip(*keys, strict=True)]
        return np.sum(computed(counts), axis=0)


def labelled(learner: Any, table: ReadTable) -> Labelled:
    """The rows of a table with classes gathered here, for learners that keep them all."""
    classes, places = classes_of(learner, table)
    X, codes = table.gathered()
    lengths = [summary.n_rows for summary in table.summaries]
    parts = np.split(codes, np.cumsum(lengths)[:-1])
    known = np.concatenate([place[part] for place, part in zip(places, parts, strict=True)])
    data = Labelled(X, known, classes, table.names, np.ones(len(X)), table.row_names())
    warn_of_constant_columns(data.feature_names, data.varying)
    return data


def classes_of(learner: Any, table: ReadTable) -> tuple[NDArray[Any], list[Indices]]:
    """All classes, and the places of each block's own among them."""
    classes = np.unique(np.concatenate([s.labels for s in table.summaries if s.n_rows]))
    check_classes(learner, classes)
    return classes, [
        np.searchsorted(classes, s.labels) if s.n_rows else np.empty(0, dtype=np.intp) for s in table.summaries
    ]


def _on_block(
    stored: tuple[NDArray[Any], NDArray[Any], Summary], work: Callable[..., Any], args: tuple[Any, ...], settings: Any
) -> Any:
    X, codes, _ = stored
    return work(StoredCases(X, codes, *settings), *args)


def _keys_in_ranges(block: StoredCases, n_ranges: int) -> list[tuple[NDArray[np.uint64], NDArray[Any]]]:
    """The keys of the rows in equal ranges of their size, sorted and each once, with the classes of the rows."""
    found = [(row_keys(part.X, part.codes), part.codes) for part in parts_of(block, block.X.shape[1])]
    keys = np.concatenate([np.empty(0, dtype=np.uint64), *(part[0] for part in found)])
    codes = np.concatenate([np.empty(0, dtype=np.intp), *(part[1] for part in found)])
    keys, first = np.unique(keys, return_index=True)
    small = codes[first].astype(np.min_scalar_type(len(block.class_weights)))
    ends = np.searchsorted(keys, [round(2**64 * i / n_ranges) for i in range(1, n_ranges)])
    return list(zip(np.split(keys, ends), np.split(small, ends), strict=True))


def _count_different(parts: list[tuple[NDArray[np.uint64], NDArray[Any]]], n_classes: int) -> Indices:
    return np.bincount(_each_once(parts)[1], minlength=n_classes)


def _keys_of_several(
    stored: list[Any], settings: list[dict[str, Any]]
) -> list[tuple[NDArray[np.uint64], NDArray[Any]]]:
    """The keys of several blocks in the same ranges."""
    found = [_on_block(block, **own) for block, own in zip(stored, settings, strict=True)]
    return [_each_once(list(parts)) for parts in zip(*found, strict=True)]


def _each_once(parts: list[tuple[NDArray[np.uint64], NDArray[Any]]]) -> tuple[NDArray[np.uint64], NDArray[Any]]:
    """All keys in order, each once, with the classes of their rows."""
    keys, codes = (np.concatenate(column) for column in zip(*parts, strict=True))
    keys, first = np.unique(keys, return_index=True)
    return keys, codes[first]


def _with_small_keys(block: StoredCases, below: Array, most: int) -> tuple[NDArray[np.uint64], Array, Indices, Array]:
    """Rows whose key is below the bound of their class, equal ones as one; at most so many of each class."""
    found = []
    for X, codes, weights in parts_of(block, block.X.shape[1]):
        keys = row_keys(X, codes)
        small = keys.astype(np.float64) < below[codes]
        found.append((keys[small], X[small], codes[small], weights[small]))
    if not found:
        d = block.X.shape[1]
        return np.empty(0, np.uint64), np.empty((0, d)), np.empty(0, np.intp), np.empty(0)
    keys, X, codes, weights = _different(*(np.concatenate(column) for column in zip(*found, strict=True)))
    rows = np.concatenate([np.flatnonzero(codes == c)[:most] for c in range(len(below))])
    return keys[rows], X[rows], codes[rows], weights[rows]


def _different(
    keys: NDArray[np.uint64], X: Array, codes: Indices, weights: Array
) -> tuple[NDArray[np.uint64], Array, Indices, Array]:
    """Rows in the order of their keys, equal ones as one that weighs as much as all of them."""
    keys, first, group = np.unique(keys, return_index=True, return_inverse=True)
    return keys, X[first], codes[first], np.bincount(group, weights, minlength=len(first)).astype(np.float64)


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
