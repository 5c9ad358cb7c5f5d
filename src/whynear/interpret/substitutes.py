"""Which features can replace which: force one to the end of its interval and find whose bounds fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from whynear.interpret import programs
from whynear.utils.arrays import Array

if TYPE_CHECKING:
    from whynear.interpret.relevance import Relevance

MOST_EXAMINED = 50  # weak features, unless features are named
SUBSTITUTE_FALL = 0.5  # share of its upper bound that a substitute loses, at least


@dataclass(frozen=True)
class Substitutes:
    """Features that can take each other's place.

    Attributes
    ----------
    of : dict of str to tuple of str
        For each weak feature examined those that can replace it, the best first.
    groups : tuple of tuples of str
        Features linked by replacing each other, directly or through others.
    left_out : tuple of str
        Weak features that were not examined.
    """

    of: dict[str, tuple[str, ...]]
    groups: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Return one row per examined feature: those that can replace it, and its group."""
        group = {name: number for number, names in enumerate(self.groups, start=1) for name in names}
        rows = [(name, ", ".join(others), group.get(name)) for name, others in self.of.items()]
        return pd.DataFrame(rows, columns=["feature", "substitutes", "group"])


def find_substitutes(relevance: Relevance, features: Sequence[str] | None = None) -> Substitutes:
    """Examine the named features, or the weak ones with the largest upper bounds.

    A feature is forced to the largest weight it can have. Another one whose upper bound then falls by more than half
    carries the same information and is a substitute of the first. Bounds are summed over rows.
    """
    names = relevance.feature_names
    weak = np.flatnonzero(relevance.strength == "weak")
    if features is None:
        chosen = weak[np.argsort(-relevance.upper[weak], kind="stable")[:MOST_EXAMINED]]
    else:
        places = {name: place for place, name in enumerate(names)}
        if unknown := [name for name in features if name not in places]:
            raise ValueError(f"features must be among the {len(names)} of the metric, got {unknown[0]!r}.")
        chosen = np.array([places[name] for name in features], dtype=np.intp)
    partners = np.union1d(chosen, weak[np.argsort(-relevance.upper[weak], kind="stable")[:MOST_EXAMINED]])
    fallen = np.zeros((len(chosen), len(partners)))
    for row, feature in enumerate(chosen):
        left = _upper_bounds_with(relevance, int(feature), partners)
        with np.errstate(divide="ignore", invalid="ignore"):
            fallen[row] = np.where(relevance.upper[partners] > 0, 1 - left / relevance.upper[partners], 0.0)
        fallen[row, partners == feature] = 0.0
    of = {
        names[feature]: tuple(
            names[partners[k]] for k in np.argsort(-share, kind="stable") if share[k] > SUBSTITUTE_FALL
        )
        for feature, share in zip(chosen, fallen, strict=True)
    }
    left_out = tuple(names[place] for place in weak if place not in set(chosen.tolist()))
    return Substitutes(of, _groups(names, of), left_out)


def _upper_bounds_with(relevance: Relevance, feature: int, partners: NDArray[np.intp]) -> Array:
    """Upper bounds of the partners, summed over rows, when a feature has the largest weight it can have."""
    total = np.zeros(len(partners))
    for row, start, live in zip(relevance.rows, relevance._starts, relevance._live, strict=True):
        if start is None or feature not in live:  # unknown, or nothing changes
            total += row.share * row.upper[partners]
            continue
        forced = row.high[feature] if abs(row.high[feature]) >= abs(row.low[feature]) else row.low[feature]
        bounds = _row_upper_bounds(start, live, feature, forced / row.mu, 1 + relevance.slack, partners)
        total += row.share * row.mu * bounds
    return total


def _row_upper_bounds(
    start: programs.LeastNorm,
    live: NDArray[np.intp],
    feature: int,
    forced: float,
    budget: float,
    partners: NDArray[np.intp],
) -> Array:
    """The same programs without the forced feature's column, its part taken from right-hand side and budget."""
    bounds = np.zeros(len(partners))
    others = np.flatnonzero(live != feature)
    wanted = np.flatnonzero(np.isin(partners, live[others]))
    if not len(wanted):
        return bounds
    own = start.U[live == feature][0]
    U, rest = start.U[others], start.b - forced * own
    left = budget - abs(forced)
    if own @ own > 1 - 1e-9 and not start.t.any():  # a direction only this feature has: the others take no part in it
        aside = np.linalg.svd(own[None, :])[2][1:].T
        U, rest = U @ aside, aside.T @ rest
    if (np.abs(rest) - start.t[: len(rest)]).max(initial=0.0) <= 1e-9:  # the feature alone gives the whole row
        bounds[wanted] = max(left, 0.0)  # only slack is left to the others
        return bounds
    columns = np.searchsorted(live[others], partners[wanted])
    try:
        again = programs.least_norm(np.ascontiguousarray(U), rest, start.t[: len(rest)])
    except ArithmeticError:
        bounds[wanted] = budget
        return bounds
    found = programs.extremes(
        again,
        max(left / again.mu, 1 + 1e-6),  # forced to its very end, rounding could leave nothing feasible
        np.repeat(columns, 2),
        np.tile([1.0, -1.0], len(columns)),
    )
    values = np.where(np.isfinite(found.error), found.values, budget / again.mu)
    bounds[wanted] = again.mu * np.abs(values.reshape(-1, 2)).max(axis=1)
    return bounds


def _groups(names: Sequence[str], of: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    places = {name: place for place, name in enumerate(names)}
    links = [(places[name], places[other]) for name, others in of.items() for other in others]
    if not links:
        return ()
    first, second = np.array(links).T
    graph = coo_array((np.ones(len(links)), (first, second)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=False)
    linked = np.unique(np.concatenate([first, second]))
    groups = [tuple(names[i] for i in linked[labels[linked] == label]) for label in np.unique(labels[linked])]
    return tuple(sorted(groups, key=lambda group: places[group[0]]))
