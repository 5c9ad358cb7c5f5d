"""The memory that a study or a prediction may take, and how many rows of a table have room in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from whynear.study.estimate import TABLE_COPIES
from whynear.utils.sizes import bytes_of, in_words, machine_bytes

MEMORY_SHARE = 0.5  # of the machine, if no other limit is given
STUDY_BYTES = 0.75e9  # of a study of a small table
PREDICTION_BYTES = 0.45e9  # of predictions for a small table
PREDICTED_ROW_BYTES = 4_000  # of a row, beside its values: its name, and texts on unusual values


@dataclass(frozen=True)
class MemoryLimit:
    """The memory that a study or a prediction may take.

    ``text`` is the limit as it was given, None if it is a share of the machine's memory; ``taken`` are the bytes
    without any rows, and ``row_bytes`` those of a row beside its values.
    """

    n_bytes: int
    text: str | None
    taken: float = STUDY_BYTES
    row_bytes: int = 0

    @classmethod
    def of(cls, given: str | int | None) -> MemoryLimit:
        """Return the limit that was given, or a share of what the machine has."""
        if given is None:
            return cls(int(MEMORY_SHARE * machine_bytes()), None)
        return cls(bytes_of(given), str(given))

    @classmethod
    def of_prediction(cls, given: str | int | None) -> MemoryLimit:
        """Return the same for predictions."""
        limit = cls.of(given)
        return cls(limit.n_bytes, limit.text, PREDICTION_BYTES, PREDICTED_ROW_BYTES)

    @property
    def room(self) -> float:
        """What is left for the rows of a table."""
        return self.n_bytes - self.taken

    def rows(self, n_columns: int) -> int:
        """Return how many rows of a table have room."""
        return max(0, int(self.room / self._bytes_of_rows(1, n_columns)))

    def check_room(self, n_rows: int, n_columns: int, what: str) -> None:
        """Refuse a limit that has no room for this number of rows."""
        if self.rows(n_columns) >= n_rows:
            return
        needed = self.taken + self._bytes_of_rows(n_rows, n_columns)
        given = f"memory={self.text} is allowed" if self.text else f"{in_words(self.n_bytes)} are allowed"
        raise ValueError(
            f"{what} takes at least {in_words(needed)} of memory, and {given}. Allow more "
            f"(--memory {int(needed / 1e8 + 1) / 10:.1f}GB), or leave out columns."
        )

    def check_text_file(self, path: Path) -> None:
        """Refuse a text file that does not fit under a limit that was given; its text is held beside its table."""
        needed = self.taken + 2 * path.stat().st_size
        if self.text is not None and needed > self.n_bytes:
            raise ValueError(
                f"{path} takes more than {in_words(needed)} of memory, and memory={self.text} is allowed. Save it as "
                "Parquet, or divide it into several files of one folder, which are read part by part."
            )

    def _bytes_of_rows(self, n_rows: int, n_columns: int) -> float:
        return (8.0 * TABLE_COPIES * n_columns + self.row_bytes) * n_rows
