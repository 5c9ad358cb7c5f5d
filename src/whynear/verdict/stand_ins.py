"""Which features can stand in for which, and at what price: each pair is refitted with the one in the other's place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from whynear.utils.threads import run_in_chunks
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.leaving_out import cost_of
from whynear.verdict.models import KernelModels
from whynear.verdict.targets import Answers, Target

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NEEDED = 1.645  # standard errors of loss that a member's absence must cost
RECOVERED = 2.33  # standard errors of loss that its stand-in must win back
NOT_WORSE = 1.645  # standard errors of loss that the stand-in may cost
MOST_PRICE = 3.0  # points that the stand-in may cost, with 95% confidence
ALIKE = 0.4  # correlation of a feature with its stand-in, at least
MOST_NAMED = 8  # stand-ins of one member


@dataclass(frozen=True)
class StandIn:
    """A feature that can take another's place.

    Attributes
    ----------
    feature, stand_in : str
        Who is replaced, and by whom.
    price, error : float
        Points of accuracy (R2 for a measured target) lost with the stand-in, and their standard error.
    """

    feature: str
    stand_in: str
    price: float
    error: float


@dataclass(frozen=True)
class StandIns:
    """Pairs of features that can take each other's place, and the groups they form.

    Attributes
    ----------
    pairs : tuple of StandIn
        Every pair that was refitted and found as good, in both directions.
    groups : tuple of tuple of str
        Each member of the set that has stand-ins, followed by them, cheapest first.
    """

    pairs: tuple[StandIn, ...]
    groups: tuple[tuple[str, ...], ...]

    def frame(self) -> pd.DataFrame:
        """Return one row per pair: feature, stand_in, price and error in points."""
        return pd.DataFrame([vars(pair) for pair in self.pairs], columns=["feature", "stand_in", "price", "error"])

    def plot(self, ax: Axes | None = None, most: int = 30) -> Axes:
        """Draw a matrix of the points lost with each stand-in."""
        from whynear.verdict.drawing import draw_stand_ins

        return draw_stand_ins(self, ax, most)

    def of(self, feature: str) -> tuple[StandIn, ...]:
        """Return the stand-ins of a feature, cheapest first."""
        return tuple(sorted((p for p in self.pairs if p.feature == feature), key=lambda p: (p.price, p.stand_in)))

    def alternatives(self, features: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the names of the stand-ins of each of these features."""
        return {name: tuple(pair.stand_in for pair in self.of(name)) for name in features}


def find_stand_ins(
    columns: FeatureColumns, target: Target, members: Sequence[int], others: Sequence[int], n_jobs: int | None
) -> StandIns:
    """Put every other feature in the place of every member of a sufficient set, and refit.

    A stand-in carries some of the same information, is as good as the member within the error, and is clearly better
    than nothing in its place.
    """
    swaps = [
        (place, other)
        for place, member in enumerate(members)
        for other in others
        if _correlation(columns, member, other) >= ALIKE
    ]
    models = KernelModels(columns.only(sorted({*members, *others})), target)
    at = {j: k for k, j in enumerate(sorted({*members, *others}))}
    whole = models.with_only([at[j] for j in members])
    lacking: list[Answers | None] = [None] * len(members)
    swapped: list[Answers | None] = [None] * len(swaps)

    def leave(first: int, last: int) -> None:
        for place in range(first, last):
            rest = [at[j] for k, j in enumerate(members) if k != place]
            lacking[place] = models.with_only(rest) if rest else target.guessed()

    def swap(first: int, last: int) -> None:
        for number in range(first, last):
            place, other = swaps[number]
            lack = lacking[place]
            assert lack is not None
            if cost_of(lack, whole, target).deviation >= NEEDED:
                kept = [at[j] for k, j in enumerate(members) if k != place]
                swapped[number] = models.with_only([*kept, at[other]])

    run_in_chunks(leave, len(members), 1, n_jobs)
    run_in_chunks(swap, len(swaps), 1, n_jobs)
    pairs, groups = [], []
    for place, member in enumerate(members):
        lack = lacking[place]
        assert lack is not None
        good = {
            other: found
            for (of, other), found in zip(swaps, swapped, strict=True)
            if of == place and found is not None and _is_as_good(found, whole, lack, target)
        }
        if good:
            good = dict(sorted(good.items(), key=lambda item: float(item[1].loss.mean()))[:MOST_NAMED])
            everyone = {member: whole, **good}
            groups.append(tuple(columns.names[j] for j in everyone))
            pairs += _pairs(everyone, columns.names, target)
    return StandIns(tuple(pairs), tuple(groups))


def _is_as_good(swapped: Answers, whole: Answers, lack: Answers, target: Target) -> bool:
    """Return whether a stand-in costs little against the member, and wins back what is lost without either."""
    price, back = cost_of(swapped, whole, target), cost_of(lack, swapped, target)
    return price.deviation <= NOT_WORSE and price.most <= MOST_PRICE and back.deviation >= RECOVERED


def _correlation(columns: FeatureColumns, one: int, other: int) -> float:
    """Return the largest absolute correlation between the columns of two features."""
    first, second = columns.of([one]), columns.of([other])
    lengths = np.outer(np.linalg.norm(first, axis=0), np.linalg.norm(second, axis=0))
    return float(np.abs(first.T @ second / np.maximum(lengths, 1e-300)).max(initial=0.0))


def _pairs(group: dict[int, Answers], names: Sequence[str], target: Target) -> list[StandIn]:
    """Return every ordered pair of a group with its price."""
    made = []
    for one, with_one in group.items():
        for other, with_other in group.items():
            if one != other:
                lost, error = target.mean_and_error(with_one.score - with_other.score)
                made.append(StandIn(names[one], names[other], float(np.round(100 * lost, 10)), 100 * error))
    return made
