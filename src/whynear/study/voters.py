"""The rows or prototypes behind the prediction of an explained case, or the rows near it, as text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from whynear.explain import Explanation, ValueExplanation
from whynear.utils.text import label

MOST_VOTERS = 8
MOST_FEATURES = 6


@dataclass(frozen=True)
class Voters:
    """A table of the cases that vote: its headings, the values of the explained case, and a line for each voter.

    Values are those of the features that contribute most to the distances. ``parts`` has for each voter what each of
    these features adds to its squared distance, or for a measured target to its prediction.
    """

    features: tuple[str, ...]
    values: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    parts: tuple[tuple[float, ...], ...]


def voters_of(why: Explanation) -> Voters:
    """Return the nearest of the cases that vote: name, class, distance, vote, and their values."""
    # By places, since looking up names takes most of the time.
    most = np.argsort(-why.contributions.abs().sum().to_numpy(), kind="stable")[:MOST_FEATURES]
    facts = (why.neighbors[name].tolist()[:MOST_VOTERS] for name in (why.nearest.kind, "label", "distance", "vote"))
    held = why.neighbor_values.iloc[:MOST_VOTERS, most].to_numpy()
    lines = [
        (str(name), str(voted), f"{distance:.3g}", f"{vote:.3g}", *map(label, values))
        for name, voted, distance, vote, values in zip(*facts, held, strict=True)
    ]
    features, own = why.contributions.columns[most], why.values.iloc[most]
    parts = why.contributions.iloc[:MOST_VOTERS, most]
    return Voters(tuple(map(str, features)), tuple(map(label, own)), tuple(lines), _tuples(parts))


def near_rows_of(why: ValueExplanation) -> Voters:
    """Return the nearest rows of a measured target: name, measured and predicted value, distance, and their values."""
    features = list(why.ranked.index[:MOST_FEATURES])
    facts = why.neighbors[[why.kind, "measured", "predicted", "distance"]].itertuples(index=False)
    lines = [
        (str(name), *(f"{number:.4g}" for number in numbers), *map(label, values))
        for (name, *numbers), values in zip(facts, why.neighbor_values[features].to_numpy(), strict=True)
    ]
    parts = why.neighbor_contributions[features]
    return Voters(tuple(map(str, features)), tuple(map(label, why.values[features])), tuple(lines), _tuples(parts))


def _tuples(parts: pd.DataFrame) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(map(float, line)) for line in parts.to_numpy())
