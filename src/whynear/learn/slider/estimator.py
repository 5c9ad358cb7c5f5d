"""Slider, which learns feature weights that optimise ranking."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from whynear.learn.slider import objective as slider
from whynear.learn.slider.base import RankedNeighbors, RankingTask, Weighting
from whynear.learn.solvers import Callback, Step
from whynear.model.files import register
from whynear.utils.arrays import Array
from whynear.utils.checks import check_parameters, number, whole
from whynear.utils.threads import run_in_chunks

ROUND_NANOSECONDS = 5e7  # a round of steps on one thread: an interrupt waits for its end
SORTING_NANOSECONDS, JUDGING_NANOSECONDS = 100, 8  # for each triple and each comparison of the judges


@dataclass
class Climb:
    """One climb: its current shares and what they were judged."""

    task: RankingTask
    shares: Array
    rng: np.random.Generator
    margin: Array = field(init=False)
    judged: Array = field(init=False)
    nearer: float = field(init=False)
    curve: list[float] = field(default_factory=list)
    n_steps: int = 0
    since: int = 0
    waiting: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))

    def __post_init__(self) -> None:
        self.shares = self.shares.copy()
        self.margin = self.task.margins(self.shares, self.task.triples)
        self.judged = self.task.margins(self.shares, self.task.judges)
        self.nearer = self.task.nearer(self.shares)

    def advance(self, n_steps: int, tol: float) -> None:
        """Make ``n_steps`` steps; every feature is used once before any is used again."""
        while len(self.waiting) < n_steps:
            self.waiting = np.concatenate([self.waiting, self.rng.permutation(np.flatnonzero(self.task.varies))])
        order, self.waiting = self.waiting[:n_steps], self.waiting[n_steps:]
        curve, task = np.empty(n_steps), self.task
        slider.climb(
            task.columns, *task.triples, *task.judges, task.p, order, tol,
            self.shares, self.margin, self.judged, self.nearer, curve,
        )  # fmt: skip
        kept = np.flatnonzero(~np.isnan(curve))
        self.n_steps += n_steps
        self.since = self.since + n_steps if not len(kept) else n_steps - 1 - int(kept[-1])
        if len(kept):
            self.nearer = float(curve[kept[-1]])
            self.curve += curve[kept].tolist()


def climb_all(
    climbs: list[Climb], *, patience: int, max_iter: int, tol: float, n_jobs: int | None, watch: Callback
) -> Climb:
    """Climb with all until each has made ``patience`` steps in vain or ``max_iter`` in all; return the best."""
    task = climbs[0].task
    cost = SORTING_NANOSECONDS * len(task.triples) + JUDGING_NANOSECONDS * task.judges.mismatches.size
    at_once = int(np.clip(ROUND_NANOSECONDS / max(cost, 1), 1, max(1, task.varies.sum())))

    while active := [climb for climb in climbs if climb.since < patience and climb.n_steps < max_iter]:

        def work(start: int, stop: int, active: list[Climb] = active) -> None:
            for climb in active[start:stop]:
                climb.advance(min(at_once, max_iter - climb.n_steps), tol)

        run_in_chunks(work, len(active), chunk=1, n_jobs=n_jobs)
        best = min(climb.nearer for climb in climbs)
        watch(Step(max(climb.n_steps for climb in climbs), task.mean_rank(best)))
    return min(climbs, key=lambda climb: climb.nearer)


@register
class Slider(RankedNeighbors):
    r"""One weight per feature, such that cases of the same class rank before others; classification by neighbours.

    One feature at a time slides against all others. Triples of an instance, a match and a mismatch change their order
    where the two are equally far, the crossovers; the weight that puts most matches first is tried, and kept only if
    the mean rank of matches among mismatches improves on comparisons held out for it.

    Columns need no scaling: the weights adapt to their units.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of neighbours that vote.
    p : int, default=2
        Order of the distance: 1 is Manhattan, 2 Euclidean, 3 Minkowski's third.
    matches : {"random", "near"}, default="random"
        Whether matches are any rows of the same class, or only the nearest ones, which serves the nearest neighbours
        rather than the whole ranking.
    n_near : int, default=10
        Of how many nearest rows a near match is one, all columns scaled alike.
    n_triples : int, default=None
        Number of triples drawn; None is twice the rows, 10,000 at least.
    n_validation : int, default=None
        Number of held-out pairs of an instance and a match that judge; None is as many as rows, 5,000 at least (as
        many as are given in `fit_triplets`).
    validation_share : float, default=0.5
        Share of the rows held out as instances that judge.
    n_mismatches : int, default=20
        Mismatches among which a match is ranked. More pairs reduce the error more than more mismatches per pair.
    n_mismatch_sets : int, default=1
        Number of such sets for each judging pair.
    n_restarts : int, default=4
        Number of starts, climbed on threads: equal weights, then weights by which all columns count alike, then random
        ones. The one that ends with the best rank is kept.
    patience : int, default=None
        A climb ends after this many steps in a row without improvement; None is the number of features.
    max_iter : int, default=20000
        Most steps of a climb.
    tol : float, default=0.0001
        A step is kept if it lowers the number of nearer mismatches by more than this share of it.
    n_jobs : int, default=None
        Number of threads; all cores for None.
    verbose : bool, default=False
        Whether to print the best mean rank from time to time.
    callback : callable, default=None
        Called from time to time with a step that has ``n_iter`` and ``loss``, the best mean rank; what it raises ends
        the fit.
    random_state : int or RandomState, default=None
        Seed of the split, the comparisons and the order of features.

    Attributes
    ----------
    metric_ : DiagonalMetric or MinkowskiMetric
        The weights, summing to one; a MinkowskiMetric unless p is 2. A constant column weighs nothing.
    mean_rank_, uniform_rank_ : float
        Mean rank of the held-out matches under the weights, and under equal ones; the first is never the larger.
    loss_curve_ : list of float
        Mean rank of the held-out matches after each kept step of the best climb.
    n_iter_ : int
        Steps of the best climb, kept or not.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    input_range_ : ndarray of shape (2, n_features)
        The smallest and the largest training value of each feature.
    cases_, codes_ : ndarray
        The training cases and the places of their classes in ``classes_``.
    row_names_ : ndarray or None
        The index of X, or else of y, by which explanations name the training cases; None if neither has one.

    Notes
    -----
    With a = \|x_i - z_i\|^p - \|x_i - y_i\|^p the gap of a triple in feature i and b the weighted sum of its gaps in
    all others, the match is nearer where w a + (1 - w) b > 0: a crossover lies at w = b / (b - a). Sorting them finds
    the best w in O(t log t) for t triples. Zero is tried besides, which leaves the feature out. A tie counts as wrong
    for triples and as half a rank for judges. Memory is O(n d + t + v m) for v judging pairs with m mismatches.

    References
    ----------
    Gopal, Ioerger: Distance metric learning through optimization of ranking, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = Slider(random_state=0).fit(X, y)
    >>> model.metric_
    DiagonalMetric(13 features: x0, x1, x2, ...)
    >>> model.mean_rank_ < 3 < 5 < model.uniform_rank_
    True
    """

    def __init__(
        self,
        n_neighbors: int = 1,
        p: int = 2,
        matches: Literal["random", "near"] = "random",
        n_near: int = 10,
        n_triples: int | None = None,
        n_validation: int | None = None,
        validation_share: float = 0.5,
        n_mismatches: int = 20,
        n_mismatch_sets: int = 1,
        n_restarts: int = 4,
        patience: int | None = None,
        max_iter: int = 20_000,
        tol: float = 1e-4,
        n_jobs: int | None = None,
        verbose: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        super().__init__(
            n_neighbors, p, matches, n_near, n_triples, n_validation, validation_share, n_mismatches, n_mismatch_sets,
            n_jobs, verbose, callback, random_state,
        )  # fmt: skip
        self.n_restarts = n_restarts
        self.patience = patience
        self.max_iter = max_iter
        self.tol = tol

    def check_settings(self) -> None:
        """Refuse parameters that cannot be used, by name and value."""
        super().check_settings()
        check_parameters(self, whole, "n_restarts", "max_iter")
        check_parameters(self, whole, "patience", optional=True)
        number("tol", self.tol)

    def _search_shares(self, task: RankingTask, rng: np.random.Generator, watch: Callback) -> Weighting:
        alike = task.varies / task.varies.sum()
        starts = [task.shares_of(np.ones(task.n_features)), alike]
        while len(starts) < self.n_restarts:
            drawn = rng.exponential(size=task.n_features) * alike
            starts.append(drawn / drawn.sum())
        climbs = [Climb(task, start, rng.spawn(1)[0]) for start in starts[: self.n_restarts]]
        patience = int(task.varies.sum()) if self.patience is None else self.patience
        best = climb_all(
            climbs, patience=patience, max_iter=self.max_iter, tol=self.tol, n_jobs=self.n_jobs, watch=watch
        )
        converged = best.since >= patience
        if not converged:
            warnings.warn(
                f"{type(self).__name__} did not converge in max_iter={self.max_iter} steps: the mean rank still "
                "improves. Raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=4,
            )
        return Weighting(best.shares, best.curve, best.n_steps, converged)
