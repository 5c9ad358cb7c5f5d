"""The shape of a learned kernel, chosen in folds in which the distance is learned too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from whynear.data.rows import RowSplit
from whynear.learn.kernel.learning import START, Columns, Coordinates, Place, Rows, Shape, steps
from whynear.utils.arrays import Array, Indices

BEHIND = 3.0  # standard errors behind the best, with which a candidate is not tried in further folds
PATIENCE = 2  # steps without a smaller error


class Candidate(NamedTuple):
    """What columns are taken as, and the shape of the distance."""

    columns: Columns
    shape: Shape


# The simplest first: a weight for each column, of the values themselves; ranks; a map of all columns.
CANDIDATES = (
    Candidate("values", "diagonal"),
    Candidate("values", "l1"),
    Candidate("ranks", "diagonal"),
    Candidate("ranks", "l1"),
    Candidate("values", "map"),
    Candidate("ranks", "map"),
)


@dataclass(frozen=True, eq=False)
class Choice:
    """The candidate chosen, its number of steps, and the mean held-out loss of each candidate at its best step."""

    candidate: Candidate
    n_steps: int
    losses: dict[Candidate, float]


class _Race:
    """The losses of candidates on the rows held out so far: an array of steps by rows for each."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.losses: dict[Candidate, Array] = {candidate: np.empty((0, 0)) for candidate in candidates}
        self.weights = np.empty(0)

    def add(self, losses: dict[Candidate, Array], weights: Array) -> None:
        """Take the losses of a fold; candidates without any are out."""
        first = not len(self.weights)
        self.losses = {one: new if first else np.hstack([self.losses[one], new]) for one, new in losses.items()}
        self.weights = np.append(self.weights, weights)

    def mean(self, candidate: Candidate) -> Array:
        """Return the mean loss by the number of steps."""
        return self.losses[candidate] @ self.weights / self.weights.sum()

    def within(self, n_errors: float) -> list[Candidate]:
        """Return the candidates whose loss exceeds the least by at most so many standard errors of the excess."""
        best = min(self.losses, key=lambda one: float(self.mean(one).min()))
        least = self.losses[best][self.mean(best).argmin()]
        near = []
        for candidate, losses in self.losses.items():
            excess = losses[self.mean(candidate).argmin()] - least
            mean = np.average(excess, weights=self.weights)
            error = np.linalg.norm(self.weights * (excess - mean)) / self.weights.sum()
            if mean <= n_errors * error + 1e-12:
                near.append(candidate)
        return near


def choose(
    X: Array,
    rows_of: Callable[[Indices], Rows],
    splits: Sequence[RowSplit],
    candidates: Sequence[Candidate],
    n_steps: int,
    gradient_rows: Callable[[int], Indices],
    n_errors: float = 1.0,
) -> Choice:
    """Return the simplest candidate within so many standard errors of the best, by squared errors over the folds.

    ``rows_of`` gives the targets, weights and groups of some rows of X. A candidate that is far behind after a fold is
    not tried in further ones.
    """
    race, alive = _Race(candidates), list(candidates)
    starts = dict.fromkeys(candidates, START)
    for train, test in splits:
        known, unseen = rows_of(train), rows_of(test)
        places = {one.columns: Coordinates.of(X[train], known.weights, one.columns) for one in alive}
        losses = {}
        for candidate in alive:
            place = places[candidate.columns]
            rows, new = known._replace(X=place.inside(X[train])), place.inside(X[test])
            of_steps, starts[candidate] = held_out_losses(
                rows, new, unseen, candidate.shape, n_steps, gradient_rows(len(train)), starts[candidate]
            )
            losses[candidate] = np.array(of_steps + of_steps[-1:] * (n_steps + 1 - len(of_steps)))
        race.add(losses, unseen.weights)
        alive = race.within(BEHIND)
    candidate = race.within(n_errors)[0]
    means = {one: float(race.mean(one).min()) for one in race.losses}
    return Choice(candidate, int(race.mean(candidate).argmin()), means)


def held_out_losses(
    rows: Rows, new: Array, unseen: Rows, shape: Shape, n_steps: int, gradient_rows: Indices, start: Place = START
) -> tuple[list[Array], Place]:
    """Return the squared errors of unseen rows, in coordinates ``new``, after each step, until they do not fall.

    Also the place of ridge and width at the first step, from which the search in other rows can start. The errors of
    rows left out would go on falling: the distance has seen these rows.
    """
    found: list[Array] = []
    means: list[float] = []
    first = start
    for fit in steps(rows, shape, n_steps, gradient_rows, start):
        first = fit.at if not found else first
        found.append(np.square(fit.predict(new, rows.X) - unseen.Y).sum(axis=1))
        means.append(float(np.average(found[-1], weights=unseen.weights)))
        if len(means) - 1 - int(np.argmin(means)) == PATIENCE:
            break
    return found, first
