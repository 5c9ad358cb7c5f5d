"""All tables and figures by name."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial

from whynear.reproduce import lann
from whynear.reproduce.experiment import Experiment

EXPERIMENTS: dict[str, Callable[[], Experiment]] = {
    "lann-table1-fifth": partial(lann.table1, "fifth"),
    "lann-table1-tenfold": partial(lann.table1, "tenfold"),
    "lann-fig1": lann.figure1,
    "lann-fig2": partial(lann.embeddings, "lann-fig2"),
    "lann-fig3": partial(lann.embeddings, "lann-fig3"),
}


def names_of(asked: str, protocol: str | None = None) -> list[str]:
    """The experiments that a name stands for: one, those of all protocols, those of a paper, or all."""
    found = [name for name in EXPERIMENTS if asked in ("all", name) or name.startswith(f"{asked}-")]
    if not found:
        close = difflib.get_close_matches(asked, EXPERIMENTS, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(
            f"There is no table or figure {asked!r}.{guess} `whynear reproduce` without a name lists all there are."
        )
    if protocol is None:
        return found
    under = [name for name in found if name.endswith(f"-{protocol}")]
    if not under:
        raise ValueError(f"{asked} does not differ by protocol: leave out --protocol {protocol}.")
    return under
