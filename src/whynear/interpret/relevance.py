"""Relevance intervals (Schulz, Mokbel, Biehl, Hammer 2015): how much each feature can and must matter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from whynear.interpret import programs
from whynear.interpret.null_space import quadratic, restated, seen_by_learner, served_rows, times
from whynear.interpret.substitutes import Substitutes, find_substitutes
from whynear.metric import DiagonalMetric, LinearMetric, LocalMetric, Metric
from whynear.metric.inputs import Array
from whynear.metric.projection import Directions, principal_directions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STRENGTHS = ("strong", "weak", "irrelevant", "unknown")
MOST_MAPS = 100
NEGLIGIBLE = 1e-12  # of the largest row's squared norm

Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class RowBounds:
    """The bounds of one row of the map.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_features,)
        The least and the most each weight can be in absolute value.
    low, high : ndarray of shape (n_features,)
        The interval of the weight with its sign.
    mu : float
        The least L1 norm of a map that acts as this row does on the data.
    map : ndarray of shape (n_features,)
        The row itself, projected on the directions of the data.
    anchor : int or None
        Whose map it belongs to, for a local metric.
    """

    lower: Array
    upper: Array
    low: Array
    high: Array
    mu: float
    map: Array
    anchor: int | None
    least: Array = field(repr=False)
    _lowest: tuple[NDArray[np.intp], Array] | None = field(repr=False)
    _highest: tuple[NDArray[np.intp], Array] | None = field(repr=False)

    def extreme(self, feature: int, which: Literal["low", "high"]) -> Array:
        """The map that takes the weight of a feature to the end of its interval."""
        stored = self._lowest if which == "low" else self._highest
        if stored is None:
            raise ValueError("The extreme maps were not kept: call relevance_intervals(..., extremes=True).")
        columns, weights = stored[0][feature], stored[1][feature]
        if not weights.any():
            return self.least
        w = np.zeros(len(self.map))
        np.add.at(w, columns, weights)
        return w

    def extreme_map(self, feature: int, bound: Literal["lower", "upper"]) -> Array:
        """The map that attains the lower or the upper bound; a mix of both ends where the interval holds zero."""
        low, high = self.low[feature], self.high[feature]
        if bound == "upper":
            return self.extreme(feature, "high" if abs(high) >= abs(low) else "low")
        if low < 0 < high:
            ends = self.extreme(feature, "low"), self.extreme(feature, "high")
            return (high * ends[0] - low * ends[1]) / (high - low)
        return self.extreme(feature, "low" if low >= 0 else "high")


@dataclass(frozen=True)
class Certificate:
    """How far the bounds can be trusted: every program was checked against its own primal and dual solution.

    Attributes
    ----------
    error : float
        The largest error a bound may have, relative to the least norm mu of its row.
    programs, fallbacks, unknowns : int
        Number of linear programs, of those HiGHS solved instead, and of those nobody could.
    """

    error: float
    programs: int
    fallbacks: int
    unknowns: int


@dataclass(frozen=True)
class Relevance:
    """How much each feature can and must matter.

    Attributes
    ----------
    feature_names : tuple of str
        The features.
    lower, upper : ndarray of shape (n_features,)
        The least and the most each weight can be among all maps that act alike on the data and have at most (1 + slack)
        times the least L1 norm, summed over rows.
    strength : ndarray of str
        "strong": must matter (lower bound above the floor); "weak": can matter but can be replaced; "irrelevant":
        cannot; "unknown": a program could not be solved.
    rows : tuple of RowBounds
        The bounds row by row.
    floor : float
        What counts as nothing, relative to the largest upper bound.
    slack, effective_dim, rank : float, int, int
        The tolerance of the norm, the number of directions kept and the number there are.
    units : str
        What a weight refers to: "per standard deviation" where the learner saw scaled columns.
    skipped_rows : int
        Rows of the map that were too small to matter.
    certificate : Certificate
        How far the bounds can be trusted.
    """

    feature_names: tuple[str, ...]
    lower: Array
    upper: Array
    strength: NDArray[np.str_]
    rows: tuple[RowBounds, ...]
    floor: float
    slack: float
    effective_dim: int
    rank: int
    units: str
    skipped_rows: int
    certificate: Certificate
    _scale: Array | None = field(repr=False)
    _starts: tuple[programs.LeastNorm, ...] = field(repr=False)
    _live: tuple[NDArray[np.intp], ...] = field(repr=False)

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.count_nonzero(self.strength == kind)} {kind}" for kind in STRENGTHS[:3])
        unknown = np.count_nonzero(self.strength == "unknown")
        return f"Relevance({len(self.lower)} features: {counts}{f', {unknown} unknown' if unknown else ''})"

    def frame(self) -> pd.DataFrame:
        """One row per feature: its bounds and its strength."""
        columns = {"feature": self.feature_names, "lower": self.lower, "upper": self.upper, "strength": self.strength}
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, strings and lists."""
        return {
            "features": list(self.feature_names),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "strength": self.strength.tolist(),
            "floor": float(self.floor),
            "slack": self.slack,
            "effective_dim": self.effective_dim,
            "rank": self.rank,
            "units": self.units,
            "certificate": vars(self.certificate).copy(),
            "rows": [{"mu": r.mu, "lower": r.lower.tolist(), "upper": r.upper.tolist()} for r in self.rows],
        }

    def mean_map(self) -> LinearMetric:
        """The mean of all extreme maps (Fig. 9 of the paper), in the columns of the metric."""
        d = len(self.feature_names)
        rows = [
            sum((row.extreme_map(j, "lower") + row.extreme_map(j, "upper") for j in range(d)), np.zeros(d)) / (2 * d)
            for row in self.rows
        ]
        return restated(LinearMetric(np.array(rows), self.feature_names), self._scale)

    def extreme_metrics(self) -> Iterator[LinearMetric]:
        """The 2 d metrics of the extreme maps: for each feature all rows at its lower, then at its upper bound."""
        for j in range(len(self.feature_names)):
            for bound in ("lower", "upper"):
                rows = np.array([row.extreme_map(j, bound) for row in self.rows])
                yield restated(LinearMetric(rows, self.feature_names), self._scale)

    @cached_property
    def substitutes(self) -> Substitutes:
        """Which features can replace which, for the weak features with the largest upper bounds."""
        return self.substitutes_of()

    def substitutes_of(self, features: Sequence[str] | None = None) -> Substitutes:
        """Which features can replace the named ones (the 50 weak ones with the largest upper bounds without names)."""
        return find_substitutes(self, features)

    def plot(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the intervals: one line per feature, or along their axis where there are more than ``most``."""
        from whynear.interpret.drawing import draw_intervals

        return draw_intervals(self, ax, most)


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
    screen: bool = False,
    time_limit: float = 60.0,
    progress: Progress | None = None,
) -> Relevance:
    r"""Bound for each feature how much it can and must matter in a metric.

    Many maps act alike on given data. Among those equal to a row :math:`w` of the map on the data,
    :math:`\Psi_K w' = \Psi_K w`, and of nearly the least L1 norm, :math:`\|w'\|_1 \leq (1 + slack) \mu`, the weight
    of a feature ranges over an interval. A feature whose weight cannot be zero must matter (strong); one whose weight
    can be large but also zero can be replaced (weak).

    Parameters
    ----------
    metric : metric, fitted learner or Pipeline
        The metric, in the coordinates its learner saw. The maps of a local metric are bounded on the rows of X that
        each serves, and summed by the share of rows.
    X : array-like of shape (n_samples, n_features)
        The data, in the columns of the metric.
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
        Keep the maps that attain the bounds.
    n_jobs : int, optional
        Number of threads; None or -1 for all cores.
    screen : bool
        Solve no programs for features that safe bounds show to be below the floor; their upper bounds are then these.
    time_limit : float
        Seconds that HiGHS may spend on a program the simplex could not solve.
    progress : callable, optional
        Called with the name of the step and the share of the work done.

    Returns
    -------
    Relevance

    Notes
    -----
    With U the kept directions, the programs read: maximise :math:`\pm w'_j` subject to
    :math:`U^T w' = U^T w, \|w'\|_1 \leq (1 + slack)\mu`: K + 1 rows instead of the paper's 2 d, and two programs per
    feature instead of three. All start from the basis of the map of least norm, in batches by a compiled primal
    simplex.

    Examples
    --------
    >>> X = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [4, 4, 1]])  # the first two columns say the same
    >>> relevance_intervals(LinearMetric([[1.0, 0.0, 1.0]]), X).frame().round(2)
      feature  lower  upper strength
    0      x0    0.0   1.01     weak
    1      x1    0.0   1.01     weak
    2      x2    1.0   1.00   strong
    """
    if slack < 0:
        raise ValueError(f"slack={slack} must not be negative: no map has less than the least norm.")
    if rows not in ("eigen", "map"):
        raise ValueError(f"rows must be 'eigen' or 'map', got {rows!r} instead.")
    given = quadratic(metric)
    tell = progress or _silent
    tell("find maps of least norm", 0.0)
    parts = list(_parts(given, X, effective_dim))
    problems, skipped = _problems(parts, rows)
    starts = [programs.least_norm(problem.U, problem.b) for problem in problems]
    budget = 1.0 + slack
    chosen = _worth_solving(problems, starts, budget, float(floor), given.n_features) if screen else None

    total = sum(2 * (len(p.live) if chosen is None else int(chosen[p.live].sum())) for p in problems)
    done = 0

    def count(solved: int) -> None:
        nonlocal done
        done += solved
        tell(f"solved {done:,} of {total:,} programs", done / max(total, 1))

    bounds, errors, fallbacks, unknown = [], [0.0], 0, np.zeros(given.n_features, dtype=bool)
    for problem, start in zip(problems, starts, strict=True):
        places = np.arange(len(problem.live)) if chosen is None else np.flatnonzero(chosen[problem.live])
        found = programs.extremes(
            start,
            budget,
            np.repeat(places, 2),
            np.tile([1.0, -1.0], len(places)),
            n_jobs=n_jobs,
            time_limit=time_limit,
            progress=count,
        )
        row, failed = _row_bounds(problem, start, budget, places, found, given.n_features, extremes)
        bounds.append(row)
        unknown |= failed
        errors.append(float(found.error[np.isfinite(found.error)].max(initial=0.0)))
        fallbacks += int(found.by_highs.sum())
    tell("done", 1.0)
    shares = [problem.share for problem in problems]
    lower = sum((s * row.lower for s, row in zip(shares, bounds, strict=True)), np.zeros(given.n_features))
    upper = sum((s * row.upper for s, row in zip(shares, bounds, strict=True)), np.zeros(given.n_features))
    return Relevance(
        feature_names=given.feature_names,
        lower=lower,
        upper=upper,
        strength=strengths(lower, upper, float(floor), unknown),
        rows=tuple(bounds),
        floor=floor,
        slack=slack,
        effective_dim=max((directions.effective_dim for _, directions, _, _ in parts), default=0),
        rank=max((directions.rank for _, directions, _, _ in parts), default=0),
        units="per unit" if given.scale is None else "per standard deviation",
        skipped_rows=skipped,
        certificate=Certificate(max(errors), total, fallbacks, int(np.count_nonzero(unknown))),
        _scale=given.scale,
        _starts=tuple(starts),
        _live=tuple(problem.live for problem in problems),
    )


def strengths(lower: Array, upper: Array, floor: float, unknown: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Tell strong, weak and irrelevant features apart by a floor relative to the largest upper bound."""
    threshold = floor * upper[np.isfinite(upper)].max(initial=0.0)
    names = np.where(lower > threshold, "strong", np.where(upper > threshold, "weak", "irrelevant"))
    return np.where(unknown, "unknown", names)


@dataclass(frozen=True)
class _Problem:
    """One row to bound: the columns that vary, the directions, the row in them, and its weight in the sum."""

    U: Array
    b: Array
    live: NDArray[np.intp]
    map: Array
    share: float
    anchor: int | None


Part = tuple[LinearMetric | DiagonalMetric, Directions, float, int | None]


def _parts(
    given: LinearMetric | DiagonalMetric | LocalMetric, X: ArrayLike, effective_dim: int | None
) -> Iterator[Part]:
    """Each map with the directions of the data it serves, and the share of the data."""
    if not isinstance(given, LocalMetric):
        yield *seen_by_learner(given, X, effective_dim), 1.0, None
        return
    if len(given) > MOST_MAPS:
        raise ValueError(
            f"The metric has {len(given)} maps, one per anchor. Bound one of them on the cases around its anchor: "
            "relevance_intervals(metric[i], X_near)."
        )
    learned, rows, served = given.as_learned(), given.learned_coordinates(X), served_rows(given, X)
    for anchor in range(len(given)):
        mine = rows[served == anchor]
        if len(mine) >= 2:
            one = learned[anchor]
            rank = principal_directions(mine).rank
            kept = None if effective_dim is None else min(effective_dim, rank)
            yield one, principal_directions(mine, kept), len(mine) / len(rows), anchor


def _problems(parts: Sequence[Part], rows: str) -> tuple[list[_Problem], int]:
    """The rows to bound, and how many were left out because they are negligible."""
    problems, skipped = [], 0
    for metric, directions, share, anchor in parts:
        U = directions.kept
        mapped = times(metric, U)
        if rows == "eigen":
            left, scales, right = np.linalg.svd(mapped, full_matrices=False)
            # An eigenvector has no sign of its own: it gets that of the row of the map it is most like.
            signs = np.sign(left[np.abs(left).argmax(axis=0), np.arange(left.shape[1])])
            mapped = (signs * scales)[:, None] * right
        norms = np.square(mapped).sum(axis=1)
        kept = norms > NEGLIGIBLE * norms.max(initial=0.0)
        skipped += int(np.count_nonzero(~kept))
        lengths = np.linalg.norm(U, axis=1)
        live = np.flatnonzero(lengths > 1e-10 * lengths.max(initial=0.0))
        for b in mapped[kept]:
            problems.append(_Problem(np.ascontiguousarray(U[live]), b, live, U @ b, share, anchor))
    return problems, skipped


def _worth_solving(
    problems: Sequence[_Problem], starts: Sequence[programs.LeastNorm], budget: float, floor: float, d: int
) -> NDArray[np.bool_]:
    """Features that safe bounds do not already show to be below the floor."""
    safe, certain = np.zeros(d), np.zeros(d)
    for problem, start in zip(problems, starts, strict=True):
        safe[problem.live] += problem.share * start.mu * programs.safe_bounds(start, budget)
        certain[problem.live] += problem.share * start.mu * np.abs(start.weights)
    return safe >= floor * certain.max(initial=0.0)


def _row_bounds(
    problem: _Problem,
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

    row = RowBounds(
        lower=spread(lower),
        upper=spread(upper),
        low=spread(low),
        high=spread(high),
        mu=start.mu,
        map=problem.map,
        anchor=problem.anchor,
        least=spread(start.weights),
        _lowest=maps(1),
        _highest=maps(0),
    )
    return row, failed


def _silent(_step: str, _share: float) -> None:
    """Progress that nobody wants to see."""
