"""The rows or prototypes behind the prediction of an explained case, or the rows near it, as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whynear.explain import Explanation, ValueExplanation

MOST_VOTERS = 8
MOST_FEATURES = 4


@dataclass(frozen=True)
class Voters:
    """A table of the cases that vote: its headings, the values of the explained case, and a line for each voter.

    Values are those of the features that contribute most to the distances.
    """

    features: tuple[str, ...]
    values: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def voters_of(why: Explanation) -> Voters:
    """Return the nearest of the cases that vote: name, class, distance, vote, and their values."""
    sizes = why.contributions.abs().sum().sort_values(ascending=False, kind="stable")
    features = list(sizes.index[:MOST_FEATURES])
    near = why.neighbors.head(MOST_VOTERS)
    facts = near[[why.nearest.kind, "label", "distance", "vote"]].itertuples(index=False)
    held = why.neighbor_values[features].head(MOST_VOTERS).to_numpy()
    lines = [
        (str(name), str(label), f"{distance:.3g}", f"{vote:.3g}", *map(_shown, values))
        for (name, label, distance, vote), values in zip(facts, held, strict=True)
    ]
    return Voters(tuple(map(str, features)), tuple(map(_shown, why.values[features])), tuple(lines))


def near_rows_of(why: ValueExplanation) -> Voters:
    """Return the nearest rows of a measured target: name, measured and predicted value, distance, and their values."""
    features = list(why.ranked.index[:MOST_FEATURES])
    facts = why.neighbors[[why.kind, "measured", "predicted", "distance"]].itertuples(index=False)
    lines = [
        (str(name), *(f"{number:.4g}" for number in numbers), *map(_shown, values))
        for (name, *numbers), values in zip(facts, why.neighbor_values[features].to_numpy(), strict=True)
    ]
    return Voters(tuple(map(str, features)), tuple(map(_shown, why.values[features])), tuple(lines))


def _shown(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
