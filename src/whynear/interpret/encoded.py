"""Relevance of table columns that an encoder turned into several features: bounds of the sum of their weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from whynear.interpret import programs
from whynear.interpret.relevance import Relevance, RowBounds, strengths
from whynear.interpret.substitutes import Substitutes
from whynear.utils.arrays import Array


@dataclass(frozen=True, eq=False, repr=False)
class SummedRelevance(Relevance):
    """`Relevance` of the columns of a table, each the sum over the features made from it.

    Lower bounds are those of the sum itself, by a separate program: the parts of a column can replace each other
    while the column itself cannot be replaced. Upper bounds are sums of upper bounds, no larger than the norm allows.
    """

    parts: Relevance = field(kw_only=True)
    sources: tuple[str, ...] = field(kw_only=True)

    def substitutes_of(self, features: Sequence[str] | None = None) -> Substitutes:
        """Return which columns can replace the named ones, by the features made from them."""
        made = zip(self.parts.feature_names, self.sources, strict=True)
        wanted = None if features is None else [part for part, column in made if column in features]
        found = self.parts.substitutes_of(wanted)
        column_of = dict(zip(self.parts.feature_names, self.sources, strict=True))
        weak = {name for name, kind in zip(self.feature_names, self.strength, strict=True) if kind == "weak"}
        wanted_columns = weak if features is None else set(features)
        of: dict[str, tuple[str, ...]] = {}
        for part, others in found.of.items():
            column = column_of[part]
            if column in wanted_columns:
                known = of.get(column, ())
                replacing = dict.fromkeys((*known, *(column_of[other] for other in others)))
                of[column] = tuple(name for name in replacing if name != column)
        groups = [tuple(dict.fromkeys(column_of[part] for part in group)) for group in found.groups]
        left_out = tuple(dict.fromkeys(column_of[part] for part in found.left_out))
        return Substitutes(
            of,
            tuple(dict.fromkeys(group for group in groups if len(group) > 1)),
            tuple(name for name in left_out if name in weak and name not in of),
        )


def by_column(relevance: Relevance, sources: Sequence[str], columns: Sequence[str] | None = None) -> SummedRelevance:
    """Sum the relevance of features that come from the same column.

    Parameters
    ----------
    relevance : Relevance
        The relevance of the features of the metric.
    sources : sequence of str
        For each of them the column it comes from.
    columns : sequence of str, optional
        All columns in their order, also those that no feature comes from; those of the features without it.
    """
    names = tuple(dict.fromkeys(sources)) if columns is None else tuple(columns)
    given = np.array(sources)
    places = [np.flatnonzero(given == name) for name in names]
    unknown = np.array([(relevance.strength[own] == "unknown").any() for own in places])
    rows = tuple(
        _summed_row(row, start, live, places, 1.0 + relevance.slack)
        for row, start, live in zip(relevance.rows, relevance._starts, relevance._live, strict=True)
    )
    lower = sum((row.share * row.lower for row in rows), np.zeros(len(names)))
    upper = sum((row.share * row.upper for row in rows), np.zeros(len(names)))
    held = {name: getattr(relevance, name) for name in Relevance.__dataclass_fields__}
    return SummedRelevance(
        **{
            **held,
            "feature_names": names,
            "lower": lower,
            "upper": upper,
            "strength": strengths(lower, upper, float(relevance.floor), unknown),
            "rows": rows,
        },
        parts=relevance,
        sources=tuple(sources),
    )


def _summed_row(
    row: RowBounds,
    start: programs.LeastNorm | None,
    live: NDArray[np.intp],
    places: Sequence[NDArray[np.intp]],
    budget: float,
) -> RowBounds:
    def total(values: Array) -> Array:
        return np.array([values[own].sum() for own in places])

    upper = np.minimum(total(row.upper), budget * row.mu)
    lower = total(row.lower)
    for number, own in enumerate(places):
        together = np.flatnonzero(np.isin(live, own))
        if start is not None and len(together) > 1:
            lower[number] = max(lower[number], row.mu * programs.least_sum(start, budget, together))
    return replace(
        row, lower=lower, upper=np.maximum(upper, lower), low=-upper, high=upper, map=total(np.abs(row.map)),
        least=total(np.abs(row.least)), _lowest=None, _highest=None,
    )  # fmt: skip
