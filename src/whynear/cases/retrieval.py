"""Retrieved cases, and retrieval in two phases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.cases.inputs import RowEncoding
from whynear.metric import LocalMetric, Metric
from whynear.model.unusual import UnusualValue
from whynear.utils import html
from whynear.utils.arrays import Array
from whynear.utils.text import counted

MOST_FEATURES_NAMED = 2  # of each case, in a notebook
LEAST_SHARE_NAMED = 0.001  # of the largest squared distance found


@dataclass(frozen=True, eq=False)
class Cases:
    """Stored cases.

    Attributes
    ----------
    X : DataFrame
        Their vectors, one row per case, in the features of the metric; the index holds the ids.
    payloads : list of dict
        What was stored with each of them.
    rows : list of int or str
        The names of their rows in the table that was added; the ids of cases without names.
    """

    X: pd.DataFrame
    payloads: list[dict[str, Any]]
    rows: list[Any]

    @property
    def ids(self) -> NDArray[np.int64]:
        """The ids of the cases."""
        return self.X.index.to_numpy()

    def __len__(self) -> int:
        return len(self.X)


@dataclass(frozen=True, eq=False)
class Retrieval:
    """The cases found for a query, best first.

    Attributes
    ----------
    ids : ndarray of shape (k,)
        The cases found.
    rows : list of int or str
        The names of their rows in the table that was added; the ids of cases without names.
    payloads : list of dict
        What was stored with each of them.
    sq_distances : ndarray of shape (k,)
        Squared distances from the query under the metric: the score of the filter, smaller is nearer.
    similarities : ndarray of shape (k,) or None
        Their similarities from the re-ranking, larger is better; None without one.
    n_filtered : int
        How many cases passed the filter.
    filter_seconds, rerank_seconds : float
        Time taken by the two phases; the second is zero without re-ranking.
    contributions : DataFrame or None
        What each column of a case adds to the squared distance, one row per case found; None unless requested.
    unusual : tuple of UnusualValue
        The values of the query that the encoder of the base filled in, and categories that it was not fitted to.

    Examples
    --------
    >>> from whynear import CaseBase, DiagonalMetric
    >>> with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], ["width", "height"])) as base:
    ...     ids = base.add([[0, 0], [1, 1], [3, 0]], [{"name": "a"}, {"name": "b"}, {"name": "c"}])
    ...     found = base.retrieve([1, 0], k=2, explain=True)
    >>> [payload["name"] for payload in found.payloads], found.sq_distances.tolist()
    (['a', 'b'], [1.0, 4.0])
    >>> found.contributions["height"].to_dict()  # by the ids of the cases
    {1: 0.0, 2: 4.0}
    """

    ids: NDArray[np.int64]
    rows: list[Any]
    payloads: list[dict[str, Any]]
    sq_distances: Array
    similarities: Array | None
    n_filtered: int
    filter_seconds: float
    rerank_seconds: float
    contributions: pd.DataFrame | None = None
    unusual: tuple[UnusualValue, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)

    def frame(self) -> pd.DataFrame:
        """Return one row per case found, best first: id, row, squared distance, similarity if re-ranked, payload."""
        rows = pd.Series(self.rows, dtype=object)
        columns: dict[str, Any] = {"id": self.ids, "row": rows, "sq_distance": self.sq_distances}
        if self.similarities is not None:
            columns["similarity"] = self.similarities
        return pd.DataFrame({**columns, "payload": pd.Series(self.payloads, dtype=object)})

    def to_dict(self) -> dict[str, Any]:
        """Return everything in types that JSON has."""
        columns = {"id": self.ids.tolist(), "row": self.rows, "sq_distance": self.sq_distances.tolist()}
        if self.similarities is not None:
            columns["similarity"] = self.similarities.tolist()
        columns["payload"] = self.payloads
        if self.contributions is not None:
            columns["contributions"] = [parts.to_dict() for _, parts in self.contributions.iterrows()]
        cases = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        return {
            "cases": cases,
            "n_filtered": self.n_filtered,
            "filter_seconds": self.filter_seconds,
            "rerank_seconds": self.rerank_seconds,
            "unusual": [value.to_dict() for value in self.unusual],
        }

    def _repr_html_(self) -> str:
        shown, farthest = self.frame().head(html.MOST_ROWS), (0.0, float(self.sq_distances.max(initial=0.0)))
        sq_distances = html.rounded(shown["sq_distance"])
        columns: dict[str, Any] = {
            "row": map(str, shown["row"]),
            "squared distance": [html.bar(0.0, sq, farthest) for sq in sq_distances],
            "": sq_distances,
            **({"similarity": shown["similarity"]} if "similarity" in shown else {}),
            "payload": [_in_one_line(payload, ": ") for payload in shown["payload"]],
        }
        if self.contributions is not None:
            first = self.contributions.head(html.MOST_ROWS)
            rows = (row[row > LEAST_SHARE_NAMED * farthest[1]] for _, row in first.iterrows())
            most = [row.nlargest(MOST_FEATURES_NAMED).map("{:.2g}".format) for row in rows]
            columns["differs most in"] = [_in_one_line(part, " ") for part in most]
        reranked = "" if self.similarities is None else f", re-ranked out of the {self.n_filtered:,} nearest"
        more = html.more_of(len(self), len(shown), "case")
        table = html.table(list(columns), zip(*columns.values(), strict=True), more)
        caution = f"Caution, the query rests on {' and on '.join(map(str, self.unusual))}." if self.unusual else ""
        return html.block(html.heading(f"Retrieval({counted(len(self), 'case')}{reranked})"), table, caution)


def _in_one_line(entries: Any, between: str) -> str:
    return html.text(", ".join(f"{name}{between}{value}" for name, value in entries.items()), most=80)


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
        parts = [metric[place].contributions(query, metric.anchors[place]) for place in filtered.places[order]]
    else:
        parts = [metric.contributions(query, case) for case in cases.to_numpy()]
    frame = pd.DataFrame(np.reshape(parts, cases.shape), index=cases.index, columns=cases.columns)
    return frame if filtered.encoding is None else filtered.encoding.summed(frame)
