"""Computations whose results are saved to files, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import re
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import methodcaller
from pathlib import Path
from typing import Any

from whynear.reproduce.code_state import code_digest
from whynear.utils.files import write_whole
from whynear.utils.plain import plain_values
from whynear.utils.threads import one_blas_thread

Result = dict[str, Any]
ResultOf = Callable[["Cell"], Result]


@dataclass(frozen=True)
class Cell:
    """One computation: a function of a module and its arguments, which can be sent to any process.

    `weight` is roughly its time in seconds; cells with a large weight start first.
    """

    work: Callable[..., Result]
    arguments: Mapping[str, Any]
    weight: float = field(default=1.0, compare=False)

    @cached_property
    def name(self) -> str:
        """The folder and file of its result; a change of the arguments or of the code changes the name."""
        state = json.dumps([code_digest(self.work.__module__), self.arguments], sort_keys=True)
        digest = hashlib.sha256(state.encode()).hexdigest()[:10]
        words = "-".join(re.sub(r"\W+", "_", str(value)) for value in self.arguments.values() if not _nested(value))
        place = f"{self.work.__module__.rpartition('.')[-1]}.{self.work.__name__}"
        return f"{place}/{words[:60]}-{digest}.json"

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Done:
    """The result of a cell, and the CPU seconds it took."""

    result: Result
    seconds: float


def run_cell(cell: Cell) -> Done:
    """Compute a cell on one BLAS thread, so that sums do not depend on the number of cells that run at once.

    Warnings of the learners, such as that a descent did not converge, are not shown.
    """
    start = time.process_time()
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cell.work(**cell.arguments)
    return Done(plain_values(result), time.process_time() - start)


class CellStore:
    """A folder with one JSON file for each finished cell."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, Done] = {}

    def find(self, cell: Cell) -> Done | None:
        """The saved result of a cell; None if its file is missing or damaged."""
        if cell.name not in self._read:
            try:
                saved = json.loads((self.folder / cell.name).read_text(encoding="utf-8"))
                self._read[cell.name] = Done(saved["result"], float(saved["seconds"]))
            except (OSError, ValueError, KeyError, TypeError):
                return None
        return self._read[cell.name]

    def save(self, cell: Cell, done: Done) -> None:
        """Write the result of a cell to its file, completely or not at all."""
        path = self.folder / cell.name
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"arguments": dict(cell.arguments), "seconds": done.seconds, "result": done.result}
        data = json.dumps(content, allow_nan=False).encode()
        write_whole(path, methodcaller("write", data), len(data))
        self._read[cell.name] = done

    def result(self, cell: Cell) -> Result:
        """The result of a finished cell."""
        done = self.find(cell)
        if done is None:
            raise KeyError(f"The cell {cell.name} is not finished.")
        return done.result


def _nested(value: object) -> bool:
    return isinstance(value, dict | list | tuple)
