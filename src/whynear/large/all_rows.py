"""All rows of a table beyond the memory: learned from and predicted in parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from whynear.data.cells import is_code, is_missing
from whynear.data.column_types import class_names
from whynear.data.numbers import numbers_or_texts_of_numbers
from whynear.data.problem import Problem, TargetKind
from whynear.data.reading import NamedTable
from whynear.large.fitting import fit as fit_partitions
from whynear.large.parts import PartedTable, TablePart
from whynear.learn.registry import LEARNERS
from whynear.model.pipeline import FittedPipeline
from whynear.study.methods import remember_rows
from whynear.study.prediction import cases_for, faults_by_name
from whynear.study.score import PartsScore, ScoreSums
from whynear.study.settings import COMPARED_ROWS
from whynear.utils.columns import as_numbers
from whynear.utils.progress import Report

COPIES_OF_NUMBERS = 4  # in float64, while a loss is summed over parts


@dataclass(frozen=True, eq=False)
class LargeRows:
    """All rows of a table that does not fit in memory, beside a problem of some of them."""

    table: PartedTable
    target: str  # the column to predict
    kind: TargetKind
    classes: frozenset[str]  # that are learned; rows of others are left out
    held_out: tuple[TablePart, ...]  # from which nothing is learned
    why_none: str  # are held out, if so
    rare_rows: Problem  # beside the sample: they show what columns hold, none of them is held out
    missing: tuple[str, ...]  # values that stand for missing ones
    weight: str | None  # the column with the weights of the rows
    n_rows: int  # read at once
    n_sampled: int
    n_learnable: int  # rows of the table that are not held out and have a class
    room: float  # bytes of memory for the rows

    def with_rare_rows(self, sample: Problem) -> Problem:
        """Return the rows that a model is fitted to in memory: a sample, and the rare rows."""
        X, y = pd.concat([sample.X, self.rare_rows.X]), np.concatenate([sample.y, self.rare_rows.y])
        about: dict[str, Any] = {}
        for name in ("groups", "times", "weights"):
            both = getattr(sample, name), getattr(self.rare_rows, name)
            about[name] = None if any(one is None for one in both) else pd.concat(both)
        return replace(sample, X=X, y=y, whole=None, **about)

    def learned(self, name: str, model: Any, rows: Problem) -> tuple[Any, tuple[str, ...]]:
        """Return the model of all rows that are not held out, where possible, and caveats on the rows that were used.

        ``model`` is the learner of this name fitted to ``rows``. It is returned where all rows cannot be learned from.
        """
        found = learned_from_all(model, self) if self._can_take_all(name, model, rows) else None
        n_rows = len(rows.X) if found is None else self.n_learnable
        fitted = f"{n_rows:,} of them" if found is None else f"all {n_rows:,} that were not held out"
        none = f"No whole {self.table.noun} were held out, because {self.why_none}: the score is that of the folds."
        n_judged = self.n_sampled + len(self.rare_rows.X)
        caveats = (
            f"Of {self.table.n_rows:,} rows, a random {min(COMPARED_ROWS, self.n_sampled):,} were used to compare "
            f"learners, to interpret and to draw; the model was fitted to {fitted}.",
            f"Columns were judged by {n_judged:,} rows, a random sample and rows with rare values: notes on columns "
            "and on copies count these rows, missing values and classes are those of all.",
            *([] if self.held_out else [none]),
        )
        return (model if found is None else remember_rows(found, rows.X)), caveats

    def _can_take_all(self, name: str, model: Any, rows: Problem) -> bool:
        """Return whether the loss of a learner is a sum over rows, and these have room here or on a cluster."""
        by_sums = name in LEARNERS and LEARNERS[name].traits.partitions == "sums"
        if not by_sums or self.weight is not None or rows.axis is not None:
            return False
        if has_cluster():
            return True
        n_rows = sum(part.n_rows for part in self.learned_parts)
        return 8.0 * COPIES_OF_NUMBERS * n_rows * len(FittedPipeline.of(model).made) <= self.room

    @property
    def learned_parts(self) -> list[TablePart]:
        """The parts that are not held out."""
        return [part for part in self.table.parts if part not in self.held_out]

    def rows(self, part: TablePart) -> Iterator[tuple[pd.DataFrame, NDArray[Any]]]:
        """Yield the rows of a part that have a target of the problem, and these targets."""
        for batch in self.table.batches(part, self.n_rows):
            column = batch[self.target]
            known = ~(is_missing(column) | is_code(column, self.missing).to_numpy())
            if self.kind == "classes":
                names = class_names(column)
                known &= names.isin(self.classes).to_numpy()
                yield batch[known], names[known].to_numpy(dtype=str)
            else:
                values = as_numbers(column[known])
                assert values is not None, "a target of text is not held out"
                yield batch[known], values

    def rows_to_learn(self, model: Any, part: TablePart) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return the features of all rows of a part, as a fitted model reads them, and their targets."""
        frames, targets = zip(*self.rows(part), strict=True)
        return pd.concat([self._cases(model, frame) for frame in frames]), np.concatenate(targets)

    def judged(self, model: Any, report: Report) -> PartsScore | None:
        """Return how well a model predicts the parts that are held out, if there are some."""
        if not self.held_out:
            return None
        sums, n_all = ScoreSums(self.kind), sum(part.n_rows for part in self.held_out)
        for part in self.held_out:
            for frame, y in self.rows(part):
                report(f"predict whole {self.table.noun}, row {sums.n_rows + 1:,} of {n_all:,}", sums.n_rows / n_all)
                found = np.empty(0)
                if len(frame):
                    cases = self._cases(model, frame)
                    with faults_by_name(model, cases, self.table.source):
                        found = np.asarray(model.predict(cases))
                weights = np.ones(len(frame))
                if self.weight is not None:
                    given = numbers_or_texts_of_numbers(frame[self.weight], self.table.decimal or ".")
                    weights = np.where(np.isfinite(given), given, 1.0)
                sums.add(y, found, weights)
        return sums.score(f"{len(self.held_out):,} of {len(self.table.parts):,} {self.table.noun}")

    def _cases(self, model: Any, frame: pd.DataFrame) -> pd.DataFrame:
        columns = FittedPipeline.of(model).given
        decimal = self.table.decimal or columns.expected.decimal or "."
        read = columns.read(NamedTable(self.table.source, frame, decimal=decimal))
        return cases_for(model, read.frame, self.table.source)


def has_cluster() -> bool:
    """Return whether Dask has a client, whose workers have memory of their own."""
    if find_spec("distributed") is None:
        return False
    try:
        import_module("distributed").get_client()
    except ValueError:  # there is none
        return False
    return True


def learned_from_all(model: Any, large: LargeRows) -> Any | None:
    """Fit a model of some rows to all that are not held out, part by part; None where Dask is not installed."""
    if find_spec("dask") is None:
        return None
    read = import_module("dask").delayed(partial(large.rows_to_learn, model), nout=2, pure=False)
    X, y = zip(*(read(part) for part in large.learned_parts), strict=True)
    return fit_partitions(clone(model), list(X), list(y))
