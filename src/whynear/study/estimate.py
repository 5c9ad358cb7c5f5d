"""How long a study takes and how much memory, before it begins: rules of thumb, fitted to studies that were timed."""

from __future__ import annotations

from dataclasses import dataclass

from whynear.study.settings import COMPARED_ROWS

STARTING = 10.0  # seconds
AN_ENTRY, AN_ENTRY_AND_CLASS, AN_ENTRY_MEASURED = 1e-3, 7e-5, 5e-4  # seconds, of the rows that are compared
ONE_LEARNER = 0.2  # of the time that a choice among several takes
AN_ENTRY_LEARNED = 5e-6  # seconds, of all rows
PROGRAM = 0.35e9  # bytes of Python and the libraries
COPIES = 25  # of the table, in float64, with what learners keep of it


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes, good to a factor of three."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes = max(1, round(self.seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''} and {self.n_bytes / 1e9:.1f} GB of memory"


def estimate(n_rows: int, n_columns: int, n_classes: int, compares: bool = True) -> Estimate:
    """What a study of a table of this shape needs on two cores; no classes where the target is measured.

    Without a choice among learners it takes a part of that.

    >>> print(estimate(100_000, 40, 2))
    about 4 minutes and 1.1 GB of memory
    """
    compared, entries = min(n_rows, COMPARED_ROWS) * n_columns, n_rows * n_columns
    each = AN_ENTRY + AN_ENTRY_AND_CLASS * n_classes if n_classes else AN_ENTRY_MEASURED
    each *= 1.0 if compares else ONE_LEARNER
    return Estimate(STARTING + each * compared + AN_ENTRY_LEARNED * entries, PROGRAM + COPIES * 8.0 * entries)
