"""Minimisation of a smooth loss: what every learner hands its objective to."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize as scipy_minimize
from sklearn.exceptions import ConvergenceWarning

Array = NDArray[np.float64]
LossGrad = Callable[[Array], tuple[float, Array]]


class Step(NamedTuple):
    """What a callback is told after every iteration."""

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
    """What is called after every iteration of a learner: prints where asked for, then calls the user's callback."""

    def watch(step: Step) -> None:
        if verbose:
            print(f"[{name}] iteration {step.n_iter:>4}, loss {step.loss:.6g}", flush=True)
        if callback is not None:
            callback(step)

    return watch


def warn_unless_converged(solution: Solution, learner: Any) -> None:
    """Say that the iterations ran out, and what to do about it."""
    if not solution.converged:
        warnings.warn(
            f"{type(learner).__name__} did not converge in max_iter={learner.max_iter} iterations: its loss is still "
            "falling. Raise max_iter or tol, or scale the columns (StandardScaler).",
            ConvergenceWarning,
            stacklevel=3,
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
    # A line search that finds no lower loss has met the limit of rounding, which is an end like any other.
    solution.converged = found.nit < max_iter
    return solution
