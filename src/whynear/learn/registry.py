"""All learners in one list: the name of each, its module, and how a study uses it.

A new learner is one line here. A class is imported when it is first used, so the command line lists the names quickly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, NamedTuple


class Learner(NamedTuple):
    """One line of the list.

    A study compares the learners with ``compared`` by default, and fits the others with ``studied`` only if they are
    named. The model that it keeps is fitted to at most ``learned_rows`` rows, which takes minutes.
    """

    kind: str  # the name of the class
    module: str  # below whynear.learn
    studied: bool = False
    compared: bool = False
    learned_rows: int = 100_000

    @property
    def name(self) -> str:
        """The name that commands and studies use."""
        return self.kind.lower()


# The simplest first: of equally accurate ones a study keeps the first.
ALL_LEARNERS = (
    Learner("GRLVQ", "lvq.grlvq", studied=True, compared=True),
    Learner("GMLVQ", "lvq.gmlvq", studied=True, compared=True),
    Learner("LMNN", "lmnn.estimator", studied=True, compared=True, learned_rows=20_000),
    Learner("LGRLVQ", "lvq.grlvq", studied=True),
    Learner("LGMLVQ", "lvq.gmlvq", studied=True, compared=True),
    Learner("LANN", "lann.estimator", studied=True, compared=True),
    Learner("Slider", "slider.estimator"),
    Learner("DIET", "slider.rivals"),
    Learner("ForwardSelection", "slider.rivals"),
    Learner("BackwardElimination", "slider.rivals"),
    Learner("LPWeights", "slider.rivals"),
)

STUDIED = tuple(learner.name for learner in ALL_LEARNERS if learner.studied)
COMPARED = tuple(learner.name for learner in ALL_LEARNERS if learner.compared)
LEARNED_ROWS = {learner.name: learner.learned_rows for learner in ALL_LEARNERS if learner.studied}


def homes() -> dict[str, tuple[str, ...]]:
    """Return the names of the classes by their modules."""
    modules = dict.fromkeys(learner.module for learner in ALL_LEARNERS)
    return {
        f"whynear.learn.{module}": tuple(learner.kind for learner in ALL_LEARNERS if learner.module == module)
        for module in modules
    }


class LearnerClasses(Mapping[str, type[Any]]):
    """The classes by name, each imported when it is first used."""

    def __init__(self, learners: tuple[Learner, ...]) -> None:
        self._learners = {learner.name: learner for learner in learners}

    def __getitem__(self, name: str) -> type[Any]:
        learner = self._learners[name]
        return getattr(import_module(f"whynear.learn.{learner.module}"), learner.kind)

    def __contains__(self, name: object) -> bool:
        return name in self._learners

    def __iter__(self) -> Iterator[str]:
        return iter(self._learners)

    def __len__(self) -> int:
        return len(self._learners)


LEARNERS = LearnerClasses(ALL_LEARNERS)
