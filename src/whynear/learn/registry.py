"""All learners in two lists, of classes and of numbers: the name and the module of each, and whether a study takes it.

A new learner is its own file, where its class declares its `Traits`, and here a line of a list and one for type
checkers. A class is imported when it is first used, so the command line lists the names quickly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from whynear.learn.kernel.estimators import RFM as RFM
    from whynear.learn.kernel.estimators import RFMRegressor as RFMRegressor
    from whynear.learn.lann.estimator import LANN as LANN
    from whynear.learn.lmnn.estimator import LMNN as LMNN
    from whynear.learn.lvq.estimators import GMLVQ as GMLVQ
    from whynear.learn.lvq.estimators import GRLVQ as GRLVQ
    from whynear.learn.lvq.estimators import LGMLVQ as LGMLVQ
    from whynear.learn.lvq.estimators import LGRLVQ as LGRLVQ
    from whynear.learn.slider.estimator import Slider as Slider
    from whynear.learn.slider.rivals import DIET as DIET
    from whynear.learn.slider.rivals import BackwardElimination as BackwardElimination
    from whynear.learn.slider.rivals import ForwardSelection as ForwardSelection
    from whynear.learn.slider.rivals import LPWeights as LPWeights


class Learner(NamedTuple):
    """One line of the list: a study compares those with ``compared`` by default, and fits ``studied`` ones if named."""

    kind: str  # the name of the class
    module: str  # below whynear.learn
    studied: bool = False
    compared: bool = False
    called: str = ""  # where commands do not use the name of the class

    @property
    def name(self) -> str:
        """The name that commands and studies use."""
        return self.called or self.kind.lower()


# The simplest first: of equally accurate ones a study keeps the first. Those of classes:
ALL_LEARNERS = (
    Learner("GRLVQ", "lvq.estimators", studied=True, compared=True),
    Learner("GMLVQ", "lvq.estimators", studied=True, compared=True),
    Learner("LMNN", "lmnn.estimator", studied=True, compared=True),
    Learner("RFM", "kernel.estimators", studied=True, compared=True),
    Learner("LGRLVQ", "lvq.estimators", studied=True),
    Learner("LGMLVQ", "lvq.estimators", studied=True, compared=True),
    Learner("LANN", "lann.estimator", studied=True, compared=True),
    Learner("Slider", "slider.estimator"),
    Learner("DIET", "slider.rivals"),
    Learner("ForwardSelection", "slider.rivals"),
    Learner("BackwardElimination", "slider.rivals"),
    Learner("LPWeights", "slider.rivals"),
)

# Those of numbers, the simplest first again. A name may stand for a learner of either kind of target.
MINIMUM_NORM, KERNEL = "minimum norm", "rfm"
LEARNERS_OF_NUMBERS = (
    Learner("MinimumNormRegressor", "minimum_norm", studied=True, compared=True, called=MINIMUM_NORM),
    Learner("RFMRegressor", "kernel.estimators", studied=True, compared=True, called=KERNEL),
)

STUDIED = tuple(learner.name for learner in ALL_LEARNERS if learner.studied)
COMPARED = tuple(learner.name for learner in ALL_LEARNERS if learner.compared)
OF_NUMBERS = tuple(learner.name for learner in LEARNERS_OF_NUMBERS)


class FitCost(NamedTuple):
    """Seconds of one fit, by timed fits: the least, and those for each unit of the size of a table.

    An entry is a value of the table. Map products are entries times classes (of at most 8) times the smaller of rows
    and columns. ``spectral`` multiplies the seconds for spectra: neighbouring channels are alike, which makes descents
    longer.
    """

    least: float
    row: float = 0.0  # of at most 3,000
    column: float = 0.0
    entry: float = 0.0
    entry_class: float = 0.0
    entry_class_pair: float = 0.0
    map_product: float = 0.0
    spectral: float = 1.0

    def seconds(self, n_rows: int, n_columns: int, n_classes: int, spectra: bool = False) -> float:
        """Return the seconds that one fit takes."""
        entries, of_map = n_rows * n_columns, min(n_rows, n_columns)
        sizes = (
            *(1, min(n_rows, 3_000), n_columns, entries),
            *(entries * n_classes, entries * n_classes**2, entries * min(n_classes, 8) * of_map),
        )
        total = sum(cost * size for cost, size in zip(self[:-1], sizes, strict=True))
        return (self.spectral if spectra else 1.0) * total


class Traits(NamedTuple):
    """What a learner declares of itself in its class, for studies, estimates and tables in partitions.

    The model that a study keeps is fitted to at most ``most_rows`` rows, which takes minutes. Partitions of a table are
    learned by ``"sums"`` of the loss over their rows, by the impostors among ``"pairs"`` of all rows, by ``"regions"``
    of the space, by sums of ``"squares"`` of the rows, by ``"leaves"`` of all rows, or not at all. A fit that repeats
    what an earlier one has chosen takes the share ``settled`` of the time.
    """

    cost: FitCost = FitCost(0.01, column=3e-5, entry=1e-6)
    most_rows: int = 100_000
    partitions: Literal["sums", "pairs", "regions", "squares", "leaves"] | None = None
    settled: float = 1.0


def homes() -> dict[str, tuple[str, ...]]:
    """Return the names of the classes by their modules."""
    every = (*ALL_LEARNERS, *LEARNERS_OF_NUMBERS)
    return {
        f"whynear.learn.{module}": tuple(learner.kind for learner in every if learner.module == module)
        for module in dict.fromkeys(learner.module for learner in every)
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
REGRESSORS = LearnerClasses(LEARNERS_OF_NUMBERS)
