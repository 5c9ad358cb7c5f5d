"""Minimisation of smooth losses, used by all learners."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize as scipy_minimize
from sklearn.exceptions import ConvergenceWarning

from whynear.utils.arrays import Array, Indices

LossGrad = Callable[[Array], tuple[float, Array]]
BatchLossGrad = Callable[[Array, Indices], tuple[float, Array]]

FIRST_MOMENT_DECAY, SECOND_MOMENT_DECAY = 0.9, 0.999
LEADING_TOLERANCE = 1e-4  # of the losses that only lead to another one
OUT_OF_STEPS_STATUS = 1  # scipy's status after the last iteration or evaluation that was allowed
PATIENCE_PASSES = 5  # over the cases


class Step(NamedTuple):
    """The argument of a callback, which is called after every iteration."""

    n_iter: int
    loss: float


Callback = Callable[[Step], None]


@dataclass
class Solution:
    """The parameters found, the loss after each iteration, and whether the loss had stopped falling."""

    x: Array
    loss_curve: list[float] = field(default_factory=list)
    converged: bool = False

    @property
    def n_iter(self) -> int:
        """Number of iterations made."""
        return len(self.loss_curve)


def watcher(name: str, verbose: bool, callback: Callback | None) -> Callback:
    """Return the function called after every iteration: it prints if ``verbose``, then calls the user's callback."""

    def watch(step: Step) -> None:
        if verbose:
            print(f"[{name}] iteration {step.n_iter:>4}, loss {step.loss:.6g}", flush=True)
        if callback is not None:
            callback(step)

    return watch


def counting_on(watch: Callback, done: int) -> Callback:
    """Number the steps of a part on from those already made."""
    return lambda step: watch(Step(done + step.n_iter, step.loss))


def warn_unless_converged(solution: Solution, learner: Any, stacklevel: int = 3) -> None:
    """Warn if the iterations ran out, and name the parameters to change."""
    if not solution.converged:
        warnings.warn(
            f"{type(learner).__name__} did not converge in max_iter={learner.max_iter} iterations: its loss is still "
            "falling. Raise max_iter or tol, or scale the columns (StandardScaler).",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )


def lbfgs(loss_grad: LossGrad, start: Array, *, max_iter: int, tol: float, watch: Callback) -> Solution:
    """Minimise by L-BFGS until an iteration lowers the loss by less than ``tol`` relative to it, or by ``max_iter``.

    An interrupt or an exception in ``watch`` ends the minimisation at once.
    """
    solution = Solution(np.array(start, dtype=np.float64).ravel())

    def after_iteration(intermediate_result: Any) -> None:
        solution.loss_curve.append(float(intermediate_result.fun))
        watch(Step(solution.n_iter, solution.loss_curve[-1]))

    found = scipy_minimize(
        loss_grad,
        solution.x,
        jac=True,
        method="L-BFGS-B",
        callback=after_iteration,
        options={"maxiter": max_iter, "maxfun": 20 * max_iter + 100, "ftol": tol, "gtol": 1e-10, "maxcor": 10},
    )
    solution.x = found.x
    # A line search that finds no lower loss has reached the limit of rounding, which counts as convergence.
    solution.converged = found.status != OUT_OF_STEPS_STATUS
    return solution


def lbfgs_in_turn(losses: Sequence[LossGrad], start: Array, *, max_iter: int, tol: float, watch: Callback) -> Solution:
    """Minimise losses one after the other, each from where the one before it ended; the last one to the full tolerance.

    All of them together take ``max_iter`` iterations at most.
    """
    solution = Solution(start)
    for place, loss_grad in enumerate(losses):
        before = solution
        if before.n_iter >= max_iter:
            return Solution(before.x, before.loss_curve, converged=False)
        found = lbfgs(
            loss_grad,
            before.x,
            max_iter=max_iter - before.n_iter,
            tol=tol if place == len(losses) - 1 else max(tol, LEADING_TOLERANCE),
            watch=counting_on(watch, before.n_iter),
        )
        solution = Solution(found.x, before.loss_curve + found.loss_curve, found.converged)
    return solution


@dataclass
class Adam:
    """Stochastic gradient steps whose sizes adapt to each parameter (Kingma & Ba 2015).

    Attributes
    ----------
    x : ndarray
        The parameters.
    first, second : ndarray
        Running means of the gradient and of its square.
    n_steps : int
        Steps made so far.
    """

    x: Array
    first: Array
    second: Array
    n_steps: int = 0

    @classmethod
    def at(cls, x: Array) -> Self:
        """Return the state before the first step."""
        return cls(np.array(x), np.zeros_like(x), np.zeros_like(x))

    def step(self, gradient: Array, learning_rate: float) -> None:
        """Move against the gradient."""
        self.n_steps += 1
        self.first = self.first + (1 - FIRST_MOMENT_DECAY) * (gradient - self.first)
        self.second = self.second + (1 - SECOND_MOMENT_DECAY) * (np.square(gradient) - self.second)
        mean = self.first / (1 - FIRST_MOMENT_DECAY**self.n_steps)
        spread = np.sqrt(self.second / (1 - SECOND_MOMENT_DECAY**self.n_steps))
        self.x = self.x - learning_rate * mean / (spread + 1e-12)


def epoch(
    adam: Adam,
    loss_grad: BatchLossGrad,
    n: int,
    *,
    batch_size: int,
    learning_rate: float,
    rng: np.random.RandomState,
) -> float:
    """One pass over n cases in random batches, with a step for each; return the mean of their losses."""
    order, total = rng.permutation(n), 0.0
    for start in range(0, n, batch_size):
        rows = np.sort(order[start : start + batch_size])
        loss, gradient = loss_grad(adam.x, rows)
        adam.step(gradient, learning_rate)
        total += loss * len(rows) / n
    return total


def stochastic(
    loss_grad: BatchLossGrad,
    start: Array,
    n: int,
    *,
    max_iter: int,
    tol: float,
    batch_size: int,
    learning_rate: float,
    rng: np.random.RandomState,
    watch: Callback,
) -> Solution:
    """Minimise by passes over the cases with a falling step size, until several passes bring less than ``tol``."""
    adam, solution = Adam.at(start), Solution(start)
    best, since = np.inf, 0
    while solution.n_iter < max_iter and since < PATIENCE_PASSES:
        rate = learning_rate / np.sqrt(1 + solution.n_iter)
        loss = epoch(adam, loss_grad, n, batch_size=batch_size, learning_rate=rate, rng=rng)
        solution.loss_curve.append(loss)
        watch(Step(solution.n_iter, loss))
        since = 0 if loss < best - tol * abs(loss) else since + 1
        best = min(best, loss)
    solution.x, solution.converged = adam.x, since >= PATIENCE_PASSES
    return solution
