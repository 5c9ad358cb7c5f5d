"""Cells of Gopal and Ioerger: ranks of matches with equal weights and with learned weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from papers.computations import Result
from whynear import ranking
from whynear.datasets import load, make_casebase
from whynear.learn.registry import LEARNERS
from whynear.learn.slider.estimator import Slider
from whynear.metric import DiagonalMetric, Metric, MinkowskiMetric
from whynear.model.as_metric import as_metric
from whynear.search import NeighborSearch
from whynear.utils.arrays import Array


def measures(dataset: str, number: int, queries: int, neighbors: int, mismatches: int, **learning: Any) -> Result:
    """The measures on one test set, with weights learned without its queries."""
    data = load(dataset)
    X, y = data.X.to_numpy(dtype=float), np.asarray(data.y)
    order = np.random.default_rng(number).permutation(len(X))
    query_rows, others = order[:queries], np.sort(order[queries:])
    learned = Slider(random_state=number, **learning).fit(X[others], y[others]).metric_
    metrics = {"Euclidean": DiagonalMetric(np.ones(X.shape[1])), "Slider": learned}
    found = {name: _measures(metric, X, y, query_rows, neighbors, mismatches) for name, metric in metrics.items()}
    return {measure: {name: found[name][measure] for name in metrics} for measure in found["Slider"]}


def _measures(
    metric: Metric, X: Array, y: NDArray[np.int64], query_rows: NDArray[np.intp], neighbors: int, mismatches: int
) -> dict[str, float]:
    base: dict[str, Any] = {"X": X[query_rows], "y": y[query_rows], "base": X, "base_y": y, "exclude": query_rows}
    _, nearest = NeighborSearch(metric, X).nearest(X[query_rows], neighbors, exclude=query_rows)
    votes = np.array([np.bincount(row).argmax() for row in y[nearest]])
    return {
        "1-NN accuracy, %": 100 * float(np.mean(y[nearest[:, 0]] == y[query_rows])),
        "rank among 10": ranking.mean_rank(metric, **base),
        "matches in the nearest tenth": ranking.match_share(metric, **base),
        "matches in the whole base": ranking.match_share(metric, **base, nearest=1.0),
        f"{neighbors}-NN accuracy, %": 100 * float(np.mean(votes == y[query_rows])),
        f"rank among {mismatches}": ranking.mean_rank(metric, **base, n_mismatches=mismatches),
    }


def matches_found(seed: int, p: int, casebase: Mapping[str, Any], learning: Mapping[str, Any]) -> Result:
    """The matches found at each tolerance, with equal weights, equal weights of z-scores, and Slider."""
    base = _CaseBase(seed, **casebase)
    spread = base.X[base.others].std(axis=0)
    metrics = {
        "equal weights": MinkowskiMetric(np.ones(base.X.shape[1]), p),
        "equal weights, z-scores": MinkowskiMetric(spread**-p, p),
        "Slider": base.fit(Slider(p=p, random_state=seed, **learning)),
    }
    counts = {name: base.counts(metric) for name, metric in metrics.items()}
    found = {name: count.found.mean(axis=1) for name, count in counts.items()}
    return found | {"existing matches": counts["Slider"].total.mean(axis=1)}


def rank_and_matches(
    seed: int, method: str, columns: str, casebase: Mapping[str, Any], learning: Mapping[str, Any]
) -> Result:
    """The mean rank of a match among 100 mismatches, and the matches found at one tolerance."""
    base = _CaseBase(seed, **casebase)
    is_scaled = columns == "z-scores"
    if method == "equal weights":
        spread = base.X[base.others].std(axis=0) if is_scaled else np.ones(base.X.shape[1])
        metric: Metric = DiagonalMetric(spread**-2.0)
    else:
        learner = LEARNERS[method.lower()](random_state=seed, **learning)
        metric = base.fit(make_pipeline(StandardScaler(), learner) if is_scaled else learner)
    return {"rank among 100": base.rank(metric), "matches found": float(base.counts(metric).found.mean(axis=1)[0])}


class _CaseBase:
    """A generated case base, split into queries and training cases."""

    def __init__(self, seed: int, cases: int, columns: int, queries: int, nearest: int, tolerances: Sequence[float]):
        data = make_casebase(cases, columns, random_state=seed)
        self.X, self.y, self.similarity = data.X.to_numpy(), data.y, _cached(data.similarity)
        order = np.random.default_rng(seed).permutation(len(self.X))
        self.queries, self.others = order[:queries], np.sort(order[queries:])
        self.nearest, self.tolerances = nearest, list(tolerances)

    def fit(self, learner: Any) -> Metric:
        return as_metric(learner.fit(self.X[self.others], self.y[self.others]))

    def counts(self, metric: Metric) -> Any:
        return ranking.matches_at(
            metric, self.X, self.queries, self.similarity, k=self.nearest, tolerance=self.tolerances
        )

    def rank(self, metric: Metric) -> float:
        base: dict[str, Any] = {"base": self.X, "base_y": self.y, "exclude": self.queries}
        return ranking.mean_rank(metric, self.X[self.queries], self.y[self.queries], **base, n_mismatches=100)


def _cached(similarity: Callable[..., Array]) -> Callable[..., NDArray[np.float32]]:
    """Keep the similarities of each query, which are the same for every metric."""

    @cache
    def of_query(i: int, n: int) -> NDArray[np.float32]:
        return similarity(i, np.delete(np.arange(n), i)).astype(np.float32)

    return lambda i, others: of_query(i, len(others) + 1)
