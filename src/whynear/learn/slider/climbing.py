"""Slider's hill-climbing from several starts at once, on threads."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from whynear.learn.slider import objective as slider
from whynear.learn.slider.task import RankingTask
from whynear.learn.solvers import Callback, Step
from whynear.utils.arrays import Array
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

    def going() -> list[Climb]:
        return [climb for climb in climbs if climb.since < patience and climb.n_steps < max_iter]

    while active := going():

        def work(start: int, stop: int, active: list[Climb] = active) -> None:
            for climb in active[start:stop]:
                climb.advance(min(at_once, max_iter - climb.n_steps), tol)

        run_in_chunks(work, len(active), chunk=1, n_jobs=n_jobs)
        best = min(climb.nearer for climb in climbs)
        watch(Step(max(climb.n_steps for climb in climbs), task.mean_rank(best)))
    return min(climbs, key=lambda climb: climb.nearer)
