"""The time and memory that a study needs, estimated from the shape of its table; constants are from timed studies."""

from __future__ import annotations

from dataclasses import dataclass

from whynear.study.settings import COMPARED_ROWS

START_SECONDS = 10.0
# Of the compared rows: for each entry, more for each class, and for each entry where the target is numeric.
ENTRY_SECONDS, ENTRY_AND_CLASS_SECONDS, NUMERIC_ENTRY_SECONDS = 1e-3, 7e-5, 5e-4
ONE_LEARNER_SHARE = 0.2  # of the time that several learners take
FITTED_ENTRY_SECONDS = 5e-6  # of all rows
PROGRAM_BYTES = 0.35e9  # Python and the libraries
TABLE_COPIES = 25  # in float64, including what the learners keep


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes, correct within a factor of three."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes = max(1, round(self.seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''} and {self.n_bytes / 1e9:.1f} GB of memory"


def estimate(n_rows: int, n_columns: int, n_classes: int, compares: bool = True) -> Estimate:
    """Estimate what a study of a table of this shape needs on two cores; ``n_classes=0`` is a numeric target.

    ``compares`` says whether several learners are compared, which takes longer.

    >>> print(estimate(100_000, 40, 2))
    about 4 minutes and 1.1 GB of memory
    """
    compared, entries = min(n_rows, COMPARED_ROWS) * n_columns, n_rows * n_columns
    per_entry = ENTRY_SECONDS + ENTRY_AND_CLASS_SECONDS * n_classes if n_classes else NUMERIC_ENTRY_SECONDS
    per_entry *= 1.0 if compares else ONE_LEARNER_SHARE
    seconds = START_SECONDS + per_entry * compared + FITTED_ENTRY_SECONDS * entries
    return Estimate(seconds, PROGRAM_BYTES + TABLE_COPIES * 8.0 * entries)
