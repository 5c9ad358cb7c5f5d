"""The prediction of a linear map taken apart: what each feature adds to it, and its coefficients."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline
from whynear.utils.arrays import Array

MAP_ATTRIBUTES = ("metric_", "coef_", "origin_", "target_origin_", "predict")


def is_linear_map(model: Any) -> bool:
    """Return whether a fitted model, or the last step of a Pipeline, predicts numbers by a linear map about an origin.

    >>> from whynear import MinimumNormRegressor
    >>> is_linear_map(MinimumNormRegressor().fit([[0.0], [1.0]], [0.0, 1.0])), is_linear_map(MinimumNormRegressor())
    (True, False)
    """
    if isinstance(model, type):
        return False
    last = next(reversed(estimators_of(model)), None)
    return all(name in vars(last) or hasattr(type(last), name) for name in MAP_ATTRIBUTES)


@dataclass(frozen=True, eq=False)
class LinearParts:
    """A linear map of a measured target, feature by feature.

    Features are the columns of the table; behind steps that mix columns, the inputs of the learner.
    """

    model: FittedPipeline

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.model.columns if self._summed else self.model.feature_names

    def contributions(self, seen: Array) -> Array:
        """Return c_l = omega_l (x - origin)_l for each case as the learner sees it, summed over a column of the table.

        The prediction of a case is that at the origin, plus the sum of its contributions.
        """
        learner = self.model.learner
        parts = self.model.spread((seen - learner.origin_) * learner.coef_)
        return self.model.sums(parts) if self._summed else parts

    @cached_property
    def coefficients(self) -> Array:
        """By how much the prediction rises per unit of each feature; NaN for categories."""
        width = len(self.model.learner.coef_)
        unit = self.model.values(np.ones(width)) - self.model.values(np.zeros(width))
        slopes = self.model.spread(self.model.learner.coef_) / np.where(np.isfinite(unit), unit, 1.0)
        return self._of_numbers(slopes)

    @cached_property
    def origin(self) -> Array:
        """The value of each feature at which its contribution is zero; NaN for categories and columns not used."""
        return self._of_numbers(self.model.values(self.model.learner.origin_))

    @property
    def means(self) -> list[Any]:
        """The same as it is shown: that of a column of dates is a date."""
        if not self._summed:
            return self.origin.tolist()
        return [self.model.shown_value(*pair) for pair in zip(self.features, self.origin.tolist(), strict=True)]

    def decoded(self, values: Array) -> list[Any]:
        """Return one case, given in the columns made, by feature; None for a missing value."""
        held = self.model.encoder.decoded(values) if self._summed and self.model.encoder is not None else values
        return [None if pd.isna(value) else value for value in held]

    @property
    def _summed(self) -> bool:
        return self.model.encoder is not None and self.model.coordinates == "columns"

    def _of_numbers(self, values: Array) -> Array:
        """Return values of the columns made for each feature: of a column of numbers its own, NaN for categories."""
        if not self._summed:
            return values
        first = {name: place for place, name in reversed(list(enumerate(self.model.sources)))}
        text = set(self.model.text_columns)
        return np.array([np.nan if name in text else values[first[name]] for name in self.features])
