"""What leaving features out costs: models refitted without them, against models with all, on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import norm
from sklearn.base import BaseEstimator

from whynear.learn.inputs import checked_weights
from whynear.utils.arrays import Indices
from whynear.utils.checks import Seed, generator, whole
from whynear.utils.columns import check_dense, column_names, default_names
from whynear.utils.progress import Report
from whynear.utils.text import beside_error, exceeds_error, listed
from whynear.utils.threads import one_blas_thread
from whynear.verdict.kernel_ridge import KernelModels, on_threads
from whynear.verdict.refits import Refits
from whynear.verdict.rules import SURELY, Cost, Costs
from whynear.verdict.table import FeatureColumns, RowLosses, Target, target_of
from whynear.work.workers import start_workers

PROMISING = 0.3  # p-value below which the ridge is chosen again without the feature
MOST_ONE_BY_ONE = 150  # features; more are first left out in blocks
ALIKE = 0.7  # correlation of the members of a block with its first one
COSTLY = 0.05  # p-value of a block that is split
ROUNDING = 1e-10  # of the loss; predictions by the same columns in another order differ by less


@dataclass(frozen=True)
class LeftOut:
    """What leaving out some features together costs a learner.

    Attributes
    ----------
    features, kept : tuple of str
        The features that were left out, and the others.
    measure : {"accuracy", "R2"}
        The kind of score; R2 for a measured target.
    with_all, with_all_error : float
        The score over all held-out rows with all features, and its standard error.
    without, without_error : float
        The same without the features.
    lost, lost_error : float
        The difference of the two scores, and its standard error, which is that of paired rows.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> without = wn.leave_out(wn.GRLVQ(random_state=0), iris.X, iris.y, ["sepal width (cm)"], random_state=0)
    >>> without.measure, without.exceeds_error, len(without.kept)
    ('accuracy', False, 3)
    """

    features: tuple[str, ...]
    kept: tuple[str, ...]
    measure: Literal["accuracy", "R2"]
    with_all: float
    with_all_error: float
    without: float
    without_error: float
    lost: float
    lost_error: float

    @property
    def exceeds_error(self) -> bool:
        """Whether the loss is larger than twice its standard error."""
        return self.lost > 0 and exceeds_error(self.lost, self.lost_error)

    def __str__(self) -> str:
        """Return the scores in a sentence."""
        others = "one other feature reaches" if len(self.kept) == 1 else f"{len(self.kept):,} other features reach"
        lost = f"{100 * self.lost:.1f} ± {100 * self.lost_error:.1f} points"
        return (
            f"Without {listed(self.features)}, the {others} {self.without:.1%} ± {self.without_error:.1%} "
            f"({self.measure}); all together {self.with_all:.1%} ± {self.with_all_error:.1%}. The "
            f"{beside_error(self.lost, self.lost_error, lost)}"
        )

    def frame(self) -> pd.DataFrame:
        """Return one row for each of the two sets of features, and one for the difference."""
        rows = [
            ("all features", self.with_all, self.with_all_error),
            ("without", self.without, self.without_error),
            ("lost", self.lost, self.lost_error),
        ]
        return pd.DataFrame(rows, columns=["features", self.measure, "error"])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {**asdict(self), "features": list(self.features), "kept": list(self.kept)}


def leave_out(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    features: Iterable[str],
    *,
    groups: Any = None,
    sample_weight: Any = None,
    repeats: int = 1,
    n_jobs: int | None = None,
    random_state: Seed = None,
) -> LeftOut:
    """Fit a learner again without some features, on the same folds as with all.

    Parameters
    ----------
    learner : estimator
        A classifier or a regressor, or a Pipeline; it is cloned, not changed.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The features.
    y : array-like of shape (n_samples,)
        The classes, or the values of a measured target.
    features : iterable of str
        The features to leave out together: columns of X; ``x0``, ``x1``, ... if it has no names.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        Rows of a group are held out together; or rows are held out that are later than those learned from.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is fitted.
    repeats : int, default=1
        Number of cross-validations with other folds, whose scores are averaged row by row.
    n_jobs : int, optional
        Number of processes; all cores without it.
    random_state : int, Generator or RandomState, optional
        Seed of the folds.

    Returns
    -------
    LeftOut

    Notes
    -----
    A feature is left out by setting it to its most frequent value in every row, so that any Pipeline can be fitted.
    Both scores are of the same rows, held out in the same folds; five of them if the classes have as many rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from whynear import GRLVQ
    >>> iris = load_iris(as_frame=True)
    >>> petals = ["petal length (cm)", "petal width (cm)"]
    >>> found = leave_out(GRLVQ(random_state=0), iris.data, iris.target, petals, n_jobs=1, random_state=0)
    >>> found.kept
    ('sepal length (cm)', 'sepal width (cm)')
    >>> found.lost > 0.1 > 2 * found.lost_error
    True
    """
    check_dense(X)
    names = column_names(X) or default_names(np.shape(X)[1])
    X = X if isinstance(X, pd.DataFrame) else np.asarray(X)
    left, kept = check_left_out(list(features), list(names))
    rng = generator(random_state)
    target = target_of(learner, y, groups, len(X))
    weights = None if sample_weight is None else checked_weights(sample_weight, len(X), X)
    places = [place for place, name in enumerate(names) if name in left]
    with one_blas_thread(), start_workers("processes", n_jobs, also_here=True) as workers:
        seed = int(rng.integers(2**31))
        refits = Refits(learner, X, np.asarray(y), target, seed, weights=weights, workers=workers)
        refits.prepare([(), places], whole("repeats", repeats, 1))
        full, less = refits.without((), repeats), refits.without(places, repeats)
    return LeftOut(
        left,
        kept,
        "R2" if target.measured else "accuracy",
        *target.mean_and_error(full.score),
        *target.mean_and_error(less.score),
        *target.mean_and_error(full.score - less.score),
    )


def check_left_out(features: list[str], names: list[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the features to leave out and the others, both in the order of the table; an error if either is empty."""
    if unknown := [name for name in features if name not in names]:
        raise ValueError(f"features has {listed(unknown)}, which X does not have. Its columns are {listed(names, 8)}.")
    if not features:
        raise ValueError("features must name at least one column to leave out, got none instead.")
    kept = tuple(name for name in names if name not in features)
    if not kept:
        raise ValueError("features must leave at least one column of X, got all of them instead.")
    return tuple(name for name in names if name in features), kept


def cost_of(without: RowLosses, full: RowLosses, target: Target) -> Cost:
    """Return what leaving out a feature costs, from the losses without it and with all."""
    excess, error = target.mean_and_error(without.loss - full.loss)
    lost, lost_error = target.mean_and_error(full.score - without.score)
    expected, expected_error = target.mean_and_error(full.expected - without.expected)
    if abs(excess) <= ROUNDING:
        deviation = 0.0
    else:
        deviation = excess / error if error > 0 else np.inf * np.sign(excess)
    return Cost(100 * lost, 100 * lost_error, float(deviation), 100 * (expected + SURELY * expected_error))


def costs_without(
    models: KernelModels, *, quick: bool = False, n_jobs: int | None = None, report: Report | None = None
) -> Costs:
    """Leave out every feature, or first blocks of like features and then the members of those that cost something.

    ``quick`` keeps the ridge of the models with all features.
    """

    def cost_without(features: Indices) -> Cost:
        cost = cost_of(models.without(features), models.best, models.target)
        if not quick and norm.sf(cost.deviation) < PROMISING:
            return cost_of(models.without(features, tune=True), models.best, models.target)
        return cost

    d = models.columns.n_features
    groups = [np.array([j]) for j in range(d)] if d <= MOST_ONE_BY_ONE else blocks(models.columns)
    found: dict[int, Cost] = {}
    done = 0
    while groups:
        costs = on_threads(cost_without, groups, n_jobs)
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
    return Costs.of([found[j] for j in range(d)])


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
    if d <= len(values):  # how much each column has in common with all
        shared = np.square(values @ (values.T @ values)).sum(axis=0)
    else:
        left, singular, _ = np.linalg.svd(values, full_matrices=False)
        shared = np.square(singular[:, None] * (left.T @ values)).sum(axis=0)
    unused = np.ones(d, dtype=bool)
    made = []
    for first in np.argsort(-shared, kind="stable"):
        if unused[first]:
            alike = np.abs(values[:, first] @ values)
            members = np.flatnonzero(unused & (alike >= ALIKE))
            members = members[members != first]
            block = np.append(first, members[np.argsort(-alike[members], kind="stable")]).astype(np.intp)
            unused[block] = False
            made.append(block)
    return made
