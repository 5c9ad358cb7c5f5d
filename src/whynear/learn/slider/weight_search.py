"""Searches for feature weights that change one weight at a time, judged by the mean rank of matches."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from whynear.learn.slider import objective as slider
from whynear.learn.slider.task import RankingTask
from whynear.learn.solvers import Callback, Step
from whynear.utils.arrays import Array
from whynear.utils.threads import run_in_chunks

CHUNK_COMPARISONS = 10_000_000  # judged in one compiled call: well under 0.2 s


class JudgedWeights:
    """Weights of the original columns, and the rank of matches that the judges find under them.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        The weights, in any unit.
    nearer : float
        The share of mismatches nearer than the match.
    curve : list of float
        That share after each change.
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
