"""What leaving a feature out costs: the best answer without it against the best answer with all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import norm

from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report
from whynear.utils.threads import run_in_chunks
from whynear.verdict.feature_columns import FeatureColumns
from whynear.verdict.models import KernelModels
from whynear.verdict.targets import Answers, Target

PROMISING = 0.3  # p-value below which the ridge is chosen again without the feature
MOST_ONE_BY_ONE = 150  # features; more are first left out in blocks
ALIKE = 0.7  # correlation of the members of a block with its first one
COSTLY = 0.05  # p-value of a block that is split
ROUNDING = 1e-10  # of the loss; answers of the same columns in another order differ by less


@dataclass(frozen=True, eq=False)
class Costs:
    """What leaving out each feature costs.

    Attributes
    ----------
    losses, errors : ndarray of shape (n_features,)
        Points of accuracy (R2 for a measured target) lost, and their standard errors.
    deviations : ndarray of shape (n_features,)
        The increase of the loss of held-out rows, in its standard errors.
    most : ndarray of shape (n_features,)
        Points that may be lost at most, with 95% confidence.
    """

    losses: Array
    errors: Array
    deviations: Array
    most: Array

    @property
    def p_values(self) -> Array:
        """Of no increase of the loss."""
        return np.asarray(norm.sf(self.deviations))

    def replaced(self, found: Mapping[int, Cost]) -> Costs:
        """Return costs in which those of some features are others."""
        parts = (("losses", "loss"), ("errors", "error"), ("deviations", "deviation"), ("most", "most"))
        changed = {
            name: np.array([getattr(found[j], one) if j in found else old for j, old in enumerate(getattr(self, name))])
            for name, one in parts
        }
        return replace(self, **changed)


@dataclass(frozen=True)
class Cost:
    """What one answer costs against another: points lost with their error, deviation, and points lost at most."""

    loss: float
    error: float
    deviation: float
    most: float


def cost_of(without: Answers, full: Answers, target: Target) -> Cost:
    """Return what the answers without a feature cost."""
    excess, error = target.mean_and_error(without.loss - full.loss)
    lost, lost_error = target.mean_and_error(full.score - without.score)
    expected, expected_error = target.mean_and_error(full.expected - without.expected)
    if abs(excess) <= ROUNDING:
        deviation = 0.0
    else:
        deviation = excess / error if error > 0 else np.inf * np.sign(excess)
    return Cost(100 * lost, 100 * lost_error, float(deviation), 100 * (expected + 1.645 * expected_error))


def costs_without(
    models: KernelModels, *, quick: bool = False, n_jobs: int | None = None, report: Report | None = None
) -> Costs:
    """Leave out every feature, or first blocks of like features and then the members of those that cost something.

    ``quick`` keeps the ridge of the models with all features.
    """
    d = models.columns.n_features
    groups = [np.array([j]) for j in range(d)] if d <= MOST_ONE_BY_ONE else blocks(models.columns)
    found: dict[int, Cost] = {}
    done = 0
    while groups:
        costs = _each(models, groups, quick, n_jobs)
        split: list[Indices] = []
        for block, cost in zip(groups, costs, strict=True):
            if len(block) > 1 and norm.sf(cost.deviation) < COSTLY:
                half = (len(block) + 1) // 2
                split += [block[:half], block[half:]]
                continue
            found.update(dict.fromkeys(block.tolist(), cost))
        groups, done = split, len(found)
        if report is not None:
            report(f"leave out features, {done:,} of {d:,}", done / d)
    made = [found[j] for j in range(d)]
    return Costs(*(np.array([getattr(cost, name) for cost in made]) for name in ("loss", "error", "deviation", "most")))


def _each(models: KernelModels, groups: Sequence[Indices], quick: bool, n_jobs: int | None) -> list[Cost]:
    """Leave out each group of features, on threads."""
    found: list[Cost | None] = [None] * len(groups)

    def work(first: int, last: int) -> None:
        for place in range(first, last):
            cost = cost_of(models.without(groups[place]), models.answers, models.target)
            if not quick and norm.sf(cost.deviation) < PROMISING:
                cost = cost_of(models.without(groups[place], tune=True), models.answers, models.target)
            found[place] = cost

    run_in_chunks(work, len(groups), 1, n_jobs)
    return [cost for cost in found if cost is not None]


def blocks(columns: FeatureColumns) -> list[Indices]:
    """Gather features that are like a first one; each feature is in one block.

    The features with the most like them come first, so that blocks are few.
    """
    d = columns.n_features
    values = np.zeros((len(columns.values), d))
    for j in range(columns.values.shape[1]):
        if not values[:, columns.owners[j]].any():
            values[:, columns.owners[j]] = columns.values[:, j]
    lengths = np.linalg.norm(values, axis=0)
    values = values / np.maximum(lengths, 1e-300)
    shared = np.square(values @ (values.T @ values)).sum(axis=0) if d <= len(values) else _shared(values)
    left = np.ones(d, dtype=bool)
    made = []
    for first in np.argsort(-shared, kind="stable"):
        if left[first]:
            alike = np.abs(values[:, first] @ values)
            members = np.flatnonzero(left & (alike >= ALIKE))
            members = members[members != first]
            block = np.append(first, members[np.argsort(-alike[members], kind="stable")]).astype(np.intp)
            left[block] = False
            made.append(block)
    return made


def _shared(values: Array) -> Array:
    """How much each column has in common with all."""
    left, singular, _ = np.linalg.svd(values, full_matrices=False)
    return np.square(singular[:, None] * (left.T @ values)).sum(axis=0)
