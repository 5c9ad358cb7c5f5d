"""How long a study takes and how much memory, before it begins."""

from __future__ import annotations

from dataclasses import dataclass

BASE_BYTES = 500_000_000  # Python and the libraries
COPIES = 6  # of the table, in float64


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes, good to a factor of two or so."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes = max(1, round(self.seconds / 60))
        return f"about {minutes} minute{'s' if minutes > 1 else ''} and {self.n_bytes / 1e9:.1f} GB of memory"


def estimate(n_rows: int, n_columns: int, n_classes: int) -> Estimate:
    """What a study of a table of this shape needs; no classes where the target is measured."""
    return Estimate(1.0 * n_classes, BASE_BYTES + COPIES * 8.0 * n_rows * n_columns)
