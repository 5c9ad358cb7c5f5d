"""The time and memory that a study needs, estimated from the shape of its table; constants are from timed fits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whynear.learn.registry import COMPARED, LEARNERS, OF_NUMBERS, Traits
from whynear.study.settings import COMPARED_ROWS
from whynear.verdict.outside import n_rounds, trees_for

START_SECONDS = 12.0  # to import, to draw and to write
NCA, NCA_PAIR_SECONDS, NCA_ROWS = "NCA with kNN", 8e-7, 2_000  # it compares all rows with all rows
FOREST, BOOSTING, LOGISTIC = "random forest", "boosting", "logistic regression"
TREE_SECONDS, TREE_CELL_SECONDS = 1e-3, 3e-8  # of a forest; a cell is one of the columns tried, at each level
ROUND_SECONDS, ROUND_CELL_SECONDS, ROUND_LEAF_SECONDS = 3e-4, 1.5e-8, 6e-7  # of a tree of boosting
LEAVES, ROWS_OF_A_LEAF = 31, 20  # at most, and at least
INNER_FOLDS, INNER_ROWS = 3, 1_000  # by which a learner is chosen within a fold
JUDGED_ENTRY_SECONDS, JUDGED_ROWS, JUDGED_COLUMNS = 1e-3, 800, 70  # of verdicts and sets
REFITS = 40  # of the learner, by verdicts
FITS_AT_ONCE = 1.6  # on two cores
FITTED_ENTRY_SECONDS = 7e-6  # of all rows
MAP_SECONDS, MAPPED_ROWS = 20.0, 1_000  # a map by UMAP, for the local metrics that often win on more rows
PROGRAM_BYTES = 0.35e9  # Python and the libraries
TABLE_COPIES = 25  # in float64, including what the learners keep


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes; the seconds are right within a factor of two on the machine where fits were timed."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes, tens = max(1, round(self.seconds / 60)), max(10, round(self.seconds, -1))
        time = f"{tens:.0f} seconds" if tens <= 50 else f"{minutes} minute{'s' if minutes > 1 else ''}"
        return f"about {time} and {self.n_bytes / 1e9:.1f} GB of memory"


def fit_seconds(
    method: str, n_rows: int, n_columns: int, n_classes: int, spectra: bool = False, *, settled: bool = False
) -> float:
    """Estimate how long one fit takes; a ``settled`` one repeats what an earlier fit has chosen."""
    if method == NCA:
        return fit_seconds("", n_rows, n_columns, n_classes) + NCA_PAIR_SECONDS * min(n_rows, NCA_ROWS) ** 2
    if method == FOREST:
        tried = n_rows * (n_columns**0.5 if n_classes else n_columns) * math.log2(n_rows + 1)
        return trees_for(n_rows, n_columns, not n_classes) * (TREE_SECONDS + TREE_CELL_SECONDS * tried)
    if method == BOOSTING:
        leaves = n_columns * min(LEAVES, n_rows / ROWS_OF_A_LEAF)
        tree = ROUND_SECONDS + ROUND_CELL_SECONDS * n_rows * n_columns + ROUND_LEAF_SECONDS * leaves
        return tree * n_rounds(n_columns, n_classes) * (n_classes if n_classes > 2 else 1)
    traits = LEARNERS[method].traits if method in LEARNERS else Traits()
    seconds: float = traits.cost.seconds(n_rows, n_columns, n_classes, spectra)
    return seconds * (traits.settled if settled else 1.0)


def planned_fits(
    learners: Sequence[str],
    others: Sequence[str],
    n_folds: int,
    n_rows: int,
    n_columns: int,
    n_classes: int,
    spectra: bool = False,
) -> list[tuple[str, float]]:
    """Return the fits of a comparison, each with its method and its seconds.

    All methods are fitted on every fold. Several learners are also compared within every fold, to choose one of them.
    """
    shape = n_columns, n_classes, spectra
    train = n_rows * (n_folds - 1) // n_folds
    inner = min(train, INNER_ROWS) * (INNER_FOLDS - 1) // INNER_FOLDS
    of_fold = [(name, fit_seconds(name, train, *shape)) for name in (*learners, *others)]
    if len(learners) > 1:
        seconds = [(name, fit_seconds(name, inner, *shape, settled=True)) for name in learners]
        of_fold += [one for one in seconds for _ in range(INNER_FOLDS)]
    return of_fold * n_folds


def estimate(
    n_rows: int,
    n_columns: int,
    n_classes: int,
    learners: Sequence[str] = COMPARED,
    n_folds: int = 5,
    *,
    spectra: bool = False,
) -> Estimate:
    """Estimate what a study of a table of this shape needs on two cores; ``n_classes=0`` is a numeric target.

    >>> print(estimate(100_000, 40, 2))
    about 2 minutes and 1.1 GB of memory
    """
    compared, judged = min(n_rows, COMPARED_ROWS), min(n_rows, JUDGED_ROWS)
    names = learners if n_classes else OF_NUMBERS
    others = (NCA, FOREST, BOOSTING, LOGISTIC) if n_classes else (*("",) * 4, FOREST, BOOSTING)
    fits = planned_fits(names, others, n_folds, compared, n_columns, n_classes, spectra)
    refits = [fit_seconds(name, judged, n_columns, n_classes, spectra, settled=True) for name in names]
    seconds = (
        START_SECONDS
        + sum(seconds for _, seconds in fits) / FITS_AT_ONCE
        + JUDGED_ENTRY_SECONDS * judged * min(n_columns, JUDGED_COLUMNS)
        + REFITS * sum(refits) / len(refits)  # one of them is chosen
        + FITTED_ENTRY_SECONDS * n_rows * n_columns
        + (MAP_SECONDS if n_classes and n_rows >= MAPPED_ROWS else 0.0)
    )
    return Estimate(seconds, PROGRAM_BYTES + TABLE_COPIES * 8.0 * n_rows * n_columns)
