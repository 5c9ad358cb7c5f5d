"""Cases that are marked as like a query or not: triples, the weights learned from them, and ranks before and after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import whynear as wn
from whynear.metric import DiagonalMetric, LocalMetric, Metric
from whynear.model.as_metric import as_metric
from whynear.studio.live import Live, Triple
from whynear.studio.models import Found, Kept, Ranking
from whynear.studio.store import Refused
from whynear.utils.arrays import Array, Indices, plain_values

CASE_BASE = "marked.cases"
NO_TRIPLES = "There is nothing to learn from yet: mark one case as like the query, and one as unlike it."
Marked = Sequence[tuple[Any, Any, bool]]  # query, found case, whether they are alike


def triples_of(marks: Marked) -> list[tuple[Any, Any, Any]]:
    """Return (query, a case like it, a case unlike it) for every pair of marks of a query.

    >>> triples_of([(1, 2, True), (1, 3, False), (1, 4, False), (5, 6, True)])
    [(1, 2, 3), (1, 2, 4)]
    """
    queries = dict.fromkeys(query for query, _, _ in marks)
    return [
        (query, alike, unlike)
        for query in queries
        for alike in (found for asked, found, is_alike in marks if asked == query and is_alike)
        for unlike in (found for asked, found, is_alike in marks if asked == query and not is_alike)
    ]


def places_of_triples(live: Live, marks: Marked) -> list[Triple]:
    """Return the triples of marks as places of rows."""
    return [(live.place_of(one), live.place_of(two), live.place_of(three)) for one, two, three in triples_of(marks)]


def ranking(live: Live, marks: Marked, query: int | str, k: int = 10) -> Ranking:
    """Return the rows nearest to a query by the metric of the study, and their ranks by the one learned from marks."""
    if not 1 <= k <= len(live.row_names) - 1:
        raise Refused(f"k must be from 1 to {len(live.row_names) - 1}, got {k} instead.")
    triples = places_of_triples(live, marks)
    before, learned = study_metric(live), learned_metric(live, tuple(triples))
    of_study = _sq_distances(live, before, query)
    now = of_study if learned is None else _sq_distances(live, learned, query)
    ranks, new_ranks = _ranks(of_study), _ranks(now)
    own = {live.place_of(found): alike for asked, found, alike in marks if asked == query}
    shown = dict.fromkeys([*np.argsort(now, kind="stable")[:k].tolist(), *own])
    here = live.place_of(query)
    return Ranking(
        query=query,
        values=live.shown_values(live.problem.X.iloc[[here]]),
        label=plain_values(live.problem.y[here]),
        found=[
            Found(
                row=live.row_names[place],
                label=plain_values(live.problem.y[place]),
                distance=float(np.sqrt(now[place])),
                rank_before=int(ranks[place]),
                rank_after=None if learned is None else int(new_ranks[place]),
                alike=own.get(place),
                values=live.shown_values(live.problem.X.iloc[[place]]),
            )
            for place in shown
        ],
        marks=len(marks),
        triples=len(triples),
        agreeing_before=_agreeing(live, before, triples),
        agreeing_after=None if learned is None else _agreeing(live, learned, triples),
        weights=None if learned is None else _weights(live, learned),
        kept=learned is not None and _is_kept(live, learned),
    )


def keep(live: Live, marks: Marked) -> Kept:
    """Save all rows as a case base under the metric learned from the marks; one that exists gets the new metric."""
    learned = learned_metric(live, tuple(places_of_triples(live, marks)))
    if learned is None:
        raise Refused(NO_TRIPLES)
    path = live.folder.parent / CASE_BASE
    with wn.CaseBase(path, learned) as base:
        if not len(base):
            base.add(live.numbers, [{live.target: plain_values(label)} for label in live.problem.y])
        n_cases = len(base)
    code = f"import whynear as wn\n\nwith wn.CaseBase({str(path)!r}) as base:\n    print(base.like(1, k=5).frame())"
    return Kept(file=str(path), cases=n_cases, python=code)


def study_metric(live: Live) -> Metric:
    """Return the metric of a study for the columns made of its table; of local metrics the mean weights."""
    metric = as_metric(live.model)
    if not isinstance(metric, LocalMetric):
        return metric
    deviations = live.numbers.to_numpy().std(axis=0)
    weights = np.divide(metric.mean_shares(), deviations**2, out=np.zeros(len(deviations)), where=deviations > 0)
    return DiagonalMetric(weights, metric.feature_names)


def learned_metric(live: Live, triples: tuple[Triple, ...]) -> Metric | None:
    """Return the weights that Slider learns from triples of places; None without any."""
    return live.learned_from(triples) if triples else None


def _sq_distances(live: Live, metric: Metric, query: int | str) -> Array:
    """Return the squared distances of all rows from one, which itself is the farthest."""
    values, here = live.numbers.to_numpy(), live.place_of(query)
    sq = metric.sq_distances(values[[here]], values)[0].copy()
    sq[here] = np.inf
    return sq


def _ranks(sq_distances: Array) -> Indices:
    ranks = np.empty(len(sq_distances), dtype=np.intp)
    ranks[np.argsort(sq_distances, kind="stable")] = np.arange(1, len(sq_distances) + 1)
    return ranks


def _agreeing(live: Live, metric: Metric, triples: Sequence[Triple]) -> float | None:
    if not triples:
        return None
    values, (queries, alike, unlike) = live.numbers.to_numpy(), np.array(triples).T
    near, far = (metric.sq_distances_at(values[queries], values, cases[:, None])[:, 0] for cases in (alike, unlike))
    return float((near < far).mean())


def _weights(live: Live, metric: Metric) -> dict[str, float]:
    per_deviation = metric.relevances() * live.numbers.to_numpy().var(axis=0)
    shares = per_deviation / max(float(per_deviation.sum()), 1e-300)
    return dict(zip(metric.feature_names, shares.tolist(), strict=True))


def _is_kept(live: Live, metric: Metric) -> bool:
    path = live.folder.parent / CASE_BASE
    if not path.exists():
        return False
    with wn.CaseBase(path) as base:
        return base.metric == metric
