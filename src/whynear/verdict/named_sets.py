"""The set of a size that is named: the one of all that were chosen which predicts best, and how well it does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whynear.utils.arrays import Indices
from whynear.utils.threads import run_in_chunks
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.models import KernelModels
from whynear.verdict.set_sizes import JudgedSizes
from whynear.verdict.targets import Answers, Target, best_of


@dataclass(frozen=True, eq=False)
class NamedSet:
    """A set of features, most needed first, and its answers for held-out rows, which may have taken part in choosing.

    A size is judged by the sets that folds choose for it, none of which need be this one. Its own answers are rather
    too good; if even they are worse than those of all features, the set does not suffice.
    """

    members: list[int]
    answers: Answers


def with_needed(members: Sequence[int], needed: Sequence[int] | Indices) -> list[int]:
    """Return a set with the needed features, these first.

    >>> with_needed([3, 0, 2], [0, 1])
    [0, 1, 3, 2]
    """
    first = [j for j in members if j in needed] + [int(j) for j in needed if j not in members]
    return first + [j for j in members if j not in needed]


def name_set(
    members: list[int],
    size: int,
    needed: Sequence[int],
    judged: JudgedSizes,
    columns: FeatureColumns,
    target: Target,
    n_jobs: int | None,
    *,
    only_this: bool = False,
) -> NamedSet:
    """Return the best of the sets of a size: the one given, and those of searches from all rows and on folds.

    Kernel ridge models answer, and the others that answer for sets. With ``only_this`` there is no other set.
    """
    sets = [members] if only_this else _chosen(members, size, needed, judged)
    found: dict[int, Answers] = {}

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            found[place] = KernelModels(columns.only(sets[place]), target).answers

    run_in_chunks(work, len(sets), 1, n_jobs)
    best = min(found, key=lambda place: (float(found[place].loss.mean()), place))
    others = np.setdiff1d(np.arange(columns.n_features), sets[best]).tolist()
    return NamedSet(sets[best], best_of([found[best], *(model.without(others) for model in judged.answering)]))


def _chosen(members: list[int], size: int, needed: Sequence[int], judged: JudgedSizes) -> list[list[int]]:
    """Return the sets of a size that were chosen, each once, the one given first."""
    search = judged.searches[size]
    orders = [*judged.chosen.orders, *(fold.orders[search] for fold in judged.by_fold)]
    sets = [members, *(with_needed(order[-size:][::-1], needed) for order in orders)]
    first = {frozenset(one): one for one in reversed(sets) if len(one) == len(members)}
    return list(first.values())[::-1]
