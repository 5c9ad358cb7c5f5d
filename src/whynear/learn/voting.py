"""Prediction by the votes of training cases, with a neighbour search that is kept between predictions."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from numpy.typing import ArrayLike, NDArray

from whynear.learn.mixins import Predictions, WithEvidence
from whynear.metric import Evidence
from whynear.search.voting import Votes
from whynear.utils.arrays import Array, Indices

Search = TypeVar("Search")


class VotingCases(WithEvidence):
    """Adds `predict` and `predict_proba` to a learner with `evidence`, and keeps its neighbour search."""

    classes_: NDArray[Any]
    codes_: Indices

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The class of largest support; of equal ones the first."""
        support = self.evidence(X).support()
        return self.classes_[support.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Probabilities of the classes, from the votes of the nearest training cases."""
        evidence = self.evidence(X)
        return self._probabilities(evidence, evidence.support())

    def predictions_from(self, evidence: Evidence) -> Predictions:
        """Return what `predict` and `predict_proba` return for the cases of this `evidence`, without a search."""
        support = evidence.support()
        return Predictions(self.classes_[support.argmax(axis=1)], self._probabilities(evidence, support))

    def _evidence(self, cases: Array, votes: Votes) -> Evidence:
        """Return votes of training cases, with the names of their rows; a learner of an older file has none."""
        labels, names = self.classes_[self.codes_], getattr(self, "row_names_", None)
        return Evidence(cases, labels, votes.indices, votes.sq, votes.weights, self.classes_, names)

    def _probabilities(self, _evidence: Evidence, support: Array) -> Array:
        """The share of each class in the votes."""
        return support / support.sum(axis=1, keepdims=True)

    def _kept_search(self, make: Callable[..., Search], *values: Any, **settings: Any) -> Search:
        """Return ``make(*values, **settings)``, made again only if a value is another object or a setting differs."""
        with _LOCK:
            kept = _KEPT.setdefault(self, _Kept())
        return kept.get(make, values, settings)


class _Kept:
    """The search of one learner, and the values it was made from. Threads that need it at once wait for the first."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.search: Any = None
        self.values: tuple[Any, ...] = ()
        self.settings: dict[str, Any] = {}

    def get(self, make: Callable[..., Search], values: tuple[Any, ...], settings: dict[str, Any]) -> Search:
        made_of = (make, *values)
        with self.lock:
            if not (_same_objects(made_of, self.values) and settings == self.settings):
                self.search, self.values = None, ()  # frees the old one before the new one is made
                self.search = make(*values, **settings)
                self.values, self.settings = made_of, settings
            return self.search


def _same_objects(some: tuple[Any, ...], others: tuple[Any, ...]) -> bool:
    return len(some) == len(others) and all(one is other for one, other in zip(some, others, strict=True))


# Kept outside the learners: a copy, a clone, a pickle or a file of a learner has no search, and predicting changes no
# attribute of the learner. A search is deleted with its learner.
_KEPT: WeakKeyDictionary[Any, _Kept] = WeakKeyDictionary()
_LOCK = Lock()
