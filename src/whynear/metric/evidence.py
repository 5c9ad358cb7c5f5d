"""The cases behind predictions: what every learner hands to those who explain it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array, Indices


@dataclass(frozen=True)
class Evidence:
    """For each of n predicted cases the m prototypes or training cases that speak for a class, nearest first.

    Attributes
    ----------
    cases : ndarray of shape (n_cases, n_features)
        All prototypes or training cases, in the coordinates the learner sees.
    labels : ndarray of shape (n_cases,)
        Their classes.
    indices : ndarray of shape (n, m)
        Which of them speak.
    sq_distances : ndarray of shape (n, m)
        Their squared distances under the learner's metric.
    votes : ndarray of shape (n, m)
        What each adds to the support of its class; not negative.
    classes : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    cases: Array
    labels: NDArray[Any]
    indices: Indices
    sq_distances: Array
    votes: Array
    classes: NDArray[Any]

    def support(self) -> Array:
        """The votes summed by class, of shape (n, n_classes); a prediction is the class of largest support."""
        if self.indices.size < len(self.labels):  # a class is looked up once, for a case or for a vote
            codes = np.searchsorted(self.classes, self.labels[self.indices])
        else:
            codes = np.searchsorted(self.classes, self.labels)[self.indices]
        return votes_by_class(codes, self.votes, len(self.classes))


def votes_by_class(codes: Indices, votes: Array, n_classes: int) -> Array:
    """The votes of each row summed by class, of shape (n, n_classes); ``codes`` holds the class of each vote."""
    totals = np.zeros((len(codes), n_classes))
    np.add.at(totals, (np.arange(len(codes))[:, None], codes), votes)
    return totals
