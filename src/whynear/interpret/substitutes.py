"""Which features can replace which: force one to the end of its interval and find whose bounds fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from whynear.interpret import programs
from whynear.utils.arrays import Array

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


def row_upper_bounds(
    start: programs.LeastNorm,
    live: NDArray[np.intp],
    feature: int,
    forced: float,
    budget: float,
    partners: NDArray[np.intp],
) -> Array:
    """Return the upper bounds of the partners in a row in which a feature is forced to a weight.

    By the programs of the row without the column of the feature, its part taken from right-hand side and budget.
    """
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


def linked_groups(names: Sequence[str], of: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of features that replace each other, directly or through others."""
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
