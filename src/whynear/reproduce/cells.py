"""Pieces of work that are done once and kept on the disk, so that a run that was stopped goes on."""

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
Found = Callable[["Cell"], Result]


@dataclass(frozen=True)
class Cell:
    """A function and what it is given: both names and numbers only, so that any process can do it.

    `weight` says roughly how many seconds it takes; large ones begin first.
    """

    work: Callable[..., Result]
    given: Mapping[str, Any]
    weight: float = field(default=1.0, compare=False)

    @cached_property
    def name(self) -> str:
        """Folder and file it is kept in: readable, and another one whenever the work or the code is another."""
        told = json.dumps([code_digest(self.work.__module__), self.given], sort_keys=True)
        digest = hashlib.sha256(told.encode()).hexdigest()[:10]
        words = "-".join(re.sub(r"\W+", "_", str(value)) for value in self.given.values() if not _nested(value))
        place = f"{self.work.__module__.rpartition('.')[-1]}.{self.work.__name__}"
        return f"{place}/{words[:60]}-{digest}.json"

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True)
class Done:
    """What came of a cell, and the CPU seconds it took."""

    result: Result
    seconds: float


def work_off(cell: Cell) -> Done:
    """Do the work, on one thread of BLAS, so that sums do not depend on how many cells run beside it.

    What learners warn of, such as small classes and descents that are stopped, is part of what is compared.
    """
    start = time.process_time()
    with one_blas_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cell.work(**cell.given)
    return Done(plain_values(result), time.process_time() - start)


class Kept:
    """The cells that are done, as files in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, Done] = {}

    def find(self, cell: Cell) -> Done | None:
        """What is known of a cell; None for a file that is missing or damaged."""
        if cell.name not in self._read:
            try:
                told = json.loads((self.folder / cell.name).read_text(encoding="utf-8"))
                self._read[cell.name] = Done(told["result"], float(told["seconds"]))
            except (OSError, ValueError, KeyError, TypeError):
                return None
        return self._read[cell.name]

    def keep(self, cell: Cell, done: Done) -> None:
        """Write it down, whole or not at all."""
        path = self.folder / cell.name
        path.parent.mkdir(parents=True, exist_ok=True)
        told = {"given": dict(cell.given), "seconds": done.seconds, "result": done.result}
        data = json.dumps(told, allow_nan=False).encode()
        write_whole(path, methodcaller("write", data), len(data))
        self._read[cell.name] = done

    def result(self, cell: Cell) -> Result:
        """The result of a cell that is done."""
        done = self.find(cell)
        if done is None:
            raise KeyError(f"{cell.name} is not done yet.")
        return done.result


def _nested(value: object) -> bool:
    return isinstance(value, dict | list | tuple)
