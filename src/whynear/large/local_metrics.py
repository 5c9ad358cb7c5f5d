"""LANN by regions of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.large.partitions import ReadTable, computed, items, kept, task
from whynear.learn.lann.fitting import FitSettings, FittedMetrics, LossCurve, fit_local_metrics, train_local
from whynear.learn.lann.training import EXACT_LIST_CASES, Schedule, StepRule, TrainingCases, candidate_lists
from whynear.learn.solvers import Callback
from whynear.metric import DiagonalMetric
from whynear.search import NeighborSearch
from whynear.search.approximate import neighborly_order
from whynear.utils.arrays import Array, Indices

BORDER_SHARE = 0.1  # of the rows of a part that is cut: those nearest to the cut belong to both sides


@dataclass(frozen=True)
class Cut:
    """A part of the space cut at a value of a column; rows between ``low`` and ``high`` are on its border."""

    column: int
    value: float
    low: float
    high: float
    below: Cut | None
    above: Cut | None

    @property
    def n_regions(self) -> int:
        """Number of regions that the part is cut into."""
        return sum(1 if side is None else side.n_regions for side in (self.below, self.above))


def cut_space(sample: Array, depth: int) -> Cut | None:
    """Cut the space of a sample at medians, each time along the column that varies most; None for no cut.

    A part of which the sample shows no two different values is not cut.
    """
    if not depth or len(sample) < 2:
        return None
    column = int(np.argmax(sample.std(axis=0)))
    values = sample[:, column]
    low, value, high = np.quantile(values, [0.5 - BORDER_SHARE / 2, 0.5, 0.5 + BORDER_SHARE / 2])
    below = values < value
    if not below.any():
        return None
    sides = [cut_space(sample[side], depth - 1) for side in (below, ~below)]
    return Cut(column, float(value), float(low), float(high), *sides)


def members(cut: Cut | None, X: Array) -> list[tuple[Indices, NDArray[np.bool_]]]:
    """The rows that each region takes, borders included, and which of these are its own: every row in one region."""
    return list(_members(cut, X, np.arange(len(X)), np.ones(len(X), dtype=bool)))


def _members(
    cut: Cut | None, X: Array, rows: Indices, own: NDArray[np.bool_]
) -> Iterator[tuple[Indices, NDArray[np.bool_]]]:
    if cut is None:
        yield rows, own
        return
    values = X[rows, cut.column]
    below = values < cut.value
    for side, seen, within in ((cut.below, values < cut.high, below), (cut.above, values >= cut.low, ~below)):
        seen = seen | within
        yield from _members(side, X, rows[seen], (own & within)[seen])


REGION_ROWS = 100_000
SAMPLE_ROWS = 30_000  # among which settings and common weights are learned, and by which the space is cut
MEASURED_CASES = 2_000  # whose distance to the k-th neighbour gives the unit


@dataclass(frozen=True)
class Region:
    """The rows that a region takes, in the stretched space, and their places in the table; some are on its border."""

    X: Array
    codes: Indices
    weights: Array
    places: Indices
    own: NDArray[np.bool_]

    def __sizeof__(self) -> int:  # by which Dask decides what to move
        return sum(array.nbytes for array in (self.X, self.codes, self.weights, self.places, self.own))


class RegionalTraining:
    """Fits the metrics of cases that lie in blocks of a table, to which it is given again as gathered arrays.

    ``places`` holds for each block the places of its own classes among all.
    """

    def __init__(self, table: ReadTable, places: list[Indices]) -> None:
        self.table, self.places = table, places

    def __call__(
        self,
        X: Array,
        codes: Indices,
        weights: Array,
        settings: FitSettings,
        *,
        seed: int,
        watch: Callback,
        n_jobs: int | None = None,
    ) -> FittedMetrics:
        """Return what `fit_local_metrics` returns; up to `REGION_ROWS` rows it is that.

        The settings and the common weights are learned from a sample. Then every region learns the metrics of its rows,
        seeing those across its borders too.
        """
        n = len(X)
        how: dict[str, Any] = {"seed": seed, "watch": watch, "n_jobs": n_jobs}
        if n <= REGION_ROWS:
            return fit_local_metrics(X, codes, weights, settings, **how)
        weights = weights / weights.mean()
        some = slice(None, None, -(-n // SAMPLE_ROWS))
        sample = X[some]
        found = fit_local_metrics(sample, codes[some], weights[some], settings, **how)
        depth = int(np.ceil(np.log2(n / REGION_ROWS)))
        class_weights = np.zeros(settings.rule.n_classes)
        class_weights[codes] = weights
        regions = self._regions(cut_space(sample * found.factors, depth), found.factors, class_weights)
        unit = _unit(regions, settings.rule.n_neighbors, seed)
        of_all = {"unit": unit, "start": found.start, "schedule": found.local, "rule": settings.rule, "seed": seed}
        of_all["n_candidates"] = settings.n_candidates
        trained = computed([task(_train, region, **of_all) for region in regions])
        return _joined(replace(found, factors=found.factors / unit), trained, n)

    def _regions(self, cut: Cut | None, factors: Array, class_weights: Array) -> list[Any]:
        """The regions, kept where they are put together from the parts of all blocks."""
        parts, first = [], 0
        for block, summary, places in zip(self.table.blocks, self.table.summaries, self.places, strict=True):
            settings = {"cut": cut, "factors": factors, "first": first, "classes": places, "weights": class_weights}
            parts.append(items(task(_parts, block, **settings), 1 if cut is None else cut.n_regions))
            first += summary.n_rows
        return kept([task(_put_together, list(region)) for region in zip(*parts, strict=True)])


def _parts(
    block: tuple[Any, ...], cut: Cut | None, factors: Array, first: int, classes: Indices, weights: Array
) -> list[Region]:
    X, codes = block[0] * factors, classes[block[1]]
    return [Region(X[rows], codes[rows], weights[codes[rows]], first + rows, own) for rows, own in members(cut, X)]


def _put_together(parts: list[Region]) -> Region:
    names = ("X", "codes", "weights", "places", "own")
    return Region(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def _unit(regions: list[Any], k: int, seed: int) -> float:
    """The typical distance to the k-th neighbour, among those that are not zero, of some cases of each region."""
    each = -(-MEASURED_CASES // len(regions))
    sq = np.concatenate(computed([task(_sq_distances, region, k=k, most=each, seed=seed) for region in regions]))
    return float(np.sqrt(np.median(sq[sq > 0]))) if (sq > 0).any() else 1.0


def _sq_distances(region: Region, k: int, most: int, seed: int) -> Array:
    own = np.flatnonzero(region.own)
    some = np.sort(np.random.default_rng(seed).permutation(own)[:most])
    if not len(some) or len(region.X) <= k:
        return np.empty(0)
    search = NeighborSearch(DiagonalMetric(np.ones(region.X.shape[1])), region.X)
    return search.nearest(region.X[some], k, exclude=some)[0][:, -1]


def _train(
    region: Region, unit: float, start: Array, schedule: Schedule, rule: StepRule, n_candidates: int, seed: int
) -> tuple[Indices, Array, float, list[float]]:
    """The places of the region's own rows, their metrics, the recall of the lists, and the losses of the epochs."""
    n = len(region.X)
    order = neighborly_order(region.X, seed) if n > EXACT_LIST_CASES else np.arange(n)
    own, X = region.own[order], (region.X[order] - region.X.mean(axis=0)) / unit
    if n <= rule.n_neighbors:
        return region.places[region.own], np.repeat(start[None], int(own.sum()), axis=0), 1.0, []
    lists = candidate_lists(X, n_candidates, seed, n_jobs=1)
    cases, curve = TrainingCases(X, region.codes[order], region.weights[order], lists), LossCurve(lambda _step: None)
    lam, recall = train_local(cases, start, schedule, rule, seed, curve)
    return region.places[order][own], lam[own], recall, curve.losses


def _joined(fitted: FittedMetrics, trained: list[tuple[Indices, Array, float, list[float]]], n: int) -> FittedMetrics:
    """The metrics of all cases in the order of the table; recall and losses are means over rows."""
    lam = np.empty((n, *fitted.start.shape))
    shares = np.array([len(places) for places, *_ in trained]) / n
    for places, part, *_ in trained:
        lam[places] = part
    recall = float(shares @ [recall for *_, recall, _ in trained])
    shared = fitted.loss_curve[: fitted.shared.epochs or 0]
    n_epochs = max((len(losses) for *_, losses in trained), default=0)
    local = [
        float(sum(share * losses[epoch] for share, (*_, losses) in zip(shares, trained, strict=True) if losses))
        for epoch in range(n_epochs)
    ]
    return replace(fitted, lam=lam, recall=recall, loss_curve=shared + local)
