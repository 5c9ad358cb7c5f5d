"""A fitted Pipeline taken apart: its encoder, its linear steps and its learner."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from whynear.data.cells import DateColumn
from whynear.data.encoder import TableEncoder
from whynear.data.reading import ModelColumns
from whynear.data.spectra import recipe_name
from whynear.metric.base import Metric, rebuild
from whynear.metric.steps import KeptColumns, Step, Units, estimators_of, kept_columns, linear_steps
from whynear.model.encoders import Encoder, SpectralEncoder, blocks_of, split_columns, split_spectra
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import (
    check_dense,
    check_finite,
    check_same_columns,
    check_unmasked,
    column_names,
    default_names,
    numbers,
)
from whynear.utils.text import counted


def weights_for(method: Any, weights: ArrayLike | None) -> dict[str, Any]:
    """Return what passes weights to the steps of a Pipeline, or to a method, that take them; of others, nothing.

    Nothing either where all weights are one, so that they change no bit.

    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> weights_for(make_pipeline(StandardScaler(), KNeighborsClassifier()), [1.0, 2.0])
    {'standardscaler__sample_weight': array([1., 2.])}
    """
    if weights is None or ((numbers := np.asarray(weights, dtype=np.float64)) == 1).all():
        return {}
    steps = method.steps if isinstance(method, Pipeline) else [("", method)]
    taking = [name for name, step in steps if has_fit_parameter(step, "sample_weight")]
    return {f"{name}__sample_weight".removeprefix("__"): numbers for name in taking}


CLASSIFIER_ATTRIBUTES = ("metric_", "classes_", "predict", "predict_proba", "evidence")


@dataclass(frozen=True, eq=False)
class FittedPipeline:
    """A fitted learner, the steps before it, the encoder before these, and the columns the model takes."""

    encoder: Encoder | None  # None where the table holds numbers and no step preprocesses spectra
    steps: tuple[Any, ...]  # between the encoder and the learner
    learner: Any  # the last estimator
    columns: tuple[str, ...]  # of the table; x0, x1, ... if it was fitted without names
    named: bool  # whether it was fitted with names
    model: Any  # the whole of it

    @classmethod
    def of(cls, model: Any) -> FittedPipeline:
        """Return the parts of a fitted estimator, a Pipeline (of Pipelines) or a search; parts stay as they are."""
        if isinstance(model, cls):
            return model
        check_is_fitted(model)
        estimators = estimators_of(model)
        if not estimators:
            raise TypeError("A Pipeline of 'passthrough' steps alone has no metric. Add a learner.")
        first, *behind = estimators
        names = getattr(first, "feature_names_in_", None)
        if names is None:  # without ``n_features_in_`` as many columns as the metric has
            learned = getattr(getattr(first, "metric_", None), "n_features", 0)
            columns = default_names(int(getattr(first, "n_features_in_", learned)))
        else:
            columns = tuple(map(str, names))
        encoder: Encoder | None = None
        steps = estimators[:-1]
        if (spectral := split_spectra(estimators, columns)) is not None:
            encoder, steps = spectral[0], estimators[spectral[1] : -1]
        elif isinstance(first, TableEncoder) and behind:
            encoder, steps = first, behind[:-1]
        elif behind and (split := split_columns(first, behind[0])) is not None:
            encoder, steps = split[0], [split[1], *behind[:-1]]
        return cls(encoder, tuple(steps), estimators[-1], columns, names is not None, model)

    @classmethod
    def of_classifier(cls, model: Any) -> FittedPipeline:
        """Return the same for a classifier with a method ``evidence``; refuse others."""
        given = model.model if isinstance(model, cls) else model
        if not isinstance(given, type):
            check_is_fitted(given)
            if all(hasattr(next(reversed(estimators_of(given)), None), name) for name in CLASSIFIER_ATTRIBUTES):
                return cls.of(model)
        kind = given.__name__ if isinstance(given, type) else type(given).__name__
        raise TypeError(
            f"A fitted classifier with a method evidence is needed, or a Pipeline ending in one, got {kind} instead. "
            "Fit a classifier of this library, for example GMLVQ."
        )

    @classmethod
    def of_any(cls, obj: Any) -> Any:
        """Return the parts of an estimator, and anything else, such as a metric value, unchanged."""
        return cls.of(obj) if isinstance(obj, BaseEstimator) else obj

    @cached_property
    def made(self) -> tuple[str, ...]:
        """The columns the encoder makes, in which the metric is stated; those of the table without an encoder."""
        return self.columns if self.encoder is None else tuple(self.encoder.made_)

    @property
    def without_encoder(self) -> Any:
        """The model after a `TableEncoder` and the preprocessing of spectra; the whole model without them."""
        if isinstance(self.encoder, SpectralEncoder):
            return make_pipeline(*self.steps, self.learner)
        return self.model[1:] if isinstance(self.encoder, TableEncoder) else self.model

    def behind_encoder(self, rest: Any) -> Any:
        """Return another model of the columns made behind the same encoder: one that takes the table."""
        if not isinstance(self.encoder, SpectralEncoder):
            return rest if self.table_encoder is None else Pipeline([("tableencoder", self.encoder), *rest.steps])
        first = [] if self.table_encoder is None else [self.table_encoder]
        return make_pipeline(*first, *self.encoder.preprocessing, *estimators_of(rest))

    @property
    def table_encoder(self) -> TableEncoder | None:
        """The encoder of categories and missing values, if there is one."""
        found = self.encoder.table_encoder if isinstance(self.encoder, SpectralEncoder) else self.encoder
        return found if isinstance(found, TableEncoder) else None

    @property
    def preprocessing(self) -> str:
        """What is done to spectra, in words; empty where there are none, or nothing is done."""
        return recipe_name(self.encoder.preprocessing) if isinstance(self.encoder, SpectralEncoder) else ""

    @property
    def preprocessed(self) -> tuple[str, ...]:
        """The channels of spectra that steps change; they are shown after these steps."""
        return self.encoder.channels if isinstance(self.encoder, SpectralEncoder) else ()

    @property
    def sources(self) -> tuple[str, ...]:
        """For each column made, the column of the table it comes from."""
        return self.columns if self.encoder is None else tuple(self.encoder.sources_)

    @property
    def given(self) -> ModelColumns:
        """The columns of the table, and how they were written where the model was fitted."""
        return ModelColumns.behind(self.table_encoder, self.columns, self.text_columns)

    def sums(self, values: Array) -> Array:
        """Return values of the columns made (the last axis) summed for each column of the table."""
        return values if self.encoder is None else self.encoder.sums(values)

    def table(self, X: Any, what: str = "X") -> pd.DataFrame:
        """Return what `matched` returns, as finite numbers where no encoder takes it."""
        return self._checked(self.matched(X, what), what)

    def matched(self, X: Any, what: str = "X") -> pd.DataFrame:
        """Return rows with the columns of the table in their order: matched by name if X has names, else by place.

        Enough for rows that were checked before, such as those that the model was fitted to or that it predicted.
        """
        if isinstance(X, pd.Series):
            X = X.to_frame().T
        elif not isinstance(X, pd.DataFrame):
            check_dense(X, what)
            check_unmasked(X, what)
            values = np.asarray(X)
            if values.ndim not in (1, 2):
                raise ValueError(f"{what} must be one case or a table of cases, got shape {values.shape} instead.")
            X = pd.DataFrame(np.atleast_2d(values))
        return self._in_order(X, what)

    def numbers(self, X: Any) -> Any:
        """Return X in the columns of the metric; unchanged if it has these already."""
        if self.encoder is None or self._is_encoded(X):
            return X
        return self.encoder.transform(self.table(X))

    def read(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return rows that ``table`` returned with texts such as ``3,5`` or ``?`` as what they stand for."""
        return table if self.table_encoder is None else self.table_encoder.read(table)

    def shown(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return rows that ``table`` returned with their spectra preprocessed, in the columns of the table."""
        if not self.preprocessed:
            return table
        values = np.asarray(self.encoded(table))[:, [self.made.index(name) for name in self.preprocessed]]
        return table.assign(**dict(zip(self.preprocessed, values.T, strict=True)))

    @cached_property
    def date_columns(self) -> dict[str, DateColumn]:
        """The columns of the table that hold dates, each with how its days are written."""
        return {} if self.table_encoder is None else self.table_encoder.date_columns

    def shown_value(self, name: str, value: Any) -> Any:
        """Return a value of a column as it is shown: the days of a column of dates as a date, others unchanged."""
        return value if self.table_encoder is None else self.table_encoder.shown_value(name, value)

    def with_dates(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return rows with all dates written as ISO 8601 does."""
        return table if self.table_encoder is None else self.table_encoder.with_dates(table)

    def encoded(self, table: pd.DataFrame) -> Any:
        """Return the columns made, of rows that ``table`` returned."""
        if self.encoder is not None:
            return self.encoder.transform(table)
        return table if self.named else table.to_numpy()

    def seen(self, table: pd.DataFrame) -> Any:
        """Return the input of the learner, for rows that ``table`` returned."""
        return self.behind(self.encoded(table))

    def behind(self, X: Any) -> Any:
        """Return the input of the learner, for rows in the columns made."""
        for step in self.steps:
            X = step.transform(X)
        return X

    @property
    def coordinates(self) -> Literal["columns", "steps"]:
        """Whether the coordinates of the learner are columns made, shifted and scaled, or mixed from them by steps."""
        return "steps" if self._kept is None else "columns"

    @property
    def units(self) -> Units:
        """What a weight in the coordinates of the learner refers to."""
        return "per unit" if self._kept is None else self._kept.units

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """The columns made; behind steps that mix columns, the names that the steps give to their output."""
        if self.coordinates == "columns":
            return self.made
        names: Any = self.made
        for step in self.steps:
            if not hasattr(step, "get_feature_names_out"):
                return tuple(self.learner.metric_.feature_names)
            names = step.get_feature_names_out(names)
        return tuple(map(str, names))

    def as_seen(self, metric: Metric) -> Metric:
        """Return a metric of the columns made in the order of the learner, which a step may have changed."""
        order = self.reached
        if order is None or (np.diff(order) > 0).all():
            return metric
        arrays = {name: array[..., order] for name, array in metric.as_learned().arrays().items()}
        return rebuild(type(metric), [self.made[place] for place in order], arrays)

    def spread(self, seen: Array, elsewhere: float = 0.0) -> Array:
        """Return values of the coordinates of the learner (last axis) for each feature, ``elsewhere`` for others."""
        if self._kept is None:
            return seen
        spread = np.full((*seen.shape[:-1], len(self.made)), elsewhere)
        spread[..., self._kept.numbers] = seen
        return spread

    def values(self, seen: Array) -> Array:
        """Return cases of the learner in the units of the columns made; NaN in columns that did not reach it."""
        if self._kept is None:
            return seen
        return self.spread((seen - self._origin) * self._kept.divisor, np.nan)

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns of the table that hold categories."""
        return () if self.encoder is None else self.encoder.text_columns

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories."""
        return {} if self.encoder is None else self.encoder.known_categories

    @property
    def reached(self) -> Indices | None:
        """For each input of the learner the place of the column made that it comes from; None if steps mix columns."""
        return None if self._kept is None else self._kept.numbers

    @cached_property
    def filled_columns(self) -> tuple[str, ...]:
        """The columns of the table in which missing values are filled in."""
        if self.encoder is not None:
            return self.encoder.filled_columns
        if any(isinstance(step, SimpleImputer) for step in self.steps):
            return self.columns
        first = self.steps[0] if self.steps else None
        blocks = blocks_of(first) if isinstance(first, ColumnTransformer) else ()
        return tuple(self.columns[place] for block in blocks if block.imputers for place in block.inputs)

    def _is_encoded(self, X: Any) -> bool:
        """Return whether X has the columns made: by name; without names, by their number if the model has names."""
        names = column_names(X)
        if self.made == self.columns:  # an encoder that only fills in missing values, which X may still have
            return False
        if names is not None:
            return names == self.made
        values = np.asarray(X)
        return self.named and values.dtype.kind in "fiub" and values.shape[-1] == len(self.made)

    @cached_property
    def _parts(self) -> tuple[Step, ...] | None:
        # The steps after the encoder as linear maps; None if one of them is not linear.
        try:
            return tuple(part for step in self.steps for part in linear_steps(step))
        except (TypeError, ValueError):
            return None

    @cached_property
    def _kept(self) -> KeptColumns | None:
        return None if self._parts is None else kept_columns(self._parts, len(self.made))

    @cached_property
    def _origin(self) -> Array:
        zeros: Any = np.zeros((1, len(self.made)))
        if self.named:
            zeros = pd.DataFrame(zeros, columns=list(self.made))
        return np.asarray(self.behind(zeros))[0]

    def _in_order(self, table: pd.DataFrame, what: str) -> pd.DataFrame:
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
                f"{what} must have the {counted(len(self.columns), 'feature')} of the learner, got {table.shape[1]} "
                "instead."
            )
        return table.set_axis(list(self.columns), axis=1)

    def _checked(self, table: pd.DataFrame, what: str) -> pd.DataFrame:
        """Return the table as finite numbers; unchanged if an encoder or a step that is not linear follows."""
        if self.encoder is not None or self._parts is None:
            return table
        if not (table.dtypes == np.float64).all():
            table = pd.DataFrame({name: numbers(table[name], what) for name in table}, index=table.index)
        values = table.to_numpy()
        if self.filled_columns:
            mended = np.isin(self.columns, self.filled_columns) & np.isnan(values)
            values = np.where(mended, 0.0, values)
        check_finite(values, self.columns, what)
        return table


def class_codes(y: ArrayLike, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes in y, and for each row the place of its class."""
    labels = np.asarray(y)
    if labels.shape != (n,):
        raise ValueError(f"y must hold one class for each of the {n} rows, got shape {labels.shape} instead.")
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes
