"""The time and memory that a study needs, estimated from the shape of its table; constants are from timed fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from whynear.learn.registry import COMPARED
from whynear.study.progress import Progress
from whynear.study.settings import COMPARED_ROWS
from whynear.study.time_left import FitWatch

START_SECONDS = 12.0  # to import, to draw and to write
# Of one fit, in seconds: at least, for each row (of at most 3,000), column, entry, entry and class, entry and square of
# the classes, and entry times class times the smaller of rows and columns.
FIT_SECONDS = {
    "grlvq": (0.01, 0.0, 1.3e-4, 0.0, 1.6e-7, 0.0, 0.0),
    "gmlvq": (0.01, 0.0, 1.3e-4, 0.0, 1.6e-7, 0.0, 1e-8),
    "lmnn": (0.02, 0.0, 3e-5, 2.4e-6, 0.0, 0.0, 0.0),
    "lgrlvq": (0.02, 0.0, 1.3e-4, 0.0, 0.0, 2e-7, 0.0),
    "lgmlvq": (0.02, 0.0, 1.3e-4, 0.0, 0.0, 2e-7, 1.6e-8),
    "lann": (0.3, 6e-4, 0.0, 0.0, 0.0, 0.0, 0.0),
}
OTHER_FIT_SECONDS = (0.01, 0.0, 3e-5, 1e-6, 0.0, 0.0, 0.0)
MOST_ROWS_FELT = 3_000
NCA, NCA_PAIR_SECONDS, NCA_ROWS = "NCA with kNN", 8e-7, 2_000  # it compares all rows with all rows
INNER_FOLDS, INNER_ROWS = 3, 1_000  # by which a learner is chosen within a fold
JUDGED_ENTRY_SECONDS, JUDGED_ROWS, JUDGED_COLUMNS = 1e-3, 800, 70  # of verdicts and sets
REFITS = 40  # of the learner, by verdicts
FITTED_ENTRY_SECONDS = 5e-6  # of all rows
PROGRAM_BYTES = 0.35e9  # Python and the libraries
TABLE_COPIES = 25  # in float64, including what the learners keep


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes; the seconds are right within a factor of two on the machine where fits were timed."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes = max(1, round(self.seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''} and {self.n_bytes / 1e9:.1f} GB of memory"


def fit_seconds(method: str, n_rows: int, n_columns: int, n_classes: int) -> float:
    """Estimate how long one fit takes."""
    if method == NCA:
        return fit_seconds("", n_rows, n_columns, n_classes) + NCA_PAIR_SECONDS * min(n_rows, NCA_ROWS) ** 2
    entries, of_map = n_rows * n_columns, min(n_rows, n_columns)
    sizes = (
        *(1, min(n_rows, MOST_ROWS_FELT), n_columns, entries),
        *(entries * n_classes, entries * n_classes**2, entries * n_classes * of_map),
    )
    costs = FIT_SECONDS.get(method, OTHER_FIT_SECONDS)
    return sum(cost * size for cost, size in zip(costs, sizes, strict=True))


def planned_fits(
    learners: Sequence[str], others: Sequence[str], n_folds: int, n_rows: int, n_columns: int, n_classes: int
) -> list[tuple[str, float]]:
    """Return the fits of a comparison, each with its method and its seconds.

    All methods are fitted on every fold. Several learners are also compared within every fold, to choose one of them.
    """
    shape = n_columns, n_classes
    train = n_rows * (n_folds - 1) // n_folds
    inner = min(train, INNER_ROWS) * (INNER_FOLDS - 1) // INNER_FOLDS
    of_fold = [(name, fit_seconds(name, train, *shape)) for name in (*learners, *others)]
    if len(learners) > 1:
        of_fold += [(name, fit_seconds(name, inner, *shape)) for name in learners for _ in range(INNER_FOLDS)]
    return of_fold * n_folds


def watch_of_fits(
    report: Progress,
    learners: Sequence[str],
    others: Sequence[str],
    n_folds: int,
    shape: tuple[int, int],
    n_classes: int,
) -> FitWatch:
    """Return what times the fits of a comparison on a table of this shape, and says how long the others will take."""
    planned = planned_fits(learners, others, n_folds, *shape, n_classes)
    return FitWatch(report, planned, lambda method, n_rows: fit_seconds(method, n_rows, shape[1], n_classes))


def estimate(
    n_rows: int, n_columns: int, n_classes: int, learners: Sequence[str] = COMPARED, n_folds: int = 5
) -> Estimate:
    """Estimate what a study of a table of this shape needs on two cores; ``n_classes=0`` is a numeric target.

    >>> print(estimate(100_000, 40, 2))
    about 2 minutes and 1.1 GB of memory
    """
    compared, judged = min(n_rows, COMPARED_ROWS), min(n_rows, JUDGED_ROWS)
    names = learners if n_classes else ()
    fits = planned_fits(names, (NCA,) if n_classes else ("",) * 4, n_folds, compared, n_columns, n_classes)
    refits = sorted(fit_seconds(name, judged, n_columns, n_classes) for name in names) or [0.0]
    seconds = (
        START_SECONDS
        + sum(seconds for _, seconds in fits)
        + JUDGED_ENTRY_SECONDS * judged * min(n_columns, JUDGED_COLUMNS)
        + REFITS * refits[len(refits) // 2]  # one of the simpler learners is mostly chosen
        + FITTED_ENTRY_SECONDS * n_rows * n_columns
    )
    return Estimate(seconds, PROGRAM_BYTES + TABLE_COPIES * 8.0 * n_rows * n_columns)
