"""The state of a run over a stream in its folder: what was counted, the model, and the predictions so far."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import IO, Any

from whynear.metric import load
from whynear.stream.estimator import SelfAdjustingMemory
from whynear.tables.written_numbers import DECIMALS, Decimal
from whynear.utils.files import sync_folder

UNFINISHED = "unfinished.whynear"  # the model and the counts after the latest part
PREDICTIONS, PART_OF_PREDICTIONS = "predictions.csv", "predictions.csv.part"
RECORD = "stream.json"
FILES = (RECORD, PREDICTIONS, "history.csv", "history.svg", "report.html", "model.whynear")


MOST_ROWS = 2**53
FOUND = ("decimal", "time_form")  # in the rows, or given
COUNTED_ROWS = ("n_predicted", "n_right", "n_same", "n_late", "n_repeated", "n_unnamed", "n_without_target")


@dataclass
class Counts:
    """What a run has counted so far, and of which columns; all of it is in the file for an unfinished run."""

    source: str
    target: str
    index: str | None = None
    time: str | None = None
    drop: list[str] = field(default_factory=list)
    decimal: Decimal | None = None  # the sign before the decimals, once it is known
    time_form: str | None = None  # of the times, once it is known
    digest: str = ""  # of the rows read
    n_rows: int = 0  # read
    n_predicted: int = 0
    n_right: int = 0
    n_same: int = 0  # of the class of the row before
    n_late: int = 0
    n_repeated: int = 0
    n_unnamed: int = 0
    n_without_target: int = 0
    n_bytes: int = 0  # of the predictions written
    latest: float | None = None  # the latest time so far
    last_label: str | None = None
    names: list[str] = field(default_factory=list)  # of the latest rows

    @property
    def columns(self) -> list[str]:
        """The columns that are no features."""
        return [self.target, *(name for name in (self.index, self.time) if name is not None), *self.drop]

    def is_of(self, other: Counts) -> bool:
        """Return whether both count the same columns of the same table, and neither contradicts what is known of it."""
        names = ("source", "target", "index", "time", "drop")
        pairs = [(getattr(self, name), getattr(other, name)) for name in FOUND]
        return all(getattr(self, name) == getattr(other, name) for name in names) and all(
            None in pair or pair[0] == pair[1] for pair in pairs
        )


def continued(folder: Path, model: SelfAdjustingMemory, counts: Counts) -> tuple[SelfAdjustingMemory, Counts]:
    """Return model and counts of the unfinished run in a folder, or those given if there is none.

    A finished run, and an unfinished one of another table or with other settings, are refused.
    """
    if (folder / UNFINISHED).exists():
        kept, before = _state_in(folder / UNFINISHED)
        if before.is_of(counts) and repr(kept) == repr(model):
            return kept, replace(before, **{name: getattr(before, name) or getattr(counts, name) for name in FOUND})
        raise FileExistsError(
            f"{folder} holds an unfinished run of {before.source} with the target {before.target!r}, or with other "
            "columns or settings. Choose another folder with --out, or --overwrite it."
        )
    if (folder / RECORD).exists():
        raise FileExistsError(f"{folder} holds a finished run. Choose another folder with --out, or --overwrite it.")
    return model, counts


def _state_in(path: Path) -> tuple[SelfAdjustingMemory, Counts]:
    """Return the model and the counts of an unfinished run; a file of another kind or content is refused."""
    kept = load(path)
    counts = getattr(kept, "counts_", None)
    if not isinstance(kept, SelfAdjustingMemory) or not isinstance(counts, dict) or not _are_counts(counts):
        raise ValueError(f"{path} is not the state of an unfinished run. Begin anew with --overwrite.")
    return kept, Counts(**counts)


def _are_counts(counts: dict[Any, Any]) -> bool:
    """Return whether all counts are there, each of its kind."""
    wanted = asdict(Counts("", ""))
    if counts.keys() != wanted.keys():
        return False
    optional = {name: counts[name] for name, value in wanted.items() if value is None}
    plain = {name: value for name, value in counts.items() if name not in optional}
    return (
        all(type(value) is type(wanted[name]) for name, value in plain.items())
        and all(value >= 0 for value in plain.values() if isinstance(value, int))
        and counts["n_rows"] <= MOST_ROWS
        and all(counts[name] <= counts["n_rows"] for name in COUNTED_ROWS)
        and all(isinstance(name, str) for name in (*counts["names"], *counts["drop"]))
        and isinstance(optional.pop("latest"), float | None)
        and optional["decimal"] in (None, *DECIMALS)
        and all(isinstance(value, str | None) for value in optional.values())
    )


def opened_predictions(folder: Path, n_bytes: int) -> IO[bytes]:
    """Open the file of predictions at the end of those that are counted; later ones are removed."""
    path = folder / PART_OF_PREDICTIONS
    finished = folder / PREDICTIONS
    if n_bytes and not path.exists() and finished.exists():  # killed while it finished
        os.replace(finished, path)
    if n_bytes and (not path.exists() or path.stat().st_size < n_bytes):
        raise ValueError(f"{path} lacks predictions of the unfinished run. Begin anew with --overwrite.")
    file = path.open("r+b" if n_bytes else "wb")
    sync_folder(folder)  # after a power cut there must be no state that counts predictions without their file
    file.truncate(n_bytes)
    file.seek(n_bytes)
    return file


def remove_run(folder: Path) -> None:
    """Remove all files of a run; those that mark it as a run are removed from the disk first."""
    for name in (UNFINISHED, RECORD):
        (folder / name).unlink(missing_ok=True)
    sync_folder(folder)
    for name in {PART_OF_PREDICTIONS, *FILES} - {RECORD}:
        (folder / name).unlink(missing_ok=True)
