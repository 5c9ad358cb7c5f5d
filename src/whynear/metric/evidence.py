"""The cases behind predictions, which every learner returns for explanations."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array, ByValue, Indices


@dataclass(frozen=True, eq=False)
class Evidence(ByValue):
    """For each of n predicted cases the m prototypes or training cases that vote, nearest first.

    Attributes
    ----------
    cases : ndarray of shape (n_cases, n_features)
        All prototypes or training cases, in the coordinates of the learner.
    labels : ndarray of shape (n_cases,)
        Their classes.
    indices : ndarray of shape (n, m)
        Which of them vote.
    sq_distances : ndarray of shape (n, m)
        Their squared distances under the learner's metric.
    votes : ndarray of shape (n, m)
        What each adds to the support of its class; never negative.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    row_names : ndarray of shape (n_cases,) or None
        The names of the training rows; None where they are not known, and for prototypes.
    prototypes : bool
        Whether prototypes vote, which are no rows of a table.
    """

    cases: Array
    labels: NDArray[Any]
    indices: Indices
    sq_distances: Array
    votes: Array
    classes: NDArray[Any]
    row_names: NDArray[Any] | None = None
    prototypes: bool = False

    @property
    def kind(self) -> Literal["row", "case", "prototype"]:
        """What votes: rows that have names, training cases without a name, or prototypes."""
        if self.prototypes:
            return "prototype"
        return "case" if self.row_names is None else "row"

    def names(self, numbers: Indices) -> NDArray[Any]:
        """Return the names of those with these places; without names they are numbered from 1."""
        return numbers + 1 if self.row_names is None else self.row_names[numbers]

    def support(self) -> Array:
        """Return the votes summed by class, of shape (n, n_classes); a prediction is the class of largest support."""
        if self.indices.size < len(self.labels):  # look up the classes of the fewer: of the votes, or of all cases
            codes = np.searchsorted(self.classes, self.labels[self.indices])
        else:
            codes = np.searchsorted(self.classes, self.labels)[self.indices]
        return votes_by_class(codes, self.votes, len(self.classes))


def votes_by_class(codes: Indices, votes: Array, n_classes: int) -> Array:
    """Return the votes of each row summed by class, of shape (n, n_classes); ``codes`` has the class of each vote."""
    totals = np.zeros((len(codes), n_classes))
    np.add.at(totals, (np.arange(len(codes))[:, None], codes), votes)
    return totals
