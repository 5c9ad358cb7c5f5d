"""The compiled step of many linear programs that share their constraints and their first basis.

Each program reads: maximise +-(p_j - q_j) subject to U^T (p - q) + r = b + t, sum(p + q) + s = budget, all
non-negative and r at most 2 t: U^T (p - q) may differ from b by t, and equals it where t is zero. Columns are numbered
k for p_k, d + k for q_k, 2 d for s and 2 d + 1 + i for r_i, which is at its lower or its upper end while it is not in
the basis. With y the multipliers of the rows, split into those of U^T (p - q) + r = b + t and the one of the budget,
y_s, and v = U y, the better of p_k and q_k has the reduced cost |c_k - v_k| - y_s, s has -y_s, and r_i gains -y_i for
every unit it leaves its lower end, y_i for every unit it leaves its upper end. The products v of a whole batch of
programs are one matrix product outside; here each program takes the best column from its v and pivots on it. The map of
least norm maximises s instead: its target is the column 2 d.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array, Indices
from whynear.utils.compiling import njit

RUNNING, OPTIMAL, FAILED = 0, 1, 2
TOLERANCE = 1e-10  # of reduced costs, with the least norm mu scaled to one
PIVOT = 1e-9  # smallest entry to divide by
STALLED = 12  # pivots without progress before Bland's rule, which cannot cycle


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def multipliers(
    j: int, sign: float, n_columns: int, basis: NDArray[Any], inverse: NDArray[Any], y: NDArray[Any]
) -> None:  # pragma: no cover - compiled
    """Fill y = c_B B^-1; the cost c has entries at p_j and q_j only, or at s for j = 2 d."""
    rows = len(basis)
    for i in range(rows):
        y[i] = 0.0
    for row in range(rows):
        if basis[row] == j or (j < n_columns and basis[row] == n_columns + j):
            cost = sign if basis[row] == j else -sign
            for i in range(rows):
                y[i] += cost * inverse[row, i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def pivot(
    column: int,
    U: NDArray[Any],
    spans: NDArray[Any],
    basis: NDArray[Any],
    inverse: NDArray[Any],
    x: NDArray[Any],
    at_upper: NDArray[Any],
    alpha: NDArray[Any],
    bland: bool,
) -> float:  # pragma: no cover - compiled
    """Let a column enter the basis, or move from one of its ends to the other where no row stops it before.

    Returns the step taken, or -1 if nothing stops it. Time O(K^2).
    """
    rows, d = len(basis), U.shape[0]
    own_range = np.inf
    direction = 1.0
    if column > 2 * d:
        i = column - 2 * d - 1
        own_range = spans[i]
        if at_upper[i]:
            direction = -1.0
        for row in range(rows):
            alpha[row] = direction * inverse[row, i]
    else:
        u = U[column % d]
        side = 1.0 if column < d else (-1.0 if column < 2 * d else 0.0)
        for row in range(rows):
            own = inverse[row]
            product = 0.0
            for i in range(rows - 1):
                product += own[i] * u[i]
            alpha[row] = own[rows - 1] + side * product
    leaving, step, to_upper = -1, np.inf, False
    for row in range(rows):
        if alpha[row] > PIVOT:
            ratio = max(x[row], 0.0) / alpha[row]
            reaches_upper = False
        elif alpha[row] < -PIVOT and basis[row] > 2 * d:
            ratio = max(spans[basis[row] - 2 * d - 1] - x[row], 0.0) / -alpha[row]
            reaches_upper = True
        else:
            continue
        if ratio < step - 1e-13:
            leaving, step, to_upper = row, ratio, reaches_upper
        elif ratio <= step + 1e-13:
            better = basis[row] < basis[leaving] if bland else abs(alpha[row]) > abs(alpha[leaving])
            if better:
                leaving, step, to_upper = row, min(ratio, step), reaches_upper
    if own_range <= step:
        for row in range(rows):
            x[row] -= own_range * alpha[row]
        at_upper[column - 2 * d - 1] = direction > 0
        return own_range
    if leaving < 0:
        return -1.0
    pivot_row = np.empty(rows)
    for i in range(rows):
        pivot_row[i] = inverse[leaving, i] / (direction * alpha[leaving])
    for row in range(rows):
        factor = direction * alpha[row]
        for i in range(rows):
            inverse[row, i] -= factor * pivot_row[i]
        x[row] -= step * alpha[row]
    for i in range(rows):  # as everywhere here, entry by entry: numba compiles whole arrays' assignments for seconds
        inverse[leaving, i] = pivot_row[i]
    if basis[leaving] > 2 * d:
        at_upper[basis[leaving] - 2 * d - 1] = to_upper
    x[leaving] = step if direction > 0 else own_range - step
    if column > 2 * d:
        at_upper[column - 2 * d - 1] = False
    basis[leaving] = column
    return step


@njit(cache=True, nogil=True)
def place_of_largest(v: NDArray[Any]) -> int:  # pragma: no cover - compiled
    """Where the largest absolute value is; stretches without a larger one are passed over in wide registers."""
    place, best, stretch = 0, abs(v[0]), 256
    for start in range(0, len(v), stretch):
        part = v[start : start + stretch]
        count = 0
        for k in range(len(part)):
            count += abs(part[k]) > best
        if count > 0:
            for k in range(len(part)):
                if abs(part[k]) > best:
                    place, best = start + k, abs(part[k])
    return place


@njit(cache=True, nogil=True)
def first_improving(
    v: NDArray[Any], y: NDArray[Any], spans: NDArray[Any], at_upper: NDArray[Any], tolerance: float
) -> int:  # pragma: no cover - compiled
    """Bland's rule: the column of the lowest number that improves."""
    d, last = len(v), len(spans)
    limit = y[last] + tolerance
    for code in range(2 * d):
        if (-v[code] if code < d else v[code - d]) > limit:
            return code
    for i in range(last):
        if spans[i] > 0 and (y[i] if at_upper[i] else -y[i]) > tolerance:
            return 2 * d + 1 + i
    return 2 * d


@njit(cache=True, nogil=True)
def best_range(
    y: NDArray[Any], spans: NDArray[Any], at_upper: NDArray[Any]
) -> tuple[int, float]:  # pragma: no cover - compiled
    """The range that gains most by leaving its end, and its gain."""
    place, best = -1, 0.0
    for i in range(len(spans)):
        if spans[i] > 0:
            gain = y[i] if at_upper[i] else -y[i]
            if gain > best:
                place, best = i, gain
    return place, best


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def reduced_cost(
    code: int, j: int, sign: float, U: NDArray[Any], y: NDArray[Any]
) -> Any:  # pragma: no cover - compiled
    """What a unit of a column adds to the objective, in float64."""
    d, last = U.shape[0], U.shape[1]
    if code > 2 * d:
        return -y[code - 2 * d - 1]
    if code == 2 * d:
        return -y[last]
    price = 0.0
    for i in range(last):
        price += U[code % d, i] * y[i]
    if code % d == j:
        price -= sign
    return (-price if code < d else price) - y[last]


@njit(cache=True, nogil=True)
def advance(
    programs: NDArray[Any],
    V: NDArray[Any],
    U: NDArray[Any],
    spans: NDArray[Any],
    features: NDArray[Any],
    signs: NDArray[Any],
    bases: NDArray[Any],
    inverses: NDArray[Any],
    xs: NDArray[Any],
    at_upper: NDArray[Any],
    ys: NDArray[Any],
    states: NDArray[Any],
    stalls: NDArray[Any],
    pivots: NDArray[Any],
    most_pivots: int,
    tolerance: float,
) -> None:  # pragma: no cover - compiled
    """One pivot of each program, on the best column by its prices V = U y.

    V may be float32: what enters is priced again in float64, and a program whose best column then does not improve
    counts as optimal for prices of this precision.
    """
    d, rows = U.shape[0], bases.shape[1]
    alpha = np.empty(rows)
    for place in range(len(programs)):
        program = programs[place]
        j, sign, v, y = features[program], signs[program], V[place], ys[program]
        if j < d:
            v[j] -= sign  # from here on |v_k| - y_s is the reduced cost of every pair of columns, the target's too
        k = place_of_largest(v)
        bland = stalls[program] > STALLED
        if bland:
            entering = first_improving(v, y, spans, at_upper[program], tolerance)
        else:
            entering = k if v[k] < 0 else d + k
            place, gain = best_range(y, spans, at_upper[program])
            if gain > abs(v[k]) - y[rows - 1]:
                entering = 2 * d + 1 + place
        # The reduced cost of s, -y_s, never exceeds that of the best pair, |v_k| - y_s.
        improvement = reduced_cost(entering, j, sign, U, y)
        if entering > 2 * d and at_upper[program, entering - 2 * d - 1]:
            improvement = -improvement
        if improvement <= tolerance:
            states[program] = OPTIMAL
            continue
        step = pivot(
            entering, U, spans, bases[program], inverses[program], xs[program], at_upper[program], alpha, bland
        )
        pivots[program] += 1
        if step < 0 or pivots[program] > most_pivots:
            states[program] = FAILED
            continue
        stalls[program] = stalls[program] + 1 if step <= 1e-12 else 0
        multipliers(j, sign, d, bases[program], inverses[program], y)


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def missing(
    U: NDArray[Any],
    spans: NDArray[Any],
    basis: NDArray[Any],
    x: NDArray[Any],
    at_upper: NDArray[Any],
    right: NDArray[Any],
    out: NDArray[Any],
) -> None:  # pragma: no cover - compiled
    """Fill what the amounts x of the basic columns, and the ranges at their upper end, leave of the right-hand side."""
    d, last = U.shape
    for i in range(len(out)):
        out[i] = right[i]
    for i in range(last):
        if at_upper[i]:
            out[i] -= spans[i]
    for row in range(len(basis)):
        if basis[row] > 2 * d:
            out[basis[row] - 2 * d - 1] -= x[row]
            continue
        out[last] -= x[row]
        if basis[row] < 2 * d:
            amount = x[row] if basis[row] < d else -x[row]
            u = U[basis[row] % d]
            for i in range(last):
                out[i] -= amount * u[i]


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def refine(
    U: NDArray[Any],
    spans: NDArray[Any],
    right: NDArray[Any],
    features: NDArray[Any],
    signs: NDArray[Any],
    bases: NDArray[Any],
    inverses: NDArray[Any],
    xs: NDArray[Any],
    at_upper: NDArray[Any],
    ys: NDArray[Any],
    errors: NDArray[Any],
) -> None:  # pragma: no cover - compiled
    """Repair what rounding did to amounts and multipliers, and fill what they still lack.

    An error is the residual, plus the difference of the two objectives, plus the farthest any amount is outside its
    range, plus what ranges would still gain by leaving their ends.
    """
    d, last = U.shape
    rest = np.empty(last + 1)
    unpaid = np.empty(last + 1)
    for program in range(len(bases)):
        j, sign, basis, inverse = features[program], signs[program], bases[program], inverses[program]
        x, y, upper = xs[program], ys[program], at_upper[program]
        missing(U, spans, basis, x, upper, right, rest)
        for row in range(last + 1):
            own, product = inverse[row], 0.0
            for i in range(last + 1):
                product += own[i] * rest[i]
            x[row] += product
            unpaid[row] = reduced_cost(basis[row], j, sign, U, y)
        for row in range(last + 1):
            own, amount = inverse[row], unpaid[row]
            for i in range(last + 1):
                y[i] += amount * own[i]
        missing(U, spans, basis, x, upper, right, rest)
        residual, outside, difference, gain = 0.0, 0.0, 0.0, 0.0
        for i in range(last):
            if upper[i]:
                difference -= y[i] * spans[i]
            gain += max(0.0, y[i] if upper[i] else -y[i]) * spans[i]
        for row in range(last + 1):
            residual += abs(rest[row])  # a sum, which keeps NaN
            outside = max(outside, -x[row])
            difference += y[row] * right[row]
            if basis[row] > 2 * d:
                outside = max(outside, x[row] - spans[basis[row] - 2 * d - 1])
            elif basis[row] % d == j and basis[row] < 2 * d:
                difference -= sign * x[row] if basis[row] < d else -sign * x[row]
        errors[program] = residual + abs(difference) + outside + gain


@njit(cache=True, nogil=True)
def maximize_slack(
    U: NDArray[Any],
    spans: NDArray[Any],
    basis: NDArray[Any],
    inverse: NDArray[Any],
    x: NDArray[Any],
    at_upper: NDArray[Any],
    stalls: NDArray[Any],
    most_pivots: int,
) -> int:  # pragma: no cover - compiled
    """Pivot one program, whose target is s, at most ``most_pivots`` times; return its state. Time O(d K) a pivot."""
    d, rows = U.shape[0], len(basis)
    alone, target, sign = np.zeros(1, np.intp), np.full(1, 2 * d), np.ones(1)
    states, pivots, ys = np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty((1, rows))
    V = np.empty((1, d))
    multipliers(2 * d, 1.0, d, basis, inverse, ys[0])
    for _ in range(most_pivots):
        np.dot(U, ys[0, : rows - 1], V[0])
        advance(
            alone, V, U, spans, target, sign, basis.reshape(1, -1), inverse.reshape(1, rows, rows), x.reshape(1, -1),
            at_upper.reshape(1, -1), ys, states, stalls, pivots, most_pivots, TOLERANCE,
        )  # fmt: skip
        if states[0] != RUNNING:
            break
    return states[0]


def basic_columns(U: Array, bases: Indices) -> Array:
    """The column of each basic number in the rows of U^T (p - q) + r, of shape (..., K); zero for s."""
    d, K = U.shape
    sides = np.where(bases < d, 1.0, np.where(bases < 2 * d, -1.0, 0.0))
    columns = U[bases % d] * sides[..., None]
    if (bases > 2 * d).any():
        columns = np.where((bases > 2 * d)[..., None], (bases - 2 * d - 1)[..., None] == np.arange(K), columns)
    return columns
