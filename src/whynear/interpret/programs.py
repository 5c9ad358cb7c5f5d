"""The linear programs of relevance intervals, solved together from one basis; HiGHS solves what the simplex leaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from whynear.interpret import simplex
from whynear.utils.arrays import Array, Indices
from whynear.utils.threads import n_threads, one_blas_thread, run_in_chunks

if TYPE_CHECKING:
    import highspy  # imported where a program needs it

ACCEPTED = 1e-7  # largest error of a bound, relative to mu, that a certificate may leave
ROUNDING = 1e-12  # of products of multipliers with columns and right-hand side
BATCH_BYTES = 24 << 20
WORTH_A_BATCH = 4_000_000  # products per round; less is faster in one piece
PIVOTS_AT_ONCE = 20  # of the map of least norm: an interrupt takes effect between them


@dataclass(frozen=True)
class LeastNorm:
    """The least L1 norm mu of w with |U^T w - b| <= t, a map that has it, and its basis and multipliers.

    Scaled so that mu is one: ``b`` and ``t`` are the given ones divided by ``mu``. ``at_upper`` marks the
    ranges at their upper end, where U^T w = b - t.
    """

    U: Array
    b: Array
    t: Array
    mu: float
    basis: Indices
    at_upper: NDArray[np.bool_]
    weights: Array
    multipliers: Array


@dataclass(frozen=True)
class Extremes:
    """The largest (or smallest) value of chosen weights, and the maps that attain it.

    ``columns`` and ``values`` hold the non-zero weights of each map. ``error`` bounds the error of each value;
    infinite where neither the simplex nor HiGHS found an optimum; the weights are zero there. ``by_highs`` marks the
    programs passed to HiGHS.
    """

    values: Array
    columns: Indices
    weights: Array
    error: Array
    by_highs: NDArray[np.bool_]


def least_norm(U: Array, b: Array, t: Array | None = None) -> LeastNorm:
    """Solve min ||w||_1 subject to |U^T w - b| <= t, equal without t; all other programs start from its basis.

    By the same simplex, or by HiGHS where that does not end in an optimum. Some |b| must exceed its t, else the map of
    least norm is zero.
    """
    t = np.zeros(len(b)) if t is None else t
    scale = float(np.abs(b).max())
    found = _least_by_simplex(U, b / scale, t / scale)
    start = None if found is None else _from_basis(U, b, t, *found)
    if start is not None and np.abs(U @ start.multipliers).max() <= 1 + 1e-8:
        return start
    start = _from_basis(U, b, t, *_least_by_highs(U, b / scale, t / scale))
    if start is None:
        raise ArithmeticError("The basis of the map of least norm is not feasible.")
    return start


def _from_basis(U: Array, b: Array, t: Array, basis: Indices, at_upper: NDArray[np.bool_]) -> LeastNorm | None:
    """The map of a basis, computed afresh; None where rounding made the basis infeasible."""
    d, is_range = len(U), basis > 2 * len(U)
    columns = simplex.basic_columns(U, basis)
    try:
        amounts = np.linalg.solve(columns.T, np.where(at_upper, b - t, b + t))
        multipliers: Array = np.linalg.solve(columns, np.where(is_range, 0.0, 1.0)).astype(np.float64)
    except np.linalg.LinAlgError:
        return None
    mu = float(amounts[~is_range].sum())
    spans = 2 * t[basis[is_range] - 2 * d - 1]
    if not (amounts.min() >= -1e-7 * mu and (amounts[is_range] <= spans + 1e-7 * mu).all()):
        return None
    weights = np.zeros(d)
    own = basis[~is_range]
    np.add.at(weights, own % d, np.where(own < d, 1.0, -1.0) * amounts[~is_range])
    return LeastNorm(U, b / mu, t / mu, mu, basis, at_upper, weights / mu, multipliers)


def _least_by_simplex(U: Array, b: Array, t: Array) -> tuple[Indices, NDArray[np.bool_]] | None:
    """Begin with independent columns, each on the side that makes its amount positive, and maximise what is left.

    Every range begins at the end with the smaller product.
    """
    d, K = U.shape
    at_upper = (b > 0) & (t > 0)
    independent = qr(U.T, mode="r", pivoting=True)[1][:K]
    try:
        amounts = np.linalg.solve(U[independent].T, np.where(at_upper, b - t, b + t))
        basis = np.append(np.where(amounts >= 0, independent, d + independent), 2 * d)
        matrix = np.ones((K + 1, K + 1))
        matrix[:K] = np.where(basis < d, U[basis % d].T, -U[basis % d].T)
        matrix[:K, K] = 0.0
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    x = np.append(np.abs(amounts), np.abs(amounts).sum())  # twice the norm of the first map is the budget
    unit, inverse, stalls = float(x[-1]), np.ascontiguousarray(inverse), np.zeros(1, dtype=np.int64)
    x, spans = x / unit, 2 * t / unit
    state, rounds = simplex.RUNNING, (40 * K + 400) // PIVOTS_AT_ONCE
    with one_blas_thread():
        while state == simplex.RUNNING and rounds > 0:
            state = simplex.maximize_slack(U, spans, basis, inverse, x, at_upper, stalls, PIVOTS_AT_ONCE)
            rounds -= 1
    if state != simplex.OPTIMAL or 2 * d not in basis:
        return None
    return basis[basis != 2 * d], at_upper


def _least_by_highs(U: Array, b: Array, t: Array) -> tuple[Indices, NDArray[np.bool_]]:
    """The basis of the map of least L1 norm among the w with |U^T w - b| <= t, and the ranges at their upper end."""
    import highspy

    model = highs_model(U, b, t, budget=None)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError(f"HiGHS found no map of least norm: {model.modelStatusToString(model.getModelStatus())}.")
    basic, upper = int(highspy.HighsBasisStatus.kBasic), int(highspy.HighsBasisStatus.kUpper)
    columns = np.array([int(value) for value in model.getBasis().col_status])
    rows = np.array([int(value) for value in model.getBasis().row_status])
    basis = _completed(U, np.flatnonzero(columns == basic), np.flatnonzero((rows == basic) & (t > 0)))
    return basis, (rows != upper) & (rows != basic) & (t > 0)  # a row at its lower end is a range at its upper end


def _completed(U: Array, basic: Indices, ranges: Indices) -> Indices:
    """Basic columns that span all rows: where HiGHS kept logicals of equations, columns at zero take their place."""
    d, K = U.shape
    found = np.concatenate([basic, 2 * d + 1 + ranges])
    if len(found) == K:
        return found
    have = simplex.basic_columns(U, found)
    rest = U - (U @ np.linalg.pinv(have)) @ have if len(found) else U
    order = qr(rest.T, mode="r", pivoting=True)[1]
    return np.concatenate([found, order[: K - len(found)]])


def highs_model(U: Array, b: Array, t: Array, budget: float | None) -> highspy.Highs:
    """Columns p, q; rows |U^T (p - q) - b| <= t; with a budget the row sum(p + q) <= budget, else the sum as cost."""
    import highspy

    d = len(U)
    blocks = [np.hstack([U.T, -U.T])] + ([] if budget is None else [np.ones((1, 2 * d))])
    matrix = np.vstack(blocks)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * d, len(matrix)
    lp.col_cost_ = np.ones(2 * d) if budget is None else np.zeros(2 * d)
    lp.col_lower_, lp.col_upper_ = np.zeros(2 * d), np.full(2 * d, highspy.kHighsInf)
    lp.row_lower_ = b - t if budget is None else np.append(b - t, -highspy.kHighsInf)
    lp.row_upper_ = b + t if budget is None else np.append(b + t, budget)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.arange(2 * d + 1, dtype=np.int32) * len(matrix)
    lp.a_matrix_.index_ = np.tile(np.arange(len(matrix), dtype=np.int32), 2 * d)
    lp.a_matrix_.value_ = matrix.T.ravel()
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("primal_feasibility_tolerance", 1e-9)
    model.setOptionValue("dual_feasibility_tolerance", 1e-9)
    model.passModel(lp)
    return model


def least_sum(start: LeastNorm, budget: float, places: Indices) -> float:
    """The least sum of the absolute weights at these places; zero, which always holds, where HiGHS finds none."""
    import highspy

    model, d = highs_model(start.U, start.b, start.t, budget), len(start.U)
    columns = np.concatenate([places, d + places]).astype(np.int32)
    model.changeColsCost(len(columns), columns, np.ones(len(columns)))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return 0.0
    return max(0.0, float(model.getObjectiveValue()) - ACCEPTED)


def safe_bounds(start: LeastNorm, budget: float) -> Array:
    """Bounds of |w_j| that hold without solving a program, from the multipliers z of the map of least norm.

    Because w.Uz >= b.z - t.|z| = c and |Uz| <= 1: w_j <= (budget - c) / (1 - u_j.z) and
    -w_j <= (budget - c) / (1 + u_j.z).
    """
    prices = start.U @ start.multipliers
    excess = max(1.0, float(np.abs(prices).max()))  # rounding may leave z a little outside
    least = float(start.b @ start.multipliers - start.t @ np.abs(start.multipliers))
    gap = max(budget - least / excess, 0.0) + ROUNDING
    rest = 1.0 - np.abs(prices) / excess - ROUNDING
    bounds = np.full(len(prices), budget)
    np.divide(gap, rest, out=bounds, where=rest > 0)
    return np.minimum(bounds, budget)


def extremes(
    start: LeastNorm,
    budget: float,
    features: Indices,
    signs: Array,
    *,
    n_jobs: int | None = None,
    time_limit: float = 60.0,
    most_pivots: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Extremes:
    """Maximise sign * w_j for each pair of feature and sign, among w with |U^T w - b| <= t and ||w||_1 <= budget.

    Values are relative to mu, as ``start`` is. Programs run in batches whose prices are one matrix product.
    """
    d, K = start.U.shape
    n = len(features)
    found = Extremes(
        np.empty(n), np.empty((n, K + 1), dtype=np.intp), np.empty((n, K + 1)), np.empty(n), np.empty(n, dtype=bool)
    )
    share = -(-n // (2 * n_threads(n_jobs)))  # the last batches are small, so that no thread is idle for long
    share = max(share, WORTH_A_BATCH // (d * K))
    size = max(1, min(share, BATCH_BYTES // (8 * (d + (K + 1) ** 2))))

    def solve(first: int, last: int) -> None:
        part = _Batch(start, budget, features[first:last], signs[first:last], most_pivots).solve(time_limit)
        for name, values in vars(part).items():
            getattr(found, name)[first:last] = values
        if progress is not None:
            progress(last - first)

    # One thread of BLAS for each of ours: they would wait for each other in turns.
    with one_blas_thread():
        run_in_chunks(solve, n, chunk=size, n_jobs=n_jobs)
    return found


class _Batch:
    """Programs that are solved together, all from the basis of the map of least norm."""

    def __init__(
        self, start: LeastNorm, budget: float, features: Indices, signs: Array, most_pivots: int | None
    ) -> None:
        self.start, self.budget, self.features, self.signs = start, budget, features, signs
        n, d, rows = len(features), *start.U.shape[:1], start.U.shape[1] + 1
        self.most_pivots = 40 * rows + 400 if most_pivots is None else most_pivots
        self.right, self.spans = np.append(start.b + start.t, budget), 2 * start.t
        first = np.append(start.basis, 2 * d)
        inverse = np.linalg.inv(self._matrices(first[None, :])[0])
        self.bases = np.tile(first, (n, 1))
        self.inverses = np.tile(inverse, (n, 1, 1))
        self.at_upper = np.tile(start.at_upper, (n, 1))
        left = self.right - np.append(np.where(start.at_upper, self.spans, 0.0), 0.0)
        self.xs = np.tile(np.maximum(inverse @ left, 0.0), (n, 1))
        self.ys = signs[:, None] * ((features[:, None] == first) * 1.0 - (features[:, None] + d == first)) @ inverse
        self._programs = features, signs, self.bases, self.inverses, self.xs, self.at_upper, self.ys
        self.states = np.full(n, simplex.RUNNING)
        self.stalls = np.zeros(n, dtype=np.int64)
        self.pivots = np.zeros(n, dtype=np.int64)

    def solve(self, time_limit: float) -> Extremes:
        """Pivot until all are optimal, check each against its own basis, repair, and hand the rest to HiGHS."""
        for _ in range(3):
            self._run()
            error = self._certify()
            again = np.flatnonzero((self.states != simplex.FAILED) & (error > 1e-9))
            if not len(again):
                break
            self._refactor(again)
        return self._result(error, time_limit)

    def _run(self) -> None:
        """Most pivots with prices in float32, the last ones in float64."""
        for precision, tolerance in ((np.float32, 1e-5), (np.float64, simplex.TOLERANCE)):
            self.states[self.states == simplex.OPTIMAL] = simplex.RUNNING
            U = self.start.U.astype(precision)
            while len(active := np.flatnonzero(self.states == simplex.RUNNING)):
                prices = np.matmul(self.ys[active, :-1].astype(precision), U.T)
                progress = self.states, self.stalls, self.pivots, self.most_pivots
                simplex.advance(active, prices, self.start.U, self.spans, *self._programs, *progress, tolerance)

    def _matrices(self, bases: Indices) -> Array:
        """Basis matrices of shape (n, K + 1, K + 1), with the row of the budget."""
        columns = np.swapaxes(simplex.basic_columns(self.start.U, bases), 1, 2)
        return np.concatenate([columns, (bases <= 2 * len(self.start.U))[:, None, :] * 1.0], axis=1)

    def _certify(self) -> Array:
        """A bound of the error of each value, from the basis and residuals computed afresh.

        The dual gap is at most the largest reduced cost times the budget, and the difference of the two objectives;
        what is missing to primal feasibility is the most negative amount and the residual.
        """
        error = np.empty(len(self.bases))
        with np.errstate(all="ignore"):
            simplex.refine(self.start.U, self.spans, self.right, *self._programs, error)
            prices = self.ys[:, :-1] @ self.start.U.T
            prices[np.arange(len(prices)), self.features] -= self.signs
            gap = np.maximum(prices.max(axis=1), -prices.min(axis=1)) - self.ys[:, -1]
            error += gap.clip(0) * self.budget
        return np.where(np.isfinite(error), error, np.inf)

    def _refactor(self, again: Indices) -> None:
        """Begin anew from the same bases with fresh inverses; those that lost their feasibility are given up."""
        good = self._outside(again) < 1e-9
        self.states[again[~good]] = simplex.FAILED
        again = again[good]
        try:
            self.inverses[again] = np.linalg.inv(self._matrices(self.bases[again]))
        except np.linalg.LinAlgError:
            self.states[again] = simplex.FAILED
            return
        self.xs[again] = np.maximum(self.xs[again], 0.0)
        self.states[again], self.stalls[again] = simplex.RUNNING, 0

    def _outside(self, programs: Indices) -> Array:
        """How far the amounts of programs are outside what their columns may have."""
        bases, xs, d = self.bases[programs], self.xs[programs], len(self.start.U)
        most = np.where(bases > 2 * d, np.append(self.spans, np.inf)[np.maximum(bases - 2 * d - 1, -1)], np.inf)
        return np.maximum(-xs, xs - most).max(axis=1)

    def _result(self, error: Array, time_limit: float) -> Extremes:
        d = len(self.start.U)
        weights = np.where(self.bases < d, self.xs, np.where(self.bases < 2 * d, -self.xs, 0.0))
        columns = np.where(self.bases < 2 * d, self.bases % d, 0)
        values = self.signs * np.where(columns == self.features[:, None], weights, 0.0).sum(axis=1)
        by_highs = (self.states == simplex.FAILED) | (error > ACCEPTED)
        error = np.where(by_highs, np.inf, error)
        weights[by_highs] = 0.0
        if by_highs.any():
            rest = HighsPrograms(self.start.U, self.start.b, self.start.t, self.budget)
            for program in np.flatnonzero(by_highs):
                found = rest.solve(self.features[program], self.signs[program], time_limit)
                if found is not None:
                    w, error[program] = found
                    values[program] = self.signs[program] * w[self.features[program]]
                    kept = np.argsort(-np.abs(w), kind="stable")[: columns.shape[1]]
                    columns[program], weights[program] = kept, w[kept]
        return Extremes(values, columns.astype(np.intp), weights, error, by_highs)


class HighsPrograms:
    """The largest and smallest weights under a budget, all from one model of HiGHS."""

    def __init__(self, U: Array, b: Array, t: Array, budget: float) -> None:
        self.U, self.b, self.t, self.budget = U, b, t, budget
        self.model = highs_model(U, b, t, budget)

    def solve(self, feature: int, sign: float, time_limit: float) -> tuple[Array, float] | None:
        """One program, relaxed once where rounding made it infeasible. None if it does not end in an optimum."""
        import highspy

        model, d = self.model, len(self.U)
        model.changeColsCost(2, np.array([feature, d + feature], dtype=np.int32), np.array([-sign, sign]))
        try:
            for relaxation in (0.0, 1e-7):
                model.changeRowBounds(self.U.shape[1], -highspy.kHighsInf, self.budget * (1 + relaxation))
                model.setOptionValue("time_limit", model.getRunTime() + time_limit)  # its clock runs on from run to run
                model.run()
                status = model.getModelStatus()
                if status == highspy.HighsModelStatus.kTimeLimit:
                    return None
                if status == highspy.HighsModelStatus.kOptimal:
                    pair = np.asarray(model.getSolution().col_value).reshape(2, d)
                    weights = pair[0] - pair[1]
                    residual = float((np.abs(self.U.T @ weights - self.b) - self.t).max(initial=0.0))
                    return weights, max(residual, relaxation * self.budget)
        finally:
            model.changeColsCost(2, np.array([feature, d + feature], dtype=np.int32), np.zeros(2))
        return None
