"""A fitted learner and the steps before it: from the user's columns to the coordinates the learner sees."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from whynear.metric.steps import Mixing, Scaling, Selection, Step, linear_steps
from whynear.tables.encoder import TableEncoder, numbers
from whynear.utils.arrays import Array
from whynear.utils.columns import check_finite, check_same_columns, column_names, default_names

NEEDED = ("metric_", "classes_", "predict", "predict_proba", "evidence")


@dataclass(frozen=True)
class Chain:
    """A learner, the steps before it, and the columns the first of them takes."""

    learner: Any
    steps: tuple[Any, ...]
    columns: tuple[str, ...]
    named: bool

    @classmethod
    def of(cls, learner: Any) -> Chain:
        """Take apart a fitted learner, a Pipeline ending in one, or a search that found one."""
        if not isinstance(learner, type):
            check_is_fitted(learner)
            *steps, last = estimators_of(learner) or [None]
            if all(hasattr(last, name) for name in NEEDED):
                first = (*steps, last)[0]
                names = getattr(first, "feature_names_in_", None)
                columns = default_names(first.n_features_in_) if names is None else tuple(names)
                return cls(last, tuple(steps), columns, names is not None)
        kind = learner.__name__ if isinstance(learner, type) else type(learner).__name__
        raise TypeError(
            f"A fitted classifier that shows its evidence is needed, or a Pipeline ending in one, got {kind} instead. "
            "Fit one of this library's, for example GMLVQ."
        )

    def table(self, X: Any, what: str) -> pd.DataFrame:
        """Rows with the columns of the chain in their order: matched by name where there are names, else by place."""
        if isinstance(X, pd.Series):
            X = X.to_frame().T
        elif not isinstance(X, pd.DataFrame):
            values = np.asarray(X)
            if values.ndim not in (1, 2):
                raise ValueError(f"{what} must be one case or a table of cases, got shape {values.shape} instead.")
            X = pd.DataFrame(np.atleast_2d(values))
        return self._checked(self._matched(X, what), what)

    def transform(self, table: pd.DataFrame) -> Any:
        """The table as it reaches the learner."""
        X: Any = table if self.named else table.to_numpy()
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def coordinates(self) -> Literal["columns", "steps"]:
        """Whether each coordinate the learner sees is one of the columns, shifted and scaled."""
        return "steps" if self._kept is None else "columns"

    @property
    def units(self) -> str:
        """What a weight refers to."""
        kinds = [type(step) for step in self.steps if any(isinstance(part, Scaling) for part in self._parts_of(step))]
        if not kinds or self.coordinates == "steps":
            return "per unit"
        return "per standard deviation" if set(kinds) == {StandardScaler} else "per scaled unit"

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The columns; or the coordinates that the steps form, by the names they give them."""
        if self.coordinates == "columns":
            return self.columns
        names: Any = self.columns
        for step in self.steps:
            if not hasattr(step, "get_feature_names_out"):
                return tuple(self.learner.metric_.feature_names)
            names = step.get_feature_names_out(names)
        return tuple(map(str, names))

    def spread(self, seen: Array, elsewhere: float = 0.0) -> Array:
        """What is known for each coordinate the learner sees, for each feature."""
        if self._kept is None:
            return seen
        spread = np.full((*seen.shape[:-1], len(self.columns)), elsewhere)
        spread[..., self._kept] = seen
        return spread

    def values(self, seen: Array) -> Array:
        """Cases the learner sees, in the user's units; NaN in columns it never saw."""
        if self._kept is None:
            return seen
        zero = np.asarray(self.transform(pd.DataFrame(np.zeros((1, len(self.columns))), columns=list(self.columns))))
        return self.spread((seen - zero[0]) * self._divisor, np.nan)

    @cached_property
    def _parts(self) -> tuple[Step, ...] | None:
        """The steps as linear maps; None where one of them is none."""
        try:
            return tuple(part for step in self.steps for part in linear_steps(step))
        except (TypeError, ValueError):
            return None

    def _parts_of(self, step: Any) -> Sequence[Step]:
        return () if self._parts is None else linear_steps(step)

    @cached_property
    def _kept(self) -> NDArray[np.intp] | None:
        """The numbers of the columns that reach the learner; None where steps mix columns."""
        kept = np.arange(len(self.columns))
        if self._parts is None or any(isinstance(part, Mixing) for part in self._parts):
            return None
        for part in self._parts:
            if isinstance(part, Selection):
                kept = kept[part.kept]
        return kept

    @property
    def _divisor(self) -> Array:
        """What the columns that reach the learner were divided by."""
        divisor = np.ones(len(self.columns))
        for part in self._parts or ():
            divisor = divisor[part.kept] if isinstance(part, Selection) else divisor * getattr(part, "scale", 1.0)
        return divisor

    def _matched(self, table: pd.DataFrame, what: str) -> pd.DataFrame:
        names = column_names(table)
        if names is not None and (self.named or set(names) == set(self.columns)):
            repeated = [name for name, count in Counter(names).items() if count > 1]
            if repeated:
                raise ValueError(f"{what} has the column {repeated[0]!r} more than once. Keep one of them.")
            if set(names) != set(self.columns):
                check_same_columns(names, self.columns, what)
            return table[list(self.columns)]
        if table.shape[1] != len(self.columns):
            raise ValueError(
                f"{what} must have the {len(self.columns)} features of the learner, got {table.shape[1]} instead."
            )
        return table.set_axis(list(self.columns), axis=1)

    def _checked(self, table: pd.DataFrame, what: str) -> pd.DataFrame:
        """The table as finite numbers; as it is where a step before the learner may want something else."""
        if self._parts is None:
            return table
        table = pd.DataFrame({name: numbers(table[name], what) for name in table}, index=table.index)
        values = table.to_numpy()
        if any(isinstance(step, SimpleImputer) for step in self.steps):
            values = np.where(np.isnan(values), 0.0, values)
        check_finite(values, self.columns, what)
        return table


def estimators_of(obj: Any) -> list[Any]:
    """The estimators of nested Pipelines and searches in order, without those that pass everything through."""
    if obj is None or isinstance(obj, str):
        return []
    if isinstance(obj, Pipeline):
        return [estimator for _, step in obj.steps for estimator in estimators_of(step)]
    return estimators_of(obj.best_estimator_) if hasattr(obj, "best_estimator_") else [obj]


def encoder_and_rest(model: Any) -> tuple[TableEncoder | None, Any]:
    """The encoder a Pipeline starts with, and the Pipeline behind it; None and the model where there is none."""
    if isinstance(model, Pipeline) and isinstance(model.steps[0][1], TableEncoder) and len(model.steps) > 1:
        return model.steps[0][1], model[1:]
    return None, model


def class_codes(y: ArrayLike, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The classes in y, and for each row the place of its class."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one class for each of the {n} rows, got shape {labels.shape} instead.")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes
