"""Values that a fitted model has not seen: missing ones that it fills in, numbers out of range, new categories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.model.pipeline import FittedPipeline
from whynear.utils.arrays import Array, Indices, plain_values
from whynear.utils.text import listed

UnusualKind = Literal["filled_in", "out_of_range", "unseen_category"]
MOST_CATEGORIES_NAMED = 5
ROUNDING = 1e-9  # of the largest training value, by which a value may leave the range


@dataclass(frozen=True)
class UnusualValue:
    """A value behind a prediction that is unlike those the model was fitted to.

    Attributes
    ----------
    column : str
        The column of the table.
    kind : {"filled_in", "out_of_range", "unseen_category"}
        Whether the value is missing and was filled in, lies outside the training range, or is a new category.
    value : object
        The value; None if it is missing.
    filled : object
        What replaced a missing value; None where it is not known, and for other kinds.
    low, high : float, str or None
        The smallest and the largest training value of a column of numbers, or of dates, which are texts such as
        "2022-03-04"; None where they are not known.
    categories : tuple of str
        The training categories of a column that holds categories.
    """

    column: str
    kind: UnusualKind
    value: Any = None
    filled: Any = None
    low: float | str | None = None
    high: float | str | None = None
    categories: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return what is unusual, as the part of a sentence."""
        if self.kind == "unseen_category":
            known = listed(self.categories, MOST_CATEGORIES_NAMED)
            return f"{self.column!r} = {str(self.value)!r}, which is none of the training categories {known}"
        if self.kind == "out_of_range":
            return f"{self.column!r} = {_number(self.value)}, outside the training range {self.range}"
        taken = "" if self.filled is None else f" and was taken as {_number(self.filled)}"
        return f"{self.column!r}, which is missing{taken}"

    @property
    def short(self) -> str:
        """The column, the value and the training range, for a table."""
        if self.kind == "filled_in":
            return self.column if self.filled is None else f"{self.column} ({_number(self.filled)})"
        value = f"{self.column} = {_number(self.value)}"
        return value if self.kind == "unseen_category" else f"{value} ({self.range})"

    @property
    def range(self) -> str:
        """The training range as text."""
        return f"{_number(self.low)} to {_number(self.high)}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return plain_values(asdict(self))


def kinds_known(model: FittedPipeline) -> tuple[UnusualKind, ...]:
    """Return the kinds that can be found for a model: one of an older file has no training ranges."""
    known = bool(model.filled_columns), _range_of(model) is not None, bool(model.known_categories)
    return tuple(kind for kind, one in zip(get_args(UnusualKind), known, strict=True) if one)


def unusual_values(model: FittedPipeline, table: pd.DataFrame, seen: Any) -> list[list[UnusualValue]]:
    """Return the unusual values of each row, in the order of the columns; those without any weight are left out.

    Rows are given as `FittedPipeline.table` and as `FittedPipeline.seen` returns them.
    """
    view = _Inputs(model, model.read(table), np.asarray(seen, dtype=np.float64))
    candidates = sorted({*view.filled(), *view.out_of_range(), *view.unseen()})
    weighing = view.weighing() if candidates else np.array([])
    found: list[list[UnusualValue]] = [[] for _ in range(len(table))]
    for row, place, kind in candidates:
        if weighing[place]:
            found[row].append(view.value(row, place, kind))
    return found


Found = Iterator[tuple[int, int, UnusualKind]]  # row, place of the column in the table, kind


@dataclass(frozen=True, eq=False)
class _Inputs:
    """Rows of a table, and the input of the learner made of them."""

    model: FittedPipeline
    table: pd.DataFrame
    seen: Array

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        return self.table.isna().to_numpy()

    @cached_property
    def column_of_input(self) -> Indices | None:
        """For each input of the learner the place of its column in the table; None if steps mix columns."""
        if self.model.reached is None:
            return None
        places = {name: place for place, name in enumerate(self.model.columns)}
        return np.array([places[self.model.sources[made]] for made in self.model.reached], dtype=np.intp)

    def weighing(self) -> NDArray[np.bool_]:
        """Return which columns have weight in the metric; all of them where steps mix columns."""
        if self.column_of_input is None:
            return np.ones(len(self.model.columns), dtype=bool)
        metric, weighing = getattr(self.model.learner, "metric_", None), np.zeros(len(self.model.columns), dtype=bool)
        weights = 1.0 if metric is None else np.atleast_2d(metric.relevances()).max(axis=0)
        np.logical_or.at(weighing, self.column_of_input, np.asarray(weights) > 0)
        return weighing

    def filled(self) -> Found:
        rows, places = np.nonzero(self.missing & np.isin(self.model.columns, self.model.filled_columns))
        return zip(rows.tolist(), places.tolist(), repeat("filled_in"), strict=False)

    def out_of_range(self) -> Found:
        limits, columns = _range_of(self.model), self.column_of_input
        if limits is None or columns is None:
            return
        slack = ROUNDING * np.abs(limits).max(axis=0)
        outside = (self.seen < limits[0] - slack) | (self.seen > limits[1] + slack)
        numeric = ~np.isin(self.model.columns, list(self.model.known_categories))
        for row, number in np.argwhere(outside).tolist():
            place = int(columns[number])
            if numeric[place] and not self.missing[row, place]:
                yield row, place, "out_of_range"

    def unseen(self) -> Found:
        for name, known in self.model.known_categories.items():
            place = self.model.columns.index(name)
            seen = self.table.iloc[:, place].isin(known) | self._texts(place).isin(list(map(str, known)))
            for row in np.flatnonzero(~self.missing[:, place] & ~seen.to_numpy()).tolist():
                yield row, place, "unseen_category"

    def value(self, row: int, place: int, kind: UnusualKind) -> UnusualValue:
        name = self.model.columns[place]
        if kind == "filled_in":
            return UnusualValue(name, kind, filled=self._held(row, place))
        if kind == "unseen_category":
            known = tuple(map(str, self.model.known_categories[name]))
            return UnusualValue(name, kind, self._texts(place).iloc[row], categories=known)
        limits = _range_of(self.model)
        assert limits is not None, "something is out of range"
        low, high = np.sort(self.model.values(limits)[:, self.model.sources.index(name)]).tolist()
        value = self._held(row, place) if name in self.model.preprocessed else self.table.iloc[row, place]
        value, low, high = (self.model.shown_value(name, number) for number in (value, low, high))
        return UnusualValue(name, kind, value, low=low, high=high)

    def _held(self, row: int, place: int) -> Any:
        """Return the value of a column as it reached the learner, in the units of the table; None if it is mixed."""
        if self.model.reached is None:
            return None
        values = self.model.values(self.seen[row])
        return float(values[place]) if self.model.encoder is None else self.model.encoder.decoded(values)[place]

    def _texts(self, place: int) -> pd.Series[Any]:
        return self.table.iloc[:, place].astype(str)


def _range_of(model: FittedPipeline) -> Array | None:
    """Return the training range of the inputs of a learner, if it was kept and they are columns of the table."""
    return None if model.reached is None else getattr(model.learner, "input_range_", None)


def _number(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float | np.floating) else str(value)
