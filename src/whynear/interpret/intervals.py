"""Relevance intervals of a metric, and those of the columns that were encoded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from whynear.interpret import programs
from whynear.interpret.null_space import RowProblem, maps_with_directions, quadratic_and_rows, row_problems
from whynear.interpret.relevance import Certificate, Relevance, RowBounds, Substitutes, strengths
from whynear.metric import Metric
from whynear.utils.arrays import Array
from whynear.utils.checks import choice, number
from whynear.utils.progress import ProgressArgument, listener
from whynear.utils.threads import one_blas_thread


@dataclass(frozen=True, eq=False, repr=False)
class SummedRelevance(Relevance):
    """`Relevance` of the columns of a table, each the sum over the features made from it.

    Lower bounds are those of the sum itself, by a separate program: the parts of a column can replace each other
    while the column itself cannot be replaced. Upper bounds are sums of upper bounds, no larger than the norm allows.
    """

    parts: Relevance = field(kw_only=True)
    sources: tuple[str, ...] = field(kw_only=True)

    def substitutes_of(self, features: Sequence[str] | None = None) -> Substitutes:
        """Return which columns can replace the named ones, by the features made from them."""
        made = zip(self.parts.feature_names, self.sources, strict=True)
        wanted = None if features is None else [part for part, column in made if column in features]
        found = self.parts.substitutes_of(wanted)
        column_of = dict(zip(self.parts.feature_names, self.sources, strict=True))
        weak = {name for name, kind in zip(self.feature_names, self.strength, strict=True) if kind == "weak"}
        wanted_columns = weak if features is None else set(features)
        of: dict[str, tuple[str, ...]] = {}
        for part, others in found.of.items():
            column = column_of[part]
            if column in wanted_columns:
                known = of.get(column, ())
                replacing = dict.fromkeys((*known, *(column_of[other] for other in others)))
                of[column] = tuple(name for name in replacing if name != column)
        groups = [tuple(dict.fromkeys(column_of[part] for part in group)) for group in found.groups]
        left_out = tuple(dict.fromkeys(column_of[part] for part in found.left_out))
        return Substitutes(
            of,
            tuple(dict.fromkeys(group for group in groups if len(group) > 1)),
            tuple(name for name in left_out if name in weak and name not in of),
        )


def by_column(relevance: Relevance, sources: Sequence[str], columns: Sequence[str] | None = None) -> SummedRelevance:
    """Sum the relevance of features that come from the same column; ``sources`` names the column of each feature.

    ``columns`` are all columns in their order, also those that no feature comes from; those of the features without it.
    """
    names = tuple(dict.fromkeys(sources)) if columns is None else tuple(columns)
    given = np.array(sources)
    places = [np.flatnonzero(given == name) for name in names]
    unknown = np.array([(relevance.strength[own] == "unknown").any() for own in places])
    rows = tuple(
        _summed_row(row, start, live, places, 1.0 + relevance.slack)
        for row, start, live in zip(relevance.rows, relevance._starts, relevance._live, strict=True)
    )
    lower = sum((row.share * row.lower for row in rows), np.zeros(len(names)))
    upper = sum((row.share * row.upper for row in rows), np.zeros(len(names)))
    held = {name: getattr(relevance, name) for name in Relevance.__dataclass_fields__}
    return SummedRelevance(
        **{
            **held,
            "feature_names": names,
            "lower": lower,
            "upper": upper,
            "strength": strengths(lower, upper, float(relevance.floor), unknown),
            "rows": rows,
        },
        parts=relevance,
        sources=tuple(sources),
    )


def _summed_row(
    row: RowBounds,
    start: programs.LeastNorm | None,
    live: NDArray[np.intp],
    places: Sequence[NDArray[np.intp]],
    budget: float,
) -> RowBounds:
    def total(values: Array) -> Array:
        return np.array([values[own].sum() for own in places])

    upper = np.minimum(total(row.upper), budget * row.mu)
    lower = total(row.lower)
    for place, own in enumerate(places):
        together = np.flatnonzero(np.isin(live, own))
        if start is not None and len(together) > 1:
            lower[place] = max(lower[place], row.mu * programs.least_sum(start, budget, together))
    return replace(
        row, lower=lower, upper=np.maximum(upper, lower), low=-upper, high=upper, map=total(np.abs(row.map)),
        least=total(np.abs(row.least)), _lowest=None, _highest=None,
    )  # fmt: skip


def relevance_intervals(
    metric: Metric | BaseEstimator,
    X: ArrayLike,
    effective_dim: int | None = None,
    slack: float = 0.01,
    floor: float = 0.1,
    rows: Literal["eigen", "map"] = "eigen",
    extremes: bool = False,
    n_jobs: int | None = None,
    *,
    tolerance: float = 0.0,
    screen: bool = False,
    time_limit: float = 60.0,
    progress: ProgressArgument = None,
) -> Relevance:
    r"""Bound for each feature how much it can and must matter in a metric.

    Many maps act alike on given data. Among those equal to a row :math:`w` of the map on the data,
    :math:`\Psi_K w' = \Psi_K w`, or different from it by at most ``tolerance``, and of nearly the least L1 norm,
    :math:`\|w'\|_1 \leq (1 + slack) \mu`, the weight of a feature ranges over an interval. A feature whose weight
    cannot be zero must matter (strong); one whose weight can be large but also zero can be replaced (weak).

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric, in the coordinates of its learner. The maps of a local metric are bounded on the rows of X that
        each serves, and summed by the share of rows.
    X : array-like of shape (n_samples, n_features)
        The data, in the columns of the metric; the table itself for a Pipeline that starts with an encoder. Then what
        the encoder makes of one column is summed.
    effective_dim : int, optional
        K, the number of directions of the data on which maps must agree; all that the data have without it.
    slack : float
        By how much the norm may exceed the least one.
    floor : float
        What counts as nothing, relative to the largest upper bound; see `relevance_floor`.
    rows : {"eigen", "map"}
        Bound the eigenvectors of :math:`\Psi \Lambda \Psi` times the root of their eigenvalue, or the rows of the map
        as they are.
    extremes : bool
        Keep the maps that attain the bounds (for features that ``screen`` leaves out, the map of least norm).
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.
    tolerance : float
        By how much maps may differ in every direction of the data, as a share of what the whole map does altogether;
        see `relevance_tolerance`. Zero means equality. On a table whose columns all vary by themselves equality
        leaves no room at all, and a tolerance shows more than a cut at ``effective_dim``.
    screen : bool
        Solve no programs for features that safe bounds show to be below the floor; their upper bounds are then these.
    time_limit : float
        Seconds that HiGHS may spend on a program the simplex could not solve.
    progress : bool or callable, optional
        True writes the steps to stderr; a function is called with the name of the step and the share of the work done.

    Returns
    -------
    Relevance

    Notes
    -----
    With U the kept directions, the programs read: maximise :math:`\pm w'_j` subject to
    :math:`U^T w' = U^T w, \|w'\|_1 \leq (1 + slack)\mu`: K + 1 rows instead of the paper's 2 d, and two programs per
    feature instead of three. All start from the basis of the map of least norm, in batches by a compiled primal
    simplex. With a tolerance each row becomes a range, :math:`|u_k \cdot (w' - w)| \leq tolerance\, \|X_c\Omega^T\| /
    s_k`, where :math:`s_k` is the singular value of the centred data :math:`X_c` in the direction :math:`u_k`:
    directions in which the data hardly vary become free by themselves. A wider tolerance admits more maps of the same
    norm, but the least norm :math:`\mu` falls with it, and with :math:`\mu` the scale of all weights.

    Examples
    --------
    >>> from whynear import LinearMetric
    >>> X = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [4, 4, 1]])  # the first two columns are equal
    >>> relevance_intervals(LinearMetric([[1.0, 0.0, 1.0]]), X).frame().round(2)
      feature  lower  upper strength
    0      x0    0.0   1.01     weak
    1      x1    0.0   1.01     weak
    2      x2    1.0   1.00   strong
    """
    number("slack", slack, why="no map has less than the least norm")
    number("tolerance", tolerance, below=1.0, why="a map that differs by its whole effect may be zero")
    choice("rows", rows, ("eigen", "map"))
    given, X, model = quadratic_and_rows(metric, X)
    report = listener(progress)
    report("find maps of least norm", 0.0)
    with one_blas_thread(np.size(X)):
        parts = list(maps_with_directions(given, X, effective_dim))
        budget = 1.0 + slack
        problems, skipped = row_problems(parts, rows, tolerance, budget)
    starts = [_least_norm(problem) for problem in problems]
    chosen = _worth_solving(problems, starts, budget, float(floor), given.n_features) if screen else None

    worth = [np.arange(len(p.live)) if chosen is None else np.flatnonzero(chosen[p.live]) for p in problems]
    total = sum(2 * len(places) for places, start in zip(worth, starts, strict=True) if start is not None)
    done, one_by_one = 0, Lock()

    def count(solved: int) -> None:
        nonlocal done
        with one_by_one:
            done += solved
            report(f"solve programs, {done:,} of {total:,}", done / max(total, 1))

    bounds, errors, fallbacks, unknown = [], [0.0], 0, np.zeros(given.n_features, dtype=bool)
    if not parts:  # no map has two rows to be bounded on: unknown, which is not the same as irrelevant
        unknown[:] = True
    for problem, start, places in zip(problems, starts, worth, strict=True):
        if start is None:
            bounds.append(_unbounded(problem, budget, given.n_features))
            unknown[problem.live] = True
            continue
        programs_of = np.repeat(places, 2), np.tile([1.0, -1.0], len(places))
        ends = programs.extremes(start, budget, *programs_of, n_jobs=n_jobs, time_limit=time_limit, progress=count)
        row, failed = _row_bounds(problem, start, budget, places, ends, given.n_features, extremes)
        bounds.append(row)
        unknown |= failed
        errors.append(float(ends.error[np.isfinite(ends.error)].max(initial=0.0)))
        fallbacks += int(ends.by_highs.sum())
    report("done", 1.0)
    lower = sum((row.share * row.lower for row in bounds), np.zeros(given.n_features))
    upper = sum((row.share * row.upper for row in bounds), np.zeros(given.n_features))
    found = Relevance(
        feature_names=given.feature_names,
        lower=lower,
        upper=upper,
        strength=strengths(lower, upper, float(floor), unknown),
        rows=tuple(bounds),
        floor=floor,
        slack=slack,
        tolerance=tolerance,
        effective_dim=max((directions.effective_dim for _, directions, _, _ in parts), default=0),
        rank=max((directions.rank for _, directions, _, _ in parts), default=0),
        units=given.units,
        skipped_rows=skipped,
        certificate=Certificate(max(errors), total, fallbacks, int(np.count_nonzero(unknown))),
        _scale=given.scale,
        _starts=tuple(starts),
        _live=tuple(problem.live for problem in problems),
    )
    return found if model is None else by_column(found, model.sources, model.columns)


def _least_norm(problem: RowProblem) -> programs.LeastNorm | None:
    try:
        return programs.least_norm(problem.U, problem.b, problem.t)
    except ArithmeticError:
        return None


def _unbounded(problem: RowProblem, budget: float, d: int) -> RowBounds:
    """Return safe bounds of a row without a map of least norm: that norm is at most the norm of the row itself."""
    row, norm = problem.map, float(np.abs(problem.map).sum())
    upper = np.zeros(d)
    upper[problem.live] = budget * norm
    nothing = np.zeros((d, 1), dtype=np.intp), np.zeros((d, 1))
    served = problem.anchor, problem.share
    return RowBounds(np.zeros(d), upper, -upper, upper, norm, row, *served, row, nothing, nothing)


def _worth_solving(
    problems: Sequence[RowProblem], starts: Sequence[programs.LeastNorm | None], budget: float, floor: float, d: int
) -> NDArray[np.bool_]:
    """Features that safe bounds do not already show to be below the floor."""
    safe, certain = np.zeros(d), np.zeros(d)
    for problem, start in zip(problems, starts, strict=True):
        if start is None:
            continue
        safe[problem.live] += problem.share * start.mu * programs.safe_bounds(start, budget)
        certain[problem.live] += problem.share * start.mu * np.abs(start.weights)
    return safe >= floor * certain.max(initial=0.0)


def _row_bounds(
    problem: RowProblem,
    start: programs.LeastNorm,
    budget: float,
    places: NDArray[np.intp],
    found: programs.Extremes,
    d: int,
    keep_maps: bool,
) -> tuple[RowBounds, NDArray[np.bool_]]:
    """Bounds of all features from the programs of those at the given places, the others from safe bounds."""
    safe = programs.safe_bounds(start, budget)
    high, low = safe.copy(), -safe
    solved = np.isfinite(found.error)
    ends = np.where(solved, found.values, np.repeat(safe[places], 2)).reshape(-1, 2)
    high[places], low[places] = ends[:, 0], -ends[:, 1]
    high = np.maximum(high, low)
    across = (low <= 0) & (high >= 0)
    upper = np.maximum(np.abs(low), np.abs(high))
    lower = np.where(across, 0.0, np.minimum(np.abs(low), np.abs(high)))
    failed = np.zeros(d, dtype=bool)
    unsolved = places[~solved.reshape(-1, 2).all(axis=1)]
    lower[unsolved] = 0.0
    failed[problem.live[unsolved]] = True

    def spread(values: Array) -> Array:
        wide = np.zeros(d)
        wide[problem.live] = start.mu * values
        return wide

    def maps(which: int) -> tuple[NDArray[np.intp], Array] | None:
        if not keep_maps:
            return None
        columns = np.zeros((d, found.columns.shape[1]), dtype=np.intp)
        weights = np.zeros((d, found.columns.shape[1]))
        columns[problem.live[places]] = problem.live[found.columns[which::2]]
        weights[problem.live[places]] = start.mu * found.weights[which::2]
        return columns, weights

    lower, upper, low, high, least = map(spread, (lower, upper, low, high, start.weights))
    served = problem.anchor, problem.share
    row = RowBounds(lower, upper, low, high, start.mu, problem.map, *served, least, maps(1), maps(0))
    return row, failed
