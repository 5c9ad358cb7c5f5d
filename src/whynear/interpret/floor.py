"""The relevance that pure noise reaches: features below this bound count as irrelevant."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder

from whynear.data.encoder import TableEncoder
from whynear.interpret.intervals import relevance_intervals
from whynear.interpret.null_space import rank_of
from whynear.metric.steps import estimators_of
from whynear.utils.arrays import Array
from whynear.utils.checks import Seed, seed_of, whole
from whynear.utils.columns import check_dense
from whynear.work.pieces import Piece
from whynear.work.workers import Engine, results_of, start_workers

MOST_AT_ONCE = 50


class Floor(float):
    """A floor relative to the largest upper bound, as `relevance_intervals` takes it.

    Attributes
    ----------
    confidence : float
        Probability that a further feature of pure noise stays below the floor: N / (N + 1) for N probes.
    bounds : ndarray of shape (n_probes,)
        The relative upper bounds that the probes reached.
    """

    confidence: float
    bounds: Array

    def __new__(cls, bounds: Iterable[float]) -> Floor:
        """Return the floor for the bounds that probes reached."""
        values = np.sort(np.array(list(bounds), dtype=np.float64))
        floor = super().__new__(cls, values[-1])
        floor.bounds, floor.confidence = values, len(values) / (len(values) + 1)
        return floor

    def __reduce__(self) -> tuple[Any, ...]:
        return Floor, (self.bounds,)

    def __repr__(self) -> str:
        return f"Floor({float(self):.4g}, confidence={self.confidence:.3f})"


def relevance_floor(
    learner: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    n_probes: int = 20,
    random_state: Seed = None,
    *,
    effective_dim: int | None = None,
    slack: float = 0.01,
    n_jobs: int | None = None,
    engine: Engine = "processes",
    address: str | None = None,
) -> Floor:
    """Find the upper bound that features of pure noise reach under a learner.

    Permuted copies of random columns, which by construction carry no information about the target, are added to the
    real columns, the metric is learned again, and the largest upper bound of a copy, relative to the largest of all, is
    the floor. Half as many copies as columns that vary are tried at a time, in as many rounds as needed.

    Parameters
    ----------
    learner : estimator
        A learner or Pipeline; it is cloned for each round.
    X, y : array-like
        The training data.
    n_probes : int
        Number of permuted copies in all.
    random_state : int, Generator, RandomState or None, default=None
        Seed of columns and permutations.
    effective_dim : int, optional
        Number of directions of the real data kept; one more is kept for each copy.
    slack : float
        As in `relevance_intervals`.
    n_jobs : int, optional
        Number of processes for the rounds; one without it. A round whose process dies is repeated once.
    engine : {"processes", "dask"}
        Processes on this machine, or the workers of a Dask cluster.
    address : str, optional
        The address of the scheduler of the cluster; without it, a cluster is started on this machine.

    Returns
    -------
    Floor
        A float with ``confidence``.

    Examples
    --------
    >>> from whynear import GRLVQ
    >>> from whynear.datasets import make_relevance
    >>> data = make_relevance(100, random_state=0)
    >>> floor = relevance_floor(GRLVQ(random_state=0), data.X, data.y, n_probes=4, random_state=0)
    >>> floor < 1, round(floor.confidence, 2)
    (True, 0.8)
    """
    whole("n_probes", n_probes)
    first = next(iter(estimators_of(learner)), None)
    if isinstance(first, ColumnTransformer | OneHotEncoder | TableEncoder):
        raise TypeError(
            f"relevance_floor adds columns of numbers to X, which {type(first).__name__} does not take. "
            "Transform X with it and pass the steps after it."
        )
    check_dense(X)
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(np.asarray(X)).add_prefix("x")
    varying = int(np.count_nonzero(np.ptp(frame.to_numpy(dtype=float), axis=0) > 0))
    size = max(1, min(varying // 2, MOST_AT_ONCE))
    sizes = [min(size, n_probes - start) for start in range(0, n_probes, size)]
    seeds = np.random.SeedSequence(seed_of(random_state)).spawn(len(sizes))
    shared = {"learner": learner, "frame": frame, "y": np.asarray(y), "effective_dim": effective_dim, "slack": slack}
    pieces = [Piece(_bounds, {"n_probes": n, "seed": seed}) for n, seed in zip(sizes, seeds, strict=True)]
    with start_workers(engine, n_jobs or 1, address) as workers:
        results = {piece: done.result for piece, done in results_of(workers, pieces, shared)}
    return Floor(bound for piece in pieces for bound in results[piece])


def _bounds(
    n_probes: int,
    seed: np.random.SeedSequence,
    learner: BaseEstimator,
    frame: pd.DataFrame,
    y: Any,
    effective_dim: int | None,
    slack: float,
) -> list[float]:
    """Fit the learner with probes added; return the relative upper bounds of the probes."""
    rng = np.random.default_rng(seed)
    varying = np.flatnonzero(np.ptp(frame.to_numpy(dtype=float), axis=0) > 0)
    places = varying if len(varying) else np.arange(frame.shape[1])
    columns = rng.choice(places, n_probes, replace=n_probes > len(places))
    probes = {f"probe {i}": rng.permutation(frame.iloc[:, column]) for i, column in enumerate(columns)}
    together = pd.concat([frame, pd.DataFrame(probes, index=frame.index)], axis=1)
    model = clone(learner).fit(together, y)
    kept = None if effective_dim is None else min(effective_dim + n_probes, rank_of(model, together))
    upper = relevance_intervals(model, together, effective_dim=kept, slack=slack, n_jobs=1).upper
    return (upper[-n_probes:] / (upper.max() or 1.0)).tolist()
