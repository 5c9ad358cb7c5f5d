"""Where the pairs of cases of large margins are searched for and measured: in this process, or elsewhere."""

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from whynear.learn.lmnn.objective import Impostors, Margins, empty_buffers, loss_grad, target_neighbors
from whynear.utils.arrays import Array

LossOfMap = Callable[[Array], tuple[float, Array]]


class PairSearch(ABC):
    """The searches of a fit."""

    @abstractmethod
    def targets(
        self, X: Array, codes: NDArray[np.intp], n_neighbors: int, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return what `target_neighbors` returns."""

    @abstractmethod
    def loss_near(self, problem: Margins, omega: Array, slack: float) -> LossOfMap:
        """Return the loss with its gradient over the impostors found at a map, with some slack."""


class HeldPairs(PairSearch):
    """Searches in this process."""

    def targets(
        self, X: Array, codes: NDArray[np.intp], n_neighbors: int, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return the target neighbours of all cases."""
        return target_neighbors(X, codes, n_neighbors, n_jobs)

    def loss_near(self, problem: Margins, omega: Array, slack: float) -> LossOfMap:
        """Return the loss over the impostors found at a map."""
        impostors, buffers = Impostors(omega, problem, slack), empty_buffers(omega, problem)
        return lambda at: loss_grad(at, problem, impostors.at(at), buffers)
