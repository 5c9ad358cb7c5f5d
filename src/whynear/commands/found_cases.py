"""Found cases as tables on the terminal."""

from __future__ import annotations

import pandas as pd
from rich.console import Console
from rich.table import Table

from whynear.apply import Retrieval
from whynear.commands.shell import plain

MOST_FIELDS = 6
MOST_FEATURES = 6


def print_found(console: Console, found: Retrieval) -> None:
    """Print what was found, best first, and what its distances are made of where that was asked for."""
    if not len(found):
        console.print("The case base holds no other cases.")
        return
    console.print(_case_table(found))
    if found.contributions is not None:
        console.print(_contribution_table(found.contributions))
    times = f"{1e3 * found.filter_seconds:.1f} ms"
    if found.similarities is not None:
        times = f"{found.n_filtered} filtered in {times}, re-ranked in {1e3 * found.rerank_seconds:.1f} ms"
    console.print(times, style="dim", highlight=False)


def _case_table(found: Retrieval) -> Table:
    fields = list(dict.fromkeys(name for payload in found.payloads for name in payload))[:MOST_FIELDS]
    table = Table(box=None)
    for name in ("id", "sq. distance", *(["similarity"] if found.similarities is not None else [])):
        table.add_column(name, justify="right")
    for name in fields:
        table.add_column(plain(name), overflow="fold")
    for place, case in enumerate(found.ids):
        cells = [str(case), f"{found.sq_distances[place]:.4g}"]
        if found.similarities is not None:
            cells.append(f"{found.similarities[place]:.4g}")
        table.add_row(*cells, *(plain(found.payloads[place].get(name, "")) for name in fields))
    return table


def _contribution_table(contributions: pd.DataFrame) -> Table:
    """The features that add most over all cases found, and the rest in one column."""
    most = contributions.abs().sum().sort_values(ascending=False, kind="stable").index[:MOST_FEATURES]
    table = Table(title="What each feature adds to the squared distance", title_justify="left", box=None)
    table.add_column("id", justify="right")
    for name in most:
        table.add_column(plain(name), justify="right", overflow="fold")
    rest = contributions.drop(columns=most).sum(axis=1).tolist()
    if contributions.shape[1] > len(most):
        table.add_column("others", justify="right")
    for place, (case, parts) in enumerate(contributions[most].iterrows()):
        others = [f"{rest[place]:.3g}"] if contributions.shape[1] > len(most) else []
        table.add_row(str(case), *(f"{part:.3g}" for part in parts), *others)
    return table
