"""The data sets of Schulz, Mokbel, Biehl and Hammer, each with its learner, its cells and the dimension they choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from whynear.reproduce.cells import Cell, Found, Result
from whynear.reproduce.plans import plan
from whynear.reproduce.schulz.cells import bounds, error_curve, errors, paths
from whynear.utils.arrays import Array

NEAR = 0.01  # errors that count as the smallest


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
    def _given(self) -> dict[str, Any]:
        return {"dataset": self.dataset, "learner": self.learner, "settings": dict(self.settings)}

    @cached_property
    def errors(self) -> Cell:
        """Errors of the metric as it was learned."""
        return Cell(errors, self._given, 2)

    @cached_property
    def curve(self) -> Cell:
        """Errors over the effective dimension, on the test cases."""
        return Cell(error_curve, {**self._given, "dimensions": self.dimensions}, self.seconds)

    @cached_property
    def folds(self) -> list[Cell]:
        """The same on each fold of the training cases."""
        numbered = ({"fold": number, "n_folds": self.n_folds} for number in range(self.n_folds))
        return [
            Cell(error_curve, {**self._given, "dimensions": self.dimensions, **fold}, self.seconds) for fold in numbered
        ]

    def bounds_at(self, dimension: int) -> Cell:
        """Relevance bounds at an effective dimension."""
        return Cell(bounds, {**self._given, "dimension": dimension}, 3)

    @cached_property
    def bounds(self) -> list[Cell]:
        """Relevance bounds at each effective dimension, with the curve that chooses among them."""
        return [self.curve, *(self.bounds_at(dimension) for dimension in self.dimensions)]

    def chosen(self, found: Found) -> Result:
        """The bounds at the effective dimension chosen as in the paper."""
        return found(self.bounds_at(self.by_test(found)))

    @property
    def paths(self) -> Cell:
        """What shrinkage makes of the map."""
        return Cell(paths, self._given, 2)

    def by_test(self, found: Found) -> int:
        """The effective dimension as the paper chose it."""
        return self._smallest(np.array(found(self.curve)["test"]))

    def by_folds(self, found: Found) -> int:
        """The effective dimension chosen without the test cases."""
        return self._smallest(np.mean([found(cell)["test"] for cell in self.folds], axis=0))

    def _smallest(self, curve: Array) -> int:
        """The largest null space with a small error."""
        return self.dimensions[int(np.flatnonzero(curve <= curve.min() + NEAR)[0])]

    def test_error(self, found: Found, dimension: int) -> float:
        """The mean error of the extreme maps on the test cases."""
        return float(found(self.curve)["test"][self.dimensions.index(dimension)])


def cases() -> dict[str, Case]:
    """All of them, by the names of the table."""
    return {name: Case(**given) for name, given in plan("schulz-table1").settings["cases"].items()}
