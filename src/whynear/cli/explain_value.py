"""The explanation of a measured target on a terminal: what each feature adds, and the nearest rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from whynear.cli.shell import plain
from whynear.utils.text import short_number

if TYPE_CHECKING:
    from rich.console import Console

    import whynear as wn

MOST_FEATURES = 10


def show_value(console: Console, why: wn.ValueExplanation) -> None:
    """Print the sentence, the contributions to the prediction, and the nearest rows."""
    console.print(plain(repr(why)), style="bold", highlight=False)
    start = f"the mean {short_number(why.mean_prediction)}" if why.mean_prediction else "zero"
    console.print(f"What each feature adds to {start}", style="italic", highlight=False)
    console.print(_feature_table(why))
    if any(isinstance(mean, str) for mean in why.mean_values):
        console.print("The unit of dates is the day.", highlight=False)
    if len(why.neighbors):
        console.print(f"{why.kind.capitalize()}s with the most similar contributions", style="italic", highlight=False)
        console.print(_neighbor_table(why))


def _feature_table(why: wn.ValueExplanation) -> Table:
    """The features of the largest contributions, and the sum of the others."""
    table = Table(box=None)
    table.add_column("feature", overflow="fold")
    table.add_column("value", overflow="fold", justify="right")
    for name in ("mean", "per unit", "adds"):
        table.add_column(name, justify="right")
    ranked = why.ranked
    for feature in map(str, ranked.index[:MOST_FEATURES]):
        value = _cell(why.values[feature]) or "missing"
        slope = _cell(why.coefficients[feature], signed=True)
        table.add_row(
            plain(feature), value, _cell(why.mean_values[feature]), slope, short_number(ranked[feature], signed=True)
        )
    if (more := len(ranked) - MOST_FEATURES) > 0:
        table.add_row(f"{more:,} more", "", "", "", short_number(ranked.iloc[MOST_FEATURES:].sum(), signed=True))
    return table


def _neighbor_table(why: wn.ValueExplanation) -> Table:
    table = Table(box=None)
    table.add_column(why.kind, justify="right", overflow="fold")
    for name in ("measured", "predicted", "distance"):
        table.add_column(name, justify="right")
    table.add_column("differs most in", overflow="fold")
    facts = why.neighbors[[why.kind, "measured", "predicted", "distance"]].itertuples(index=False)
    for (name, *numbers), shares in zip(facts, why.distance_shares.to_numpy(), strict=True):
        most = why.values.index[int(shares.argmax())] if shares.any() else ""
        table.add_row(plain(name), *map(short_number, numbers), plain(most))
    return table


def _cell(value: Any, signed: bool = False) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float):
        return short_number(value, signed=signed)
    return plain(value)
