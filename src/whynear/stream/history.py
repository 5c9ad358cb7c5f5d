"""The history of a stream: accuracy, memories, metrics and relevances over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from whynear.stream.drift import Replacement, replacements
from whynear.stream.record import COLUMNS, Record
from whynear.utils import html
from whynear.utils.arrays import Array
from whynear.utils.plain import plain_values
from whynear.utils.text import counted
from whynear.utils.values import ByValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False, repr=False)
class StreamHistory(ByValue):
    """The history of a stream, at equal intervals of cases.

    Attributes
    ----------
    table : DataFrame
        A row for each interval: ``case``, the number of its last case; ``accuracy`` of the predictions made in it;
        ``metric`` and ``memory`` in use at its end; ``short_term`` and ``long_term``, their numbers of cases.
    relevances : DataFrame
        For each of these rows the share of each feature in the mean squared distance, under the learned metric; missing
        before a feature came.
    advantage : ndarray of shape (n_intervals, 2)
        In how many cases of each interval only the learned metric was right, and in how many only the plain one.
    notes : tuple of (int, str)
        Cases, counted from 1, and what was new there: features, classes, and in a run over a table also what was
        unusual about its rows. A note on a row that was left out stands at the next case. Of many notes, the
        first and the latest are kept.
    n_notes : int
        How many there were.

    Notes
    -----
    Features that are copies of each other share their relevance arbitrarily.

    Examples
    --------
    >>> from whynear import SelfAdjustingMemory
    >>> X = np.random.default_rng(1).standard_normal((1000, 3))
    >>> memory = SelfAdjustingMemory().partial_fit(X, X[:, 1] > 0)
    >>> history = memory.history
    >>> bool(history.frame()["relevance of x1"].iloc[-1] > 0.9)
    True
    >>> history.sentences()  # nothing drifts
    []
    """

    table: pd.DataFrame
    relevances: pd.DataFrame
    advantage: Array
    notes: tuple[tuple[int, str], ...]
    n_notes: int

    @cached_property
    def replacements(self) -> tuple[Replacement, ...]:
        """Where one feature replaces another as the most relevant one; found with ``metric="guarded"`` only."""
        names = [str(name) for name in self.relevances.columns]
        return replacements(self.table["case"].to_numpy(), self.relevances.to_numpy(), self.advantage, names)

    def sentences(self) -> list[str]:
        """Return what drifts, in words; empty if no feature replaces another."""
        return [f"{str(found)[:1].upper()}{str(found)[1:]}." for found in self.replacements]

    def frame(self) -> pd.DataFrame:
        """Return one row per interval, with a column for the relevance of each feature."""
        return self.table.join(self.relevances.add_prefix("relevance of "))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "intervals": plain_values(self.frame().to_dict("records")),
            "replacements": [found._asdict() for found in self.replacements],
            "notes": [{"case": case, "note": note} for case, note in self.notes],
            "n_notes": self.n_notes,
        }

    def plot(self, ax: Axes | None = None, most: int = 8) -> Axes:
        """Draw the relevances of the ``most`` relevant features as areas, the accuracy, and where features change."""
        from whynear.stream.drawing import draw_history

        return draw_history(self, ax, most)

    def __repr__(self) -> str:
        cases = 0 if self.table.empty else int(self.table["case"].iloc[-1])
        return (
            f"StreamHistory({counted(cases, 'case')} in {counted(len(self.table), 'interval')}: "
            f"{counted(len(self.replacements), 'replacement')})"
        )

    def _repr_html_(self) -> str:
        shown = self.table.tail(html.MOST_ROWS)
        rows = [tuple(row) for row in shown.itertuples(index=False)]
        return html.block(html.heading(repr(self)), *self.sentences(), html.table(list(shown.columns), rows))


def history_of(record: Record, metrics: list[str], memories: list[str], features: list[str]) -> StreamHistory:
    """Return the lines of a record with the names of metrics, memories and features."""
    lines = record.lines
    known: dict[str, Array] = {name: lines[:, place] for place, name in enumerate(COLUMNS)}
    table = pd.DataFrame(
        {
            "case": known["case"].astype(np.int64),
            "accuracy": known["n_right"] / np.maximum(1, known["n_predicted"]),
            "metric": [metrics[int(place)] for place in known["metric"]],
            "memory": [memories[int(place)] for place in known["memory"]],
            "short_term": known["short"].astype(np.int64),
            "long_term": known["long"].astype(np.int64),
        }
    )
    shares = np.full((len(lines), len(features)), np.nan)
    shares[:, : lines.shape[1] - len(COLUMNS)] = lines[:, len(COLUMNS) :]
    advantage = np.column_stack([known["gains"], known["losses"]])
    relevances = pd.DataFrame(shares, columns=features)
    return StreamHistory(table, relevances, advantage, tuple(record.notes), record.n_notes)
