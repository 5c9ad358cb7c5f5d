"""The programs of `programs` solved by HiGHS, for the few that the compiled simplex does not finish."""

import highspy
import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from whynear.interpret.simplex import basic_columns
from whynear.utils.arrays import Array, Indices


def least_norm_basis(U: Array, b: Array, t: Array) -> tuple[Indices, NDArray[np.bool_]]:
    """The basis of the map of least L1 norm among the w with |U^T w - b| <= t, and the ranges at their upper end."""
    model = program(U, b, t, budget=None)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ArithmeticError(f"HiGHS found no map of least norm: {model.modelStatusToString(model.getModelStatus())}.")
    basic, upper = int(highspy.HighsBasisStatus.kBasic), int(highspy.HighsBasisStatus.kUpper)
    columns = np.array([int(value) for value in model.getBasis().col_status])
    rows = np.array([int(value) for value in model.getBasis().row_status])
    basis = _completed(U, np.flatnonzero(columns == basic), np.flatnonzero((rows == basic) & (t > 0)))
    return basis, (rows != upper) & (rows != basic) & (t > 0)  # a row at its lower end is a range at its upper end


def least_sum(U: Array, b: Array, t: Array, budget: float, places: Indices) -> float:
    """The least sum of the absolute weights at these places; zero where HiGHS finds none."""
    model, d = program(U, b, t, budget), len(U)
    columns = np.concatenate([places, d + places]).astype(np.int32)
    model.changeColsCost(len(columns), columns, np.ones(len(columns)))
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return 0.0
    return float(model.getObjectiveValue())


class Programs:
    """The largest and smallest weights under a budget, all from one model."""

    def __init__(self, U: Array, b: Array, t: Array, budget: float) -> None:
        self.U, self.b, self.t, self.budget = U, b, t, budget
        self.model = program(U, b, t, budget)

    def solve(self, feature: int, sign: float, time_limit: float) -> tuple[Array, float] | None:
        """One program, relaxed once where rounding made it infeasible. None if it does not end in an optimum."""
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


def program(U: Array, b: Array, t: Array, budget: float | None) -> highspy.Highs:
    """Columns p, q; rows |U^T (p - q) - b| <= t; with a budget the row sum(p + q) <= budget, else the sum as cost."""
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


def _completed(U: Array, basic: Indices, ranges: Indices) -> Indices:
    """Basic columns that span all rows: where HiGHS kept logicals of equations, columns at zero take their place."""
    d, K = U.shape
    found = np.concatenate([basic, 2 * d + 1 + ranges])
    if len(found) == K:
        return found
    have = basic_columns(U, found)
    rest = U - (U @ np.linalg.pinv(have)) @ have if len(found) else U
    order = qr(rest.T, mode="r", pivoting=True)[1]
    return np.concatenate([found, order[: K - len(found)]])
