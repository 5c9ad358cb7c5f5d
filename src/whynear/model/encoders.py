"""The encoders of fitted models: columns of a table as blocks of numbers, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from whynear.data.encoder import TableEncoder, kept_apart
from whynear.data.spectra import SpectralTransformer
from whynear.metric.steps import (
    Mixing,
    Scaling,
    Selection,
    Step,
    estimators_of,
    kept_columns,
    linear_steps,
    not_linear,
    transformed,
)
from whynear.utils.arrays import Array, Indices
from whynear.utils.columns import check_finite, default_names, numbers


class Summing(Protocol):
    """The way back from columns to features: columns of one feature are summed."""

    @property
    def feature_names_in_(self) -> Any:
        """The features: for an encoder, the columns of its table."""

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns (the last axis) summed for each feature."""

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one case in the features."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some columns, by their numbers, the steps they go through, and the factor of the result."""

    inputs: Indices
    steps: tuple[Any, ...]
    factor: float = 1.0

    @property
    def imputers(self) -> tuple[Any, ...]:
        """The first steps, as long as they fill in missing values."""
        others = [place for place, step in enumerate(self.steps) if not isinstance(step, SimpleImputer)]
        return self.steps[: others[0]] if others else self.steps

    @property
    def one_hot(self) -> OneHotEncoder | None:
        """The encoder of categories, if the steps are only imputers and this encoder; otherwise None."""
        rest = self.steps[len(self.imputers) :]
        return rest[0] if len(rest) == 1 and isinstance(rest[0], OneHotEncoder) else None

    @property
    def linear(self) -> list[Step]:
        """The steps as linear maps; TypeError or ValueError if one is not linear."""
        return [part for step in self.steps for part in linear_steps(step)]


def blocks_of(step: Any) -> tuple[Block, ...]:
    """Return the blocks of a ColumnTransformer in the order of its output; any other step is a single block."""
    if not isinstance(step, ColumnTransformer):
        return (Block(np.arange(step.n_features_in_), (step,)),)
    places, weights = step._transformer_to_input_indices, step.transformer_weights or {}
    return tuple(
        Block(np.asarray(places[name], dtype=np.intp), tuple(estimators_of(made)), float(weights.get(name, 1.0)))
        for name, made, _ in step.transformers_
        if not (isinstance(made, str) and made == "drop") and len(places[name])
    )


def combined(blocks: Sequence[tuple[Indices, Sequence[Step], float]], n_inputs: int) -> list[Step]:
    """Return the steps of several blocks together; a block is its columns, its steps and the factor of its result."""
    kept = [kept_columns(steps, len(inputs)) for inputs, steps, _ in blocks]
    chosen = [inputs[one.numbers] for (inputs, _, _), one in zip(blocks, kept, strict=True) if one is not None]
    order = np.concatenate(chosen) if chosen else np.zeros(0, dtype=np.intp)
    if len(chosen) < len(blocks) or len(np.unique(order)) < len(order):  # mixed, or a column is used twice
        return [Mixing(np.vstack([_matrix(*block, n_inputs) for block in blocks]))]
    found = [one for one in kept if one is not None]
    parts: list[Step] = []
    if not np.array_equal(order, np.arange(n_inputs)):
        parts.append(Selection(order, n_inputs))
    scalings = [(one, factor) for one, (_, _, factor) in zip(found, blocks, strict=True)]
    if any((one.scaled | (factor != 1)).any() for one, factor in scalings):
        divisor = np.concatenate([one.divisor / factor for one, factor in scalings])
        standard = np.concatenate([one.scaled & one.standard & (factor == 1) for one, factor in scalings])
        parts.append(Scaling(divisor, standard))
    return parts


def _matrix(inputs: Indices, steps: Sequence[Step], factor: float, n_inputs: int) -> Array:
    matrix = np.zeros((len(inputs), n_inputs))
    matrix[np.arange(len(inputs)), inputs] = 1.0
    for step in steps:
        match step:
            case Scaling(scale):
                matrix = matrix / scale[:, None]
            case Selection(kept):
                matrix = matrix[kept]
            case Mixing(components):
                matrix = components @ matrix
    return factor * matrix


@linear_steps.register
def _columnwise(step: ColumnTransformer) -> list[Step]:
    blocks = blocks_of(step)
    if any(block.factor <= 0 for block in blocks):
        raise not_linear(step, f"multiplies by transformer_weights={step.transformer_weights}, not all positive")
    return combined([(block.inputs, block.linear, block.factor) for block in blocks], step.n_features_in_)


def split_columns(step: Any, following: Any) -> tuple[ColumnEncoder, BlockScaler] | None:
    """Split a first step into an encoder and scalers, for the estimator after it; None if it encodes no column.

    Also None if a block is neither one-hot nor linear: then its output cannot be stated in the columns of the table.
    """
    if not isinstance(step, ColumnTransformer | OneHotEncoder):
        return None
    blocks = blocks_of(step)
    if all(block.one_hot is None for block in blocks):
        return None
    try:
        encoder = ColumnEncoder(step, blocks)
        scaler = BlockScaler(blocks, encoder.widths, getattr(following, "feature_names_in_", None))
        linear_steps(scaler)
    except (TypeError, ValueError):
        return None
    return encoder, scaler


class ColumnEncoder:
    """The part of a ColumnTransformer before its scalers: numbers unchanged, categories one-hot.

    Missing values are filled in where an imputer comes first. It has the methods of a `TableEncoder` that
    `FittedPipeline` uses. Columns made are in the order of the ColumnTransformer.
    """

    def __init__(self, step: Any, blocks: Sequence[Block]) -> None:
        named = getattr(step, "feature_names_in_", None)
        self.named = named is not None
        self.feature_names_in_ = default_names(step.n_features_in_) if named is None else tuple(map(str, named))
        self.blocks = tuple(blocks)
        columns = np.array(self.feature_names_in_, dtype=object)
        made: list[str] = []
        self.sources_: list[str] = []
        self.widths: list[int] = []  # how many columns each block makes
        self._encoded: list[list[str]] = []  # the one-hot columns of each block
        for block in blocks:
            filled = kept_columns([part for step in block.imputers for part in linear_steps(step)], len(block.inputs))
            assert filled is not None, "imputers mix no columns"
            inputs = columns[block.inputs[filled.numbers]]
            self._encoded.append([] if block.one_hot is None else list(inputs))
            if block.one_hot is None:
                names, sources = list(inputs), list(inputs)
            else:
                names = list(block.one_hot.get_feature_names_out(inputs))
                shown = [len(block.one_hot._compute_transformed_categories(i)) for i in range(len(inputs))]
                sources = list(np.repeat(inputs, shown))
            made += names
            self.sources_ += sources
            self.widths.append(len(names))
        self.made_ = kept_apart(made)
        self.text_columns = _columns_of(columns, [block for block in blocks if block.one_hot is not None])
        self.filled_columns = _columns_of(columns, [block for block in blocks if block.imputers])

    def transform(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns made of a table that has the columns of the encoder in their order."""
        parts = [np.empty((len(table), 0)), *(self._made_of(block, table) for block in self.blocks)]
        values = np.hstack(parts)
        check_finite(values, self.made_, "X")
        return pd.DataFrame(values, index=table.index, columns=self.made_)

    def _made_of(self, block: Block, table: pd.DataFrame) -> Array:
        rows: Any = table.iloc[:, block.inputs]
        if block.one_hot is None:
            rows = pd.DataFrame({name: numbers(rows[name], "X") for name in rows}, index=table.index)
        if not self.named:
            rows = rows.to_numpy()
        for step in (*block.imputers, *([] if block.one_hot is None else [block.one_hot])):
            rows = step.transform(rows)
        return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns made (the last axis) summed for each column of the table."""
        array = np.asarray(values, dtype=np.float64)
        total = np.zeros((*array.shape[:-1], len(self.feature_names_in_)))
        for number, source in enumerate(self.sources_):
            total[..., self.feature_names_in_.index(source)] += array[..., number]
        return total

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories."""
        return {
            name: known.tolist()
            for block, encoded in zip(self.blocks, self._encoded, strict=True)
            if block.one_hot is not None
            for name, known in zip(encoded, block.one_hot.categories_, strict=True)
        }

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one encoded case in the columns of the table: numbers, the nearest categories, None elsewhere."""
        row, held = np.asarray(values, dtype=np.float64), dict.fromkeys(self.feature_names_in_)
        place = 0
        for block, width, encoded in zip(self.blocks, self.widths, self._encoded, strict=True):
            one_hot = block.one_hot
            if one_hot is None:
                held.update(zip(self.sources_[place : place + width], row[place : place + width].tolist(), strict=True))
                place += width
                continue
            for number, name in enumerate(encoded):
                shown = len(one_hot._compute_transformed_categories(number))
                held[name] = _category(one_hot, number, row[place : place + shown])
                place += shown
        return list(held.values())


class BlockScaler:
    """The part of a ColumnTransformer after its encoder: each block of columns made goes through its scalers."""

    def __init__(self, blocks: Sequence[Block], widths: Sequence[int], names: Any) -> None:
        self.n_features_in_ = sum(widths)
        ends = np.cumsum(widths)
        self.blocks = [
            Block(
                np.arange(end - width, end),
                () if block.one_hot is not None else block.steps[len(block.imputers) :],
                block.factor,
            )
            for block, width, end in zip(blocks, widths, ends, strict=True)
        ]
        self.names = names

    def transform(self, X: Any) -> Any:
        """Return the output of the ColumnTransformer, from the columns its encoder makes."""
        made = np.asarray(X, dtype=np.float64)
        parts = [np.empty((len(made), 0))]
        for block in self.blocks:
            rows = made[:, block.inputs]
            for step in block.steps:
                rows = transformed(step, rows)
            parts.append(block.factor * rows)
        values = np.hstack(parts)
        return values if self.names is None else pd.DataFrame(values, columns=self.names)


@linear_steps.register
def _scaled_blocks(step: BlockScaler) -> list[Step]:
    return combined([(block.inputs, block.linear, block.factor) for block in step.blocks], step.n_features_in_)


def _columns_of(columns: Any, blocks: Sequence[Block]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for block in blocks for name in columns[block.inputs]))


def _category(encoder: OneHotEncoder, number: int, shown: Array) -> Any:
    """Return the category with the largest indicator; that of a dropped one is one less the sum of the others."""
    if not np.isfinite(shown).all():
        return None
    known = list(encoder._compute_transformed_categories(number, remove_dropped=False))
    left_out = None if encoder._drop_idx_after_grouping is None else encoder._drop_idx_after_grouping[number]
    if left_out is not None:
        shown = np.insert(shown, int(left_out), 1.0 - shown.sum())
    return known[int(np.argmax(shown))] if shown.any() else None


class SpectralEncoder:
    """The columns in which the metric behind preprocessed spectra is stated: channels keep their names.

    Preprocessing need not be linear, so the metric is one of the preprocessed channels, not of those of the table. It
    has the methods of a `TableEncoder` that `FittedPipeline` uses, and may have one before the preprocessing.
    """

    def __init__(
        self,
        table_encoder: TableEncoder | None,
        preprocessing: Sequence[SpectralTransformer],
        columns: Sequence[str],
        following: Any,
    ) -> None:
        self.table_encoder, self.preprocessing = table_encoder, tuple(preprocessing)
        self.feature_names_in_ = tuple(columns)
        self.made_ = list(columns) if table_encoder is None else list(table_encoder.made_)
        self.sources_ = list(columns) if table_encoder is None else list(table_encoder.sources_)
        self._named = hasattr(preprocessing[0], "feature_names_in_")
        self._output_named = hasattr(following, "feature_names_in_")

    def transform(self, table: pd.DataFrame) -> Any:
        """Return the columns made of a table, as the step behind takes them: with names if it was fitted with any."""
        made = self._before(table)
        rows: Any = made if self._named else made.to_numpy()
        for step in self.preprocessing:
            rows = step.transform(rows)
        values = np.asarray(rows)
        return pd.DataFrame(values, made.index, self.made_) if self._output_named else values

    def sums(self, values: ArrayLike) -> Array:
        """Return values of the columns made (the last axis) summed for each column of the table."""
        return np.asarray(values) if self.table_encoder is None else self.table_encoder.sums(values)

    def decoded(self, values: ArrayLike) -> list[Any]:
        """Return one encoded case in the columns of the table; channels stay preprocessed."""
        if self.table_encoder is not None:
            return self.table_encoder.decoded(values)
        return [float(value) for value in np.asarray(values)]

    @property
    def channels(self) -> tuple[str, ...]:
        """The columns that the preprocessing changes."""
        changed = {int(place) for step in self.preprocessing for place in step.channels_}
        return tuple(self.made_[place] for place in sorted(changed))

    @property
    def text_columns(self) -> tuple[str, ...]:
        """The columns that hold categories."""
        return () if self.table_encoder is None else self.table_encoder.text_columns

    @property
    def filled_columns(self) -> tuple[str, ...]:
        """The columns in which missing values are filled in."""
        return () if self.table_encoder is None else self.table_encoder.filled_columns

    @property
    def known_categories(self) -> dict[str, list[Any]]:
        """The training categories of each column that holds categories."""
        return {} if self.table_encoder is None else self.table_encoder.known_categories

    def _before(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the columns before the preprocessing, as finite numbers."""
        if self.table_encoder is not None:
            return self.table_encoder.transform(table)
        made = pd.DataFrame({name: numbers(table[name], "X") for name in table}, index=table.index)
        check_finite(made.to_numpy(), self.feature_names_in_, "X")
        return made


Encoder = TableEncoder | ColumnEncoder | SpectralEncoder


def split_spectra(estimators: Sequence[Any], columns: Sequence[str]) -> tuple[SpectralEncoder, int] | None:
    """Return the encoder made of the first steps of a model and their number; None if none preprocesses spectra."""
    table_encoder = estimators[0] if isinstance(estimators[0], TableEncoder) else None
    first = 0 if table_encoder is None else 1
    last = first
    while last < len(estimators) - 1 and isinstance(estimators[last], SpectralTransformer):
        last += 1
    if last == first:
        return None
    return SpectralEncoder(table_encoder, estimators[first:last], columns, estimators[last]), last
