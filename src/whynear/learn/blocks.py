"""Training rows in blocks, here or on other machines: learners take sums over them, in the order of the blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from whynear.learn.inputs import Labelled, range_of_columns
from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit
from whynear.utils.threads import row_blocks

Result = TypeVar("Result")

PART_BYTES = 2 << 20  # of rows that are worked on at a time: they stay in the cache


class Cases(NamedTuple):
    """Cases with the places of their classes, and weights: those of all cases of a training set sum to one."""

    X: Array
    codes: Indices
    weights: Array

    @property
    def n_rows(self) -> int:
        """Number of cases."""
        return len(self.X)

    def some(self, rows: slice) -> Cases:
        """Return some of the cases."""
        return Cases(self.X[rows], self.codes[rows], self.weights[rows])


class Block(Protocol):
    """Cases that may be stored in any way: some of them are read at a time."""

    @property
    def n_rows(self) -> int:
        """Number of cases."""
        ...

    def some(self, rows: slice) -> Cases:
        """Return some of the cases."""
        ...


@dataclass(frozen=True)
class Blocks(ABC):
    """A checked training set in blocks.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The classes.
    feature_names : tuple of str
        The names of the columns.
    input_range : ndarray of shape (2, n_columns)
        The smallest and the largest value of each column.
    total_weight : float
        The weight of all rows; in blocks the weights are divided by it.
    class_rows : ndarray of shape (n_classes,)
        Number of different rows of each class.
    n_features : int
        Number of columns of the blocks: that of the table, unless the rows were moved.
    """

    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    input_range: Array
    total_weight: float
    class_rows: Indices
    n_features: int

    @abstractmethod
    def map(self, work: Callable[..., Result], *args: Any) -> list[Result]:
        """Return ``work(block, *args)`` of every block, in their order; work and arguments can be pickled."""

    @abstractmethod
    def moved(self, change: Callable[[Array], Array], n_features: int) -> Self:
        """Return blocks whose rows are changed one by one, such as into coordinates of so many columns."""

    @abstractmethod
    def samples(self, most: int) -> Cases:
        """Return rows of every class, at most so many, chosen by nothing but their values."""

    @property
    def n_rows(self) -> int:
        """Number of different rows."""
        return int(self.class_rows.sum())

    @property
    def varying(self) -> NDArray[np.bool_]:
        """Which columns of the table vary; all of them where none does."""
        low, high = self.input_range
        return high > low if (high > low).any() else np.ones(len(low), dtype=bool)


@dataclass(frozen=True)
class HeldBlocks(Blocks):
    """A training set in memory, as a single block."""

    cases: Cases

    @classmethod
    def of(cls, data: Labelled) -> Self:
        """The block of checked rows, which `Labelled.distinct` puts in an order that depends on their values only."""
        return cls(
            classes=data.classes,
            feature_names=data.feature_names,
            input_range=range_of_columns(data.X),
            total_weight=float(data.weights.sum()),
            class_rows=np.bincount(data.codes, minlength=len(data.classes)),
            n_features=data.X.shape[1],
            cases=Cases(data.X, data.codes, data.shares),
        )

    def map(self, work: Callable[..., Result], *args: Any) -> list[Result]:
        """Return a list of ``work(block, *args)``."""
        return [work(self.cases, *args)]

    def moved(self, change: Callable[[Array], Array], n_features: int) -> Self:
        """Return the block with its rows changed."""
        return replace(self, cases=self.cases._replace(X=change(self.cases.X)), n_features=n_features)

    def samples(self, most: int) -> Cases:
        """Return the first rows of every class."""
        places = [np.flatnonzero(self.cases.codes == code)[:most] for code in range(len(self.classes))]
        rows = np.sort(np.concatenate(places))
        return Cases(self.cases.X[rows], self.cases.codes[rows], self.cases.weights[rows])


def summed(results: list[Any]) -> Any:
    """The sums of the numbers, arrays, or tuples of them that the blocks returned, in the order of the blocks.

    >>> summed([(1, np.array([2.0])), (3, np.array([4.0]))])
    (4, array([6.]))
    """
    if isinstance(results[0], tuple):
        return tuple(summed(list(column)) for column in zip(*results, strict=True))
    total = results[0]
    for result in results[1:]:
        total = total + result
    return total


def held_cases(block: Block) -> Cases:
    """All cases of a block at once."""
    return block.some(slice(None))


def parts_of(block: Block, n_features: int, least: int = 1) -> Iterator[Cases]:
    """Yield the cases of a block, some at a time, and not fewer than ``least`` but for the last."""
    row_bytes = 8 * n_features
    for rows in row_blocks(block.n_rows, row_bytes, max(PART_BYTES, least * row_bytes)):
        yield block.some(rows)


def class_sums(block: Block, n_classes: int, n_features: int) -> tuple[Array, Array]:
    """The weight of each class, and its weighted sum of the rows."""
    weights, sums = np.zeros(n_classes), np.zeros((n_classes, n_features))
    for part in parts_of(block, n_features):
        of_part = np.zeros_like(sums)
        _add_by_class(part.X, part.codes, part.weights, of_part)
        sums += of_part
        weights += np.bincount(part.codes, part.weights, minlength=n_classes)
    return weights, sums


def class_squares(block: Block, centres: Array) -> Array:
    """The weighted sum of the squares of each column about the centre of the row's class, for each class."""
    squares = np.zeros_like(centres)
    for part in parts_of(block, centres.shape[1]):
        of_part = np.zeros_like(squares)
        _add_by_class(np.square(part.X - centres[part.codes]), part.codes, part.weights, of_part)
        squares += of_part
    return squares


@njit(cache=True, nogil=True)
def _add_by_class(X: Array, codes: Indices, weights: Array, sums: Array) -> None:  # pragma: no cover - compiled
    for i in range(len(X)):
        for f in range(X.shape[1]):
            sums[codes[i], f] += weights[i] * X[i, f]


def triangle(block: Block, centre: Array) -> Array:
    """The factor R of the weighted rows about a centre: R^T R is their scatter.

    Rows are returned as they are where there are no more of them than columns. Blocks' factors one below the other
    have the scatter of all rows; squares are never formed, so that small singular values keep their digits.
    """
    found = np.empty((0, len(centre)))
    for part in parts_of(block, len(centre), least=4 * len(centre)):
        found = joined_triangles([found, np.sqrt(part.weights)[:, None] * (part.X - centre)])
    return found


def joined_triangles(found: list[Array]) -> Array:
    """One factor R of several below each other."""
    rows = np.vstack(found)
    return np.asarray(np.linalg.qr(rows, mode="r")) if len(rows) > rows.shape[1] else rows
