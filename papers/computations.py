"""The computations of the experiments: each is saved to a file, so that an interrupted run can be resumed."""

from __future__ import annotations

import ast
import hashlib
import json
import platform
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import metadata
from importlib.abc import InspectLoader
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from whynear.utils.arrays import plain_values
from whynear.utils.files import make_folder, write_data
from whynear.work.pieces import PACKAGES, Done, Failed, Piece
from whynear.work.workers import Engine, start_workers

# They start work and collect results, but no result depends on them.
RUNNER_MODULES = ("whynear.work", "papers.computations", "papers.outcome", "papers.plans")
OURS = ("whynear.", "papers.")
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
        if replace(self).name != self.name:  # on a machine with another copy of the repository
            raise OSError(f"the worker on {platform.node()} has other sources of papers. Install the same ones there.")
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


@dataclass(frozen=True)
class RunState:
    """The numbers of finished and of all cells of a run, and an estimate of the time left."""

    done: int
    total: int
    seconds_left: float | None


Watch = Callable[[Cell, RunState], None]


def run_cells(
    cells: Iterable[Cell],
    store: CellStore,
    *,
    n_jobs: int = -1,
    engine: Engine = "processes",
    address: str | None = None,
    watch: Watch = lambda _cell, _state: None,
) -> None:
    """Run the cells that are not in the store, the longest first; save each result, then call `watch`.

    If a worker process is killed, the cells that were running are run again, one at a time. A cell that raises, or
    whose process is killed again, is skipped: the run continues with the others and ends with `WorkFailed`.
    """
    wanted = list(dict.fromkeys(cells))
    todo = sorted((cell for cell in wanted if store.find(cell) is None), key=lambda cell: -cell.weight)
    for cell in wanted:
        if store.find(cell) is not None:
            watch(cell, RunState(len(wanted) - len(todo), len(wanted), None))
    if not todo:
        return
    clock, failed = _Clock(todo, len(wanted)), {}
    with start_workers(engine, n_jobs, address) as workers:
        for piece, done in workers.run(todo):
            cell = cast(Cell, piece)
            if isinstance(done, Failed):
                failed[cell] = done
            else:
                store.save(cell, done)
                watch(cell, clock.after(cell))
    if failed:
        raise WorkFailed(failed, len(wanted))


class WorkFailed(OSError):
    """Some cells failed."""

    def __init__(self, failed: Mapping[Cell, Failed], total: int) -> None:
        cell, first = next(iter(failed.items()))
        super().__init__(
            f"{len(failed)} of {total} computations failed. The results of the others are saved, and the same command "
            f"repeats the failed ones. The first one, {cell.name}: {first.reason}"
        )
        self.failed = failed
        self.add_note(first.trace)


class _Clock:
    """Estimates the time left from the weights of the finished and the unfinished cells."""

    def __init__(self, todo: Sequence[Cell], total: int) -> None:
        self.start = time.monotonic()
        self.left, self.weight = sum(cell.weight for cell in todo), 0.0
        self.done, self.total = total - len(todo), total

    def after(self, cell: Cell) -> RunState:
        """The state after one more finished cell."""
        self.left, self.weight, self.done = self.left - cell.weight, self.weight + cell.weight, self.done + 1
        return RunState(self.done, self.total, (time.monotonic() - self.start) * self.left / self.weight)


def _nested(value: object) -> bool:
    return isinstance(value, dict | list | tuple)


@cache
def code_digest(module: str) -> str:
    """The digest of a module, of all modules of whynear and papers that it needs, and of the versions of `PACKAGES`."""
    parts = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    parts += [_source(name) for name in sorted(modules_needed(module))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def modules_needed(module: str) -> set[str]:
    """A module, and all modules of whynear and papers that it imports, directly or through others."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= _imported_by(name) - found
    return found


@cache
def _imported_by(module: str) -> frozenset[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    ours = {name for name in names if name.startswith(OURS) and not name.startswith(RUNNER_MODULES)}
    return frozenset(filter(_is_module, ours))


def _is_module(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # the part before the last dot is not a package
        return False


def _source(module: str) -> str:
    spec = find_spec(module)
    loader = spec.loader if spec is not None else None
    assert isinstance(loader, InspectLoader), f"{module} has a source"
    return loader.get_source(module) or ""
