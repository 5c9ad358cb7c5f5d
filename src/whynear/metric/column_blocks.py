"""The blocks of a fitted ColumnTransformer: which columns go through which steps, and their linear maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from whynear.metric.steps import (
    KeptColumns,
    Mixing,
    Scaling,
    Selection,
    Step,
    estimators_of,
    kept_columns,
    linear_steps,
    not_linear,
)
from whynear.utils.arrays import Array, Indices


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
    scaling = _scaling(found, [factor for _, _, factor in blocks])
    return parts if scaling is None else [*parts, scaling]


def _scaling(kept: Sequence[KeptColumns], factors: Sequence[float]) -> Scaling | None:
    changed = [one.scaled | (factor != 1) for one, factor in zip(kept, factors, strict=True)]
    if not any(part.any() for part in changed):
        return None
    divisors = [one.divisor / factor for one, factor in zip(kept, factors, strict=True)]
    standard = [one.scaled & one.standard & (factor == 1) for one, factor in zip(kept, factors, strict=True)]
    return Scaling(np.concatenate(divisors), np.concatenate(standard))


def _matrix(inputs: Indices, steps: Sequence[Step], factor: float, n_inputs: int) -> Array:
    """Return the linear map of one block, a row per output."""
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
