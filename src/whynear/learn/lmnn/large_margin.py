"""The optimisation of the large margin over rows that may change their neighbours."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from whynear.learn.lmnn.objective import (
    Impostors,
    Margins,
    best_scale,
    empty_buffers,
    loss_grad,
    mean_target_scatter,
    target_neighbors,
)
from whynear.learn.solvers import Callback, Solution, counting_on, lbfgs
from whynear.metric.projection import principal_directions
from whynear.utils.arrays import Array
from whynear.utils.threads import one_blas_thread

LossOfMap = Callable[[Array], tuple[float, Array]]


class PairSearch:
    """The searches of a fit, in this process."""

    def targets(
        self, X: Array, codes: NDArray[np.intp], n_neighbors: int, n_jobs: int | None = None
    ) -> NDArray[np.int32]:
        """Return what `target_neighbors` returns."""
        return target_neighbors(X, codes, n_neighbors, n_jobs)

    def loss_near(self, problem: Margins, omega: Array, slack: float) -> LossOfMap:
        """Return the loss with its gradient over the impostors found at a map, with some slack."""
        impostors, buffers = Impostors(omega, problem, slack), empty_buffers(omega, problem)
        return lambda at: loss_grad(at, problem, impostors.at(at), buffers)


Start = Literal["pca", "identity"]

# Directions in which targets differ less than this share of the mean count as if they differed by it.
RIDGE = 0.1

# Pairs up to this much farther than an impostor are kept; rounds between two searches grow from this length.
FIRST_SLACK, LEAST_SLACK = 0.25, 0.1
FIRST_ROUND_ITERATIONS = 8

# Passes before the last end with this many times the tolerance.
COARSE_FACTOR = 10

PRODUCTS_PER_ENTRY = 1_000  # that count as one entry when the number of threads is chosen
ROUNDING_SHARE = 1e-9


@dataclass(frozen=True)
class Settings:
    """The parameters of `LMNN` that the descent uses."""

    n_neighbors: int
    n_components: int | None
    init: Start
    push_weight: float
    margin: float
    n_passes: int
    max_iter: int
    tol: float
    n_jobs: int | None


def learn_map(
    X: Array,
    codes: NDArray[np.intp],
    weights: Array,
    settings: Settings,
    watch: Callback,
    search: PairSearch | None = None,
) -> tuple[Array, Solution]:
    """Learn the map omega of shape (n_components, n_features), and return it with the solution of the descent.

    The weights of cases are above zero, and only their ratios count. Pairs are searched for here without a ``search``.

    The work is done in coordinates B: the directions in which the data vary, divided by how much targets differ along
    them, so that the problem is well scaled and nothing has more columns than there are rows. The loss is that
    of omega = turn B basis^T, whatever the coordinates, and is stated for a margin of one: another margin m makes it m
    times as large at a map sqrt(m) times as large.
    """
    search, weights = search or PairSearch(), weights / weights.mean()
    with one_blas_thread(X.size * min(X.shape) // PRODUCTS_PER_ENTRY):
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        centred = X[order] - X.mean(axis=0)
        unit = float(np.abs(centred).max()) or 1.0
        centred /= unit
        vectors = principal_directions(centred).vectors
        if not vectors.shape[1]:  # all rows are equal: any direction will do
            vectors = np.eye(X.shape[1], 1)
        along = centred @ vectors
        targets = search.targets(along, codes, settings.n_neighbors, settings.n_jobs)
        scales, axes = _scales(mean_target_scatter(along, targets))
        start, turn = _start(settings, vectors)
        basis = vectors @ (axes / scales)
        problem = Margins(
            X=along @ (axes / scales),
            class_ends=np.cumsum(np.bincount(codes))[codes].astype(np.int32),
            targets=targets,
            weights=weights[order],
            push_weight=settings.push_weight,
        )
        omega = start @ (axes * scales)
        solution = Solution(omega.ravel(), converged=True)
        if problem.n_targets:
            omega *= best_scale(omega, problem)
            omega, solution = _passes(problem, codes, omega, settings, watch, search)
        return np.sqrt(settings.margin) * (turn @ (omega @ (basis / unit).T)), solution


def _scales(scatter: Array) -> tuple[Array, Array]:
    """Roots of the eigenvalues of the scatter of targets, lifted by a ridge, and its eigenvectors."""
    values, axes = np.linalg.eigh(scatter)
    values = np.maximum(values, 0.0)
    ridge = RIDGE * values.mean() if len(values) else 0.0
    return np.sqrt(values + ridge) if ridge > 0 else np.ones_like(values), axes


def _start(settings: Settings, vectors: Array) -> tuple[Array, Array]:
    """The map the descent starts from, in principal coordinates, and what turns its image back afterwards.

    Turning a map changes no distance. All directions start as principal ones, of largest variance first, because then
    the sum of a large distance is cut short; an identity is turned back.
    """
    d, rank = vectors.shape
    if settings.init == "pca":
        rows = settings.n_components or rank
        return np.eye(rows, rank), np.eye(rows)
    rows = settings.n_components or d
    return (np.eye(rank), vectors) if rows == d else (vectors[:rows], np.eye(rows))


def _passes(
    problem: Margins, codes: NDArray[np.intp], omega: Array, settings: Settings, watch: Callback, search: PairSearch
) -> tuple[Array, Solution]:
    """Descend, and again with the target neighbours under the learned map; the last time to the end.

    Passes before the last only serve the choice of targets, and the one after which these stay is the last but one.
    """
    whole = Solution(omega.ravel())
    for left in reversed(range(settings.n_passes)):
        if left < settings.n_passes - 1:
            targets = search.targets(problem.X @ omega.T, codes, settings.n_neighbors, settings.n_jobs)
            left *= not np.array_equal(targets, problem.targets)
            problem = replace(problem, targets=targets)
        part = descend(
            problem,
            omega,
            max_iter=settings.max_iter - whole.n_iter,
            tol=settings.tol * (COARSE_FACTOR if left else 1),
            watch=counting_on(watch, whole.n_iter),
            search=search,
        )
        omega = part.x.reshape(omega.shape)
        whole = Solution(part.x, whole.loss_curve + part.loss_curve, part.converged)
        if not left:
            break
    return omega, whole


def descend(
    problem: Margins, start: Array, *, max_iter: int, tol: float, watch: Callback, search: PairSearch | None = None
) -> Solution:
    """Minimise the loss by rounds of L-BFGS, each over the impostors found, with some slack, at the map it starts from.

    After a round all impostors are searched for again. A round after which the full loss is higher than before is
    undone and repeated with more slack; the last one ends where the loss of the pairs it kept is the full loss.
    """
    solution, search = Solution(start.ravel()), search or PairSearch()
    slack, length = FIRST_SLACK, FIRST_ROUND_ITERATIONS

    def objective(loss_of: LossOfMap, flat: Array) -> tuple[float, Array]:
        loss, gradient = loss_of(flat.reshape(start.shape))
        return loss, gradient.ravel()

    def watched(flat: Array) -> tuple[Callable[[Array], tuple[float, Array]], float]:
        over = partial(objective, search.loss_near(problem, flat.reshape(start.shape), slack))
        return over, over(flat)[0]

    over, loss = watched(solution.x)
    while solution.n_iter < max_iter and not solution.converged:
        steps = min(length, max_iter - solution.n_iter)
        part = lbfgs(over, solution.x, max_iter=steps, tol=tol, watch=counting_on(watch, solution.n_iter))
        seen = part.loss_curve[-1] if part.loss_curve else loss
        over_next, full = watched(part.x)
        if full > loss * (1 + ROUNDING_SHARE):
            slack *= 4
            over, loss = watched(solution.x)
            continue
        solution.x = part.x
        solution.loss_curve += [*part.loss_curve[:-1], full] if part.loss_curve else []
        complete = full - seen <= tol * full
        solution.converged = part.converged and complete
        over, loss, length = over_next, full, 2 * length
        slack = max(LEAST_SLACK, slack / 2) if complete else slack
    return solution
