"""The score of a learner without some features, against that with all, on the same held-out rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.engine.workers import start_workers
from whynear.learn.inputs import checked_weights
from whynear.utils.checks import Seed, generator, whole
from whynear.utils.columns import check_dense, column_names, default_names
from whynear.utils.differences import beside_error, exceeds_error
from whynear.utils.text import listed
from whynear.utils.threads import one_blas_thread
from whynear.verdict.refits import Refits
from whynear.verdict.targets import target_of


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
            f"Without {listed(self.features)}, the {others} {_shown(self.without, self.without_error)} "
            f"({self.measure}); all together {_shown(self.with_all, self.with_all_error)}. The "
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


def _shown(value: float, error: float) -> str:
    return f"{value:.1%} ± {error:.1%}"
