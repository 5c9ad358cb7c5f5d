"""All experiments by name: the tables and figures of the papers, and further comparisons."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from functools import partial
from typing import get_args

from papers import beyond, lann, schulz, slider, strickert
from papers.outcome import Experiment
from papers.splits import Protocol

EXPERIMENTS: dict[str, Callable[[], Experiment]] = {
    "strickert-fig1": strickert.figure1,
    "strickert-fig2": strickert.figure2,
    "strickert-fig3": strickert.figure3,
    "strickert-fig4": strickert.figure4,
    "strickert-fig5": strickert.figure5,
    "strickert-fig6": strickert.figure6,
    "strickert-fig7": strickert.figure7,
    "strickert-fig8": strickert.figure8,
    "schulz-table1": schulz.table1,
    "schulz-fig1": schulz.figure1,
    "schulz-fig2": schulz.figure2,
    "schulz-fig3": schulz.figure3,
    "schulz-fig4": schulz.figure4,
    "schulz-fig5": schulz.figure5,
    "schulz-fig6": schulz.figure6,
    "schulz-fig7": schulz.figure7,
    "schulz-fig8": schulz.figure8,
    "schulz-fig9": schulz.figure9,
    "schulz-fig10": schulz.figure10,
    "schulz-fig11": schulz.figure11,
    "slider-table2": slider.table2,
    "slider-fig2": slider.figure2,
    "slider-fig3": slider.figure3,
    "lann-table1-fifth": partial(lann.table1, "fifth"),
    "lann-table1-tenfold": partial(lann.table1, "tenfold"),
    "lann-fig1": lann.figure1,
    "lann-fig2": partial(lann.embeddings, "lann-fig2"),
    "lann-fig3": partial(lann.embeddings, "lann-fig3"),
    "beyond-accuracy": beyond.ranking,
    "beyond-relevance": beyond.comparison,
}


def names_of(name: str, protocol: str | None = None) -> list[str]:
    """The keys of `EXPERIMENTS` that a name stands for.

    Parameters
    ----------
    name : str
        A key of `EXPERIMENTS`, such as ``"lann-fig1"``; the beginning of several keys, such as ``"lann"`` or
        ``"lann-table1"``; or ``"all"``.
    protocol : {"fifth", "tenfold"}, optional
        Where a table exists under several protocols, take only this one.

    Examples
    --------
    >>> names_of("lann-table1", protocol="fifth")
    ['lann-table1-fifth']
    """
    keys = [key for key in EXPERIMENTS if name in ("all", key) or key.startswith(f"{name}-")]
    if not keys:
        close = difflib.get_close_matches(name, EXPERIMENTS, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"There is no table or figure {name!r}.{guess} `whynear reproduce` without a name lists them.")
    if protocol is None:
        return keys
    with_protocol = [key for key in keys if key.rpartition("-")[2] in get_args(Protocol)]
    if not any(key.endswith(f"-{protocol}") for key in with_protocol):
        raise ValueError(f"{name} has no protocol {protocol!r}: leave out --protocol {protocol}.")
    return [key for key in keys if key not in with_protocol or key.endswith(f"-{protocol}")]
