"""A ColumnTransformer with one-hot columns as two steps: an encoder of the table, and scalers of its output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from whynear.metric.column_blocks import Block, blocks_of, combined
from whynear.metric.steps import Step, kept_columns, linear_steps, transformed
from whynear.tables.encoder import kept_apart
from whynear.utils.arrays import Array
from whynear.utils.columns import check_finite, default_names, numbers


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
    `FittedPipeline` uses.

    Attributes
    ----------
    feature_names_in_ : tuple of str
        The columns of the table.
    made_ : list of str
        The columns made, in the order of the ColumnTransformer.
    sources_ : list of str
        For each of them the column of the table it comes from.
    text_columns, filled_columns : tuple of str
        The columns that hold categories, and those in which missing values are filled in.
    widths : list of int
        How many columns each block makes.
    """

    def __init__(self, step: Any, blocks: Sequence[Block]) -> None:
        named = getattr(step, "feature_names_in_", None)
        self.named = named is not None
        self.feature_names_in_ = default_names(step.n_features_in_) if named is None else tuple(map(str, named))
        self.blocks = tuple(blocks)
        columns = np.array(self.feature_names_in_, dtype=object)
        made: list[str] = []
        self.sources_: list[str] = []
        self.widths: list[int] = []
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
