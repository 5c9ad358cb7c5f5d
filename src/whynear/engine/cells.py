"""Pieces of work whose results are saved to files, so that an interrupted run can be resumed."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from whynear.engine.code_state import code_digest
from whynear.engine.pieces import Done, Piece
from whynear.utils.files import make_folder, write_data
from whynear.utils.plain import plain_values

Result = dict[str, Any]
ResultOf = Callable[["Cell"], Result]


@dataclass(frozen=True)
class Cell(Piece):
    """A piece whose arguments and result are plain values; cells with a large weight start first."""

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

    def compute(self, shared: Mapping[str, Any]) -> Result:
        """Return the result as plain values."""
        return plain_values(super().compute(shared))


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
        make_folder(path.parent)
        content = {"arguments": dict(cell.arguments), "seconds": done.seconds, "result": done.result}
        write_data(path, json.dumps(content, allow_nan=False))
        self._read[cell.name] = done

    def result(self, cell: Cell) -> Result:
        """The result of a finished cell."""
        done = self.find(cell)
        if done is None:
            raise KeyError(f"The cell {cell.name} is not finished.")
        return done.result


def _nested(value: object) -> bool:
    return isinstance(value, dict | list | tuple)
