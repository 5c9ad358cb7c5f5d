"""The data of each figure as a table; those of the intervals and the predictions have tables of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pandas as pd

if TYPE_CHECKING:
    from whynear.study.result import Study


def figure_tables(study: Study) -> Iterator[tuple[str, pd.DataFrame]]:
    """Name of the file and table, for every figure whose data stand nowhere else."""
    if study.interpretation.dimension is not None:
        yield "dimension.csv", study.interpretation.dimension.frame()
    found = study.comparison.held_out
    for name, points in study.maps.items():
        place = pd.DataFrame(points, index=found.index, columns=["across", "up"])
        shown = pd.concat([place, found[["true", "predicted"]]], axis=1)
        yield f"map-{name}.csv", shown.rename_axis("index").reset_index()
    yield "profiles.csv", study.profiles.reset_index()
    for number, case in enumerate(study.cases, start=1):
        yield f"case-{number}.csv", case.why.frame()
        votes = case.why.contributions.reset_index(drop=True)
        yield f"votes-{number}.csv", pd.concat([case.why.neighbors, votes], axis=1)
