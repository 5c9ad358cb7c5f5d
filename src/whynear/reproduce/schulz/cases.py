"""The data sets of Schulz, Mokbel, Biehl and Hammer: learner, cells, and choice of the effective dimension."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whynear.engine.cells import Cell, Result, ResultOf
from whynear.reproduce.plans import load_plan
from whynear.reproduce.schulz.cells import bounds, error_curve, errors, paths
from whynear.utils.arrays import Array

ERROR_TOLERANCE = 0.01  # errors this close to the lowest are taken as equal to it


@dataclass(frozen=True)
class Case:
    """A data set with a learner, and its cells."""

    dataset: str
    learner: str
    settings: Mapping[str, Any]
    dimensions: list[int]
    published: int | None = None
    n_folds: int = 0
    seconds: float = 5.0

    @cached_property
    def _arguments(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "learner": self.learner, "settings": dict(self.settings)}

    @cached_property
    def errors(self) -> Cell:
        """The errors of the learned metric, without regularization."""
        return Cell(errors, self._arguments, 2)

    @cached_property
    def curve(self) -> Cell:
        """Errors against the effective dimension, on the test rows."""
        return Cell(error_curve, {**self._arguments, "dimensions": self.dimensions}, self.seconds)

    @cached_property
    def folds(self) -> list[Cell]:
        """Errors against the effective dimension, on each fold of the training rows."""
        numbered = ({"fold": number, "n_folds": self.n_folds} for number in range(self.n_folds))
        return [
            Cell(error_curve, {**self._arguments, "dimensions": self.dimensions, **fold}, self.seconds)
            for fold in numbered
        ]

    def bounds_at(self, dimension: int) -> Cell:
        """Relevance bounds at an effective dimension."""
        return Cell(bounds, {**self._arguments, "dimension": dimension}, 3)

    @cached_property
    def bounds(self) -> list[Cell]:
        """Relevance bounds at each effective dimension, after the curve that selects one of them."""
        return [self.curve, *(self.bounds_at(dimension) for dimension in self.dimensions)]

    def chosen(self, result_of: ResultOf) -> Result:
        """The bounds at the effective dimension chosen as in the paper."""
        return result_of(self.bounds_at(self.by_test(result_of)))

    @property
    def paths(self) -> Cell:
        """Lasso, elastic net and ridge solutions for the map."""
        return Cell(paths, self._arguments, 2)

    def by_test(self, result_of: ResultOf) -> int:
        """The effective dimension chosen by the test error, as in the paper."""
        return self._smallest(np.array(result_of(self.curve)["test"]))

    def by_folds(self, result_of: ResultOf) -> int:
        """The effective dimension chosen by cross-validation of the training rows."""
        return self._smallest(np.mean([result_of(cell)["test"] for cell in self.folds], axis=0))

    def _smallest(self, curve: Array) -> int:
        """The smallest dimension with an error near the lowest."""
        return self.dimensions[int(np.flatnonzero(curve <= curve.min() + ERROR_TOLERANCE)[0])]

    def test_error(self, result_of: ResultOf, dimension: int) -> float:
        """The mean error of the extreme maps on the test rows."""
        return float(result_of(self.curve)["test"][self.dimensions.index(dimension)])


def cases() -> dict[str, Case]:
    """All cases by their names in the table."""
    return {name: Case(**fields) for name, fields in load_plan("schulz-table1").settings["cases"].items()}
