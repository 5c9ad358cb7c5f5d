"""Slider's rivals, with the same interface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linprog
from scipy.sparse import eye, hstack

from whynear.learn.slider import objective as slider
from whynear.learn.slider.base import RankedNeighbors, RankingTask, Weighting
from whynear.learn.solvers import Callback, Step
from whynear.model.files import register
from whynear.utils.arrays import Array
from whynear.utils.checks import number, whole
from whynear.utils.threads import run_in_chunks

CHUNK_COMPARISONS = 10_000_000  # judged in one compiled call: well under 0.2 s


class JudgedWeights:
    """Weights of the original columns, in any unit, and the rank of matches that the judges find under them.

    ``nearer`` is the share of mismatches nearer than the match, ``curve`` that share after each change.
    """

    def __init__(self, task: RankingTask, weights: ArrayLike, n_jobs: int | None, watch: Callback) -> None:
        self.task, self.n_jobs, self.watch = task, n_jobs, watch
        peak = task.log_units[task.varies].max()
        self.factors = np.exp(np.where(task.varies, task.log_units - peak, -np.inf))
        self.weights = np.where(task.varies, np.asarray(weights, dtype=np.float64), 0.0)
        self.curve: list[float] = []
        self.measure()

    def trials(self, features: ArrayLike, changes: ArrayLike) -> Array:
        """The share of nearer mismatches if one weight were changed, for each of these changes."""
        task, which = self.task, np.asarray(features, dtype=np.intp)
        scaled = np.asarray(changes, dtype=np.float64) * self.factors[which]
        out = np.empty(len(which))

        def work(start: int, stop: int) -> None:
            slider.judge_changes(
                task.columns, *task.judges, task.p, self.judged, which[start:stop], scaled[start:stop], out[start:stop]
            )

        run_in_chunks(work, len(which), 1 + CHUNK_COMPARISONS // self.judged.size, n_jobs=self.n_jobs)
        return out

    def change(self, feature: int, change: float, *, exactly: bool = True) -> None:
        """Change a weight for good, and sum all margins anew (`exactly`) or add to them."""
        self.weights[feature] = max(0.0, self.weights[feature] + change)
        if exactly:
            self.measure()
        else:
            task, gap = self.task, np.empty(self.judged.shape)
            slider.gaps(task.columns[feature], *task.judges, task.p, gap)
            self.judged += change * self.factors[feature] * gap
            self.nearer = float(slider.nearer_share(self.judged, 1.0, self.judged, 0.0))
        self.curve.append(self.nearer)
        self.watch(Step(len(self.curve), self.task.mean_rank(self.nearer)))

    @property
    def shares(self) -> Array:
        """The weights as shares of the distance."""
        return self.task.shares_of(self.weights)

    def measure(self) -> None:
        """Sum all margins again: subtracting a large column from the sum would leave rounding errors."""
        self.judged = self.task.margins(self.weights * self.factors, self.task.judges)
        self.nearer = float(slider.nearer_share(self.judged, 1.0, self.judged, 0.0))


def best_of_all(judged: JudgedWeights, features: NDArray[np.intp], change: float) -> bool:
    """Make the change that lowers the rank most; return whether there was one."""
    if not len(features):
        return False
    found = judged.trials(features, np.full(len(features), change))
    if not found.min() < judged.nearer:
        return False
    judged.change(int(features[found.argmin()]), change)
    return True


def nudge_each(judged: JudgedWeights, order: Sequence[int], n_levels: int) -> bool:
    """Move each weight in turn to the next level above or below if that lowers the rank; return whether one moved."""
    moved, step = False, 1.0 / n_levels
    for feature in order:
        level = round(judged.weights[feature] * n_levels)
        changes = [sign * step for sign in (-1, 1) if 0 <= level + sign <= n_levels]
        found = judged.trials([feature] * len(changes), changes)
        if found.min() < judged.nearer:
            judged.change(feature, changes[int(found.argmin())], exactly=False)
            moved = True
    judged.measure()
    return moved


MOST_PROGRAM_TRIPLES = 2_000  # rows of a linear program, unless n_triples is given


@register
class DIET(RankedNeighbors):
    """Weights from a few levels, 0, 1/q, ..., 1, each moved up or down by one level while matches rank better.

    All start at one, so that the rank is never worse than that of equal weights. The columns
    are not scaled inside: scale them first.

    Parameters
    ----------
    n_levels : int, default=10
        The number q of steps from zero to one.
    n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share : as for `Slider`
    n_mismatches, n_mismatch_sets, n_jobs, verbose, callback, random_state : as for `Slider`

    Attributes
    ----------
    metric_, mean_rank_, uniform_rank_, loss_curve_, n_iter_, classes_, cases_, codes_, row_names_, input_range_
        As for `Slider`; ``n_iter_`` counts passes over the features.

    References
    ----------
    Kohavi, Langley, Yun: The utility of feature weighting in nearest-neighbor algorithms, 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> DIET(random_state=0).fit(*load_iris(return_X_y=True)).metric_
    DiagonalMetric(4 features: x0, x1, x2, ...)
    """

    def __init__(
        self,
        n_levels: int = 10,
        n_neighbors: int = 1,
        p: int = 2,
        matches: Literal["random", "near"] = "random",
        n_near: int = 10,
        n_triples: int | None = None,
        n_validation: int | None = None,
        validation_share: float = 0.5,
        n_mismatches: int = 20,
        n_mismatch_sets: int = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share, n_mismatches, n_mismatch_sets,
            n_jobs, verbose, callback, random_state,
        )  # fmt: skip
        self.n_levels = n_levels

    def _search_shares(self, task: RankingTask, rng: np.random.Generator, watch: Callback) -> Weighting:
        whole("n_levels", self.n_levels)
        judged = JudgedWeights(task, np.ones(task.n_features), self.n_jobs, watch)
        n_passes = 1
        while nudge_each(judged, rng.permutation(np.flatnonzero(task.varies)).tolist(), self.n_levels):
            n_passes += 1
        return Weighting(judged.shares, judged.curve, n_passes)


@register
class ForwardSelection(RankedNeighbors):
    """The features found by adding to none, one at a time, the one with which matches rank best.

    Parameters
    ----------
    n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share : as for `Slider`
    n_mismatches, n_mismatch_sets, n_jobs, verbose, callback, random_state : as for `Slider`

    Attributes
    ----------
    metric_, mean_rank_, uniform_rank_, loss_curve_, n_iter_, classes_, cases_, codes_, row_names_, input_range_
        As for `Slider`; selected features share the weight evenly, ``n_iter_`` is their number.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> ForwardSelection(random_state=0).fit(*load_iris(return_X_y=True)).n_iter_
    2
    """

    def _search_shares(self, task: RankingTask, _rng: np.random.Generator, watch: Callback) -> Weighting:
        judged = JudgedWeights(task, np.zeros(task.n_features), self.n_jobs, watch)
        judged.nearer = 1.0  # no feature at all is worse than any
        while best_of_all(judged, np.flatnonzero(task.varies & (judged.weights == 0)), 1.0):
            pass
        return Weighting(judged.shares, judged.curve, len(judged.curve))


@register
class BackwardElimination(RankedNeighbors):
    """The features left after removing, one at a time, the one without which matches rank best.

    Parameters
    ----------
    n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share : as for `Slider`
    n_mismatches, n_mismatch_sets, n_jobs, verbose, callback, random_state : as for `Slider`

    Attributes
    ----------
    metric_, mean_rank_, uniform_rank_, loss_curve_, n_iter_, classes_, cases_, codes_, row_names_, input_range_
        As for `Slider`; features that are left share the weight evenly, ``n_iter_`` is the number removed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> model = BackwardElimination(random_state=0).fit(*load_iris(return_X_y=True))
    >>> model.mean_rank_ <= model.uniform_rank_
    True
    """

    def _search_shares(self, task: RankingTask, _rng: np.random.Generator, watch: Callback) -> Weighting:
        judged = JudgedWeights(task, np.ones(task.n_features), self.n_jobs, watch)
        while (left := np.flatnonzero(judged.weights)).size > 1 and best_of_all(judged, left, -1.0):
            pass
        return Weighting(judged.shares, judged.curve, len(judged.curve))


@register
class LPWeights(RankedNeighbors):
    r"""Weights by a linear program on the differences of distances, summed over triples.

    Parameters
    ----------
    margins : tuple of float, default=(0.01, 0.1, 1.0, 10.0)
        Margins to try, relative to the typical difference under equal weights. The one under which matches rank best
        is kept.
    n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share : as for `Slider`
    n_mismatches, n_mismatch_sets, n_jobs, verbose, callback, random_state : as for `Slider`

    Attributes
    ----------
    metric_, mean_rank_, uniform_rank_, loss_curve_, n_iter_, classes_, cases_, codes_, row_names_, input_range_
        As for `Slider`; ``n_iter_`` is the number of programs solved.

    Notes
    -----
    With D the difference of the distances from an instance to its mismatch and to its match, the largest sum of D under
    :math:`w \ge 0, \sum w = 1` is reached at a corner, which is a single feature: a linear function on a simplex is
    largest there. So the program here gives every triple a margin m and counts only what it lacks,

    .. math:: \min_{0 \le w \le 1, \, s \ge 0} \sum_t s_t \quad \text{with} \quad \sum_l w_l g_{tl} + s_t \ge m .

    It looks at amounts, where ranks look at order only. None for ``n_triples`` is at most 2,000 here: the programs grow
    with it. An interrupt waits for the program that is being solved.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> LPWeights(random_state=0, n_triples=200).fit(*load_iris(return_X_y=True)).metric_
    DiagonalMetric(4 features: x0, x1, x2, ...)
    """

    def __init__(
        self,
        margins: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0),
        n_neighbors: int = 1,
        p: int = 2,
        matches: Literal["random", "near"] = "random",
        n_near: int = 10,
        n_triples: int | None = None,
        n_validation: int | None = None,
        validation_share: float = 0.5,
        n_mismatches: int = 20,
        n_mismatch_sets: int = 1,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share, n_mismatches, n_mismatch_sets,
            n_jobs, verbose, callback, random_state,
        )  # fmt: skip
        self.margins = margins

    def _search_shares(self, task: RankingTask, _rng: np.random.Generator, watch: Callback) -> Weighting:
        if not len(self.margins):
            raise ValueError("margins must hold at least one number, got none.")
        for margin in self.margins:
            number("margins", margin, above=0, why="each of them")
        uniform = JudgedWeights(task, np.ones(task.n_features), self.n_jobs, watch)
        triples = task.triples.some(slice(self.n_triples or MOST_PROGRAM_TRIPLES))
        gaps = np.empty((len(triples), task.n_features))
        for feature, (column, factor) in enumerate(zip(task.columns, uniform.factors, strict=True)):
            slider.gaps(column, *triples, task.p, part := np.empty((len(triples), 1)))
            gaps[:, feature] = factor * part[:, 0]
        typical = np.abs(gaps.sum(axis=1)).mean()
        best, curve = Weighting(uniform.shares, [], 0), [uniform.nearer]
        for n_solved, margin in enumerate(self.margins, 1):
            weights = program_weights(gaps / (typical or 1.0), margin)
            if weights.any() and (nearer := task.nearer(task.shares_of(weights))) < curve[-1]:
                best = best._replace(shares=task.shares_of(weights))
                curve.append(nearer)
            watch(Step(n_solved, task.mean_rank(curve[-1])))
        return best._replace(curve=curve, n_iter=len(self.margins))


def program_weights(gaps: np.ndarray[Any, Any], margin: float) -> np.ndarray[Any, Any]:
    """Weights in [0, 1] under which the triples lack least of the margin in all: see `LPWeights`."""
    n, d = gaps.shape
    cost = np.concatenate([np.zeros(d), np.ones(n)])
    bounds = [(0.0, 1.0)] * d + [(0.0, None)] * n
    lacking = hstack([-gaps, -eye(n)], format="csr")
    solved = linprog(cost, A_ub=lacking, b_ub=np.full(n, -margin), bounds=bounds, method="highs")
    return np.clip(solved.x[:d], 0.0, 1.0) if solved.x is not None else np.zeros(d)
