"""What a study found: read, drawn, saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from operator import methodcaller
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from whynear.metric import Metric
from whynear.metric.archive import write_whole
from whynear.report.held_out import PLAIN
from whynear.report.page import render
from whynear.report.problem import Problem
from whynear.report.wording import harmless, printable, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FILES = "report.html", "relevance.csv"


@dataclass(frozen=True, eq=False, repr=False)
class Study:
    """What a study found. Tables are handed out as copies, settings read-only: a study does not change.

    Attributes
    ----------
    problem : Problem
        The features, the classes and the caveats.
    metric : Metric
        The metric learned on all rows used, in the columns of the table.
    accuracy : DataFrame
        Share of held-out cases predicted right: a row per fold, a column per method.
    relevance : DataFrame
        Columns ``feature`` and ``relevance``, largest first: the share of each feature in the diagonal of Lambda,
        per standard deviation of its column.
    settings : mapping
        What repeats the study: neighbours, folds, seed, versions.
    caveats : tuple of str
        What to keep in mind when reading it.
    """

    problem: Problem
    metric: Metric
    _accuracy: pd.DataFrame
    _relevance: pd.DataFrame
    _settings: dict[str, Any]
    caveats: tuple[str, ...]

    @property
    def accuracy(self) -> pd.DataFrame:
        """Share of held-out cases predicted right: a row per fold, a column per method."""
        return self._accuracy.copy()

    @property
    def relevance(self) -> pd.DataFrame:
        """The relevance of each feature, largest first."""
        return self._relevance.copy()

    @property
    def settings(self) -> Mapping[str, Any]:
        """What repeats the study."""
        return MappingProxyType(self._settings)

    def __repr__(self) -> str:
        return f"<Study of {self.problem.source}: {self.finding()}>"

    def frame(self) -> pd.DataFrame:
        """The relevance of each feature, largest first."""
        return self.relevance

    def finding(self) -> str:
        """The answer in two sentences."""
        mean, deviation, learned = self._accuracy.mean(), self._accuracy.std(), self._accuracy.columns[0]
        first = self._relevance.head(5)
        names = [f"“{printable(name)}”" for name in first["feature"]]
        listed = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        verb = "carries" if len(names) == 1 else "carry"
        return (
            f"The learned metric predicts {mean[learned]:.1%} ± {deviation[learned]:.1%} of held-out cases right, "
            f"plain kNN {mean[PLAIN]:.1%} ± {deviation[PLAIN]:.1%}. "
            f"Of {len(self._relevance)} features, {listed} {verb} {first['relevance'].sum():.0%} of the relevance."
        )

    def plot(self, ax: Axes | None = None, most: int = 25) -> Axes:
        """Draw the relevance of the most relevant features as bars."""
        shown = self._relevance.head(most)[::-1]
        if ax is None:
            from matplotlib import pyplot as plt  # only where a window or notebook may want it

            _, ax = plt.subplots(figsize=(7, 1 + 0.26 * len(shown)), layout="constrained")
        ax.barh(np.arange(len(shown)), 100 * shown["relevance"], color="#2f6f9f", height=0.72)
        ax.set_yticks(np.arange(len(shown)), [shortened(printable(name)) for name in shown["feature"]])
        for label in ax.get_yticklabels():
            label.set_parse_math(False)
        ax.set_ylim(-0.6, len(shown) - 0.4)
        ax.set_xlabel("share of relevance, % (per standard deviation of the feature)")
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.88", linewidth=0.8)
        ax.set_axisbelow(True)
        return ax

    def save(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write ``report.html`` and ``relevance.csv`` into a folder, each whole or not at all."""
        check_folder(folder)
        table = self._relevance.assign(feature=self._relevance["feature"].map(harmless))
        texts = render(self), table.to_csv(index=False)
        paths = [Path(folder) / name for name in FILES]
        Path(folder).mkdir(parents=True, exist_ok=True)
        for path, text in zip(paths, texts, strict=True):
            data = text.encode()
            write_whole(path, methodcaller("write", data), len(data))
        return paths


def check_folder(folder: str | os.PathLike[str]) -> None:
    """Refuse a folder that a study could not be saved in, by a trial that leaves nothing behind."""
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FileExistsError(f"{place} is in the way: it is not a folder. Choose another folder with --out.")
    for path in (Path(folder) / name for name in FILES):
        if path.is_dir():
            raise FileExistsError(f"{path} is in the way: it is a folder. Choose another folder with --out.")
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise type(error)(
            f"{place} cannot be written into ({error.strerror}). Choose another folder with --out."
        ) from error
