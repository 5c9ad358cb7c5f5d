"""The second phase of a retrieval: the filtered cases are re-ranked, cut to the k best and explained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.cases.encoding import RowEncoding
from whynear.cases.retrieval import Cases, Retrieval
from whynear.metric import LocalMetric, Metric
from whynear.utils.arrays import Array

Rerank = Callable[[pd.Series, pd.DataFrame, list[dict[str, Any]]], ArrayLike]


@dataclass(frozen=True, eq=False)
class Filtered:
    """A query, its nearest cases under a metric, nearest first, their anchors under a local metric, their encoder."""

    query: pd.Series
    cases: Cases
    sq_distances: Array
    metric: Metric
    places: NDArray[np.intp] | None
    seconds: float
    encoding: RowEncoding | None = None


def answer(filtered: Filtered, k: int, rerank: Rerank | None, explain: bool) -> Retrieval:
    """Return the k most similar of the filtered cases; without ``rerank`` the k nearest."""
    start = perf_counter()
    order, similarities = np.arange(min(k, len(filtered.cases))), None
    if rerank is not None:
        scores = _checked_scores(rerank(filtered.query, filtered.cases.X, filtered.cases.payloads), len(filtered.cases))
        order = np.argsort(-scores, kind="stable")[:k]  # equally similar ones stay in the order of distance
        similarities = scores[order]
    seconds = perf_counter() - start
    return Retrieval(
        ids=filtered.cases.ids[order],
        rows=[filtered.cases.rows[place] for place in order],
        payloads=[filtered.cases.payloads[place] for place in order],
        sq_distances=filtered.sq_distances[order],
        similarities=similarities,
        n_filtered=len(filtered.cases),
        filter_seconds=filtered.seconds,
        rerank_seconds=0.0 if rerank is None else seconds,
        contributions=_contributions(filtered, order) if explain else None,
    )


def _checked_scores(scores: ArrayLike, n_cases: int) -> Array:
    similarities = np.array(scores, dtype=np.float64)
    if similarities.shape != (n_cases,) or not np.isfinite(similarities).all():
        raise ValueError(
            f"rerank must return one finite similarity for each of the {n_cases} cases, "
            f"got shape {similarities.shape} with {np.count_nonzero(~np.isfinite(similarities))} not finite instead."
        )
    return similarities


def _contributions(filtered: Filtered, order: NDArray[np.intp]) -> pd.DataFrame:
    """Return what each feature adds to the squared distance of each case; of encoded cases each column of the table."""
    metric, cases = filtered.metric, filtered.cases.X.iloc[order]
    query = filtered.query.to_numpy()
    if isinstance(metric, LocalMetric) and filtered.places is not None:
        # by number, because equal anchors may have different maps
        chosen = filtered.places[order]
        parts = [metric[place].contributions(query, metric.anchors[place]) for place in chosen]
    else:
        parts = [metric.contributions(query, case) for case in cases.to_numpy()]
    frame = pd.DataFrame(np.reshape(parts, cases.shape), index=cases.index, columns=cases.columns)
    return frame if filtered.encoding is None else filtered.encoding.summed(frame)
