"""Independent pieces of work, and the state of the code that makes them."""

from __future__ import annotations

import hashlib
import pickle
import platform
import time
import traceback
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from whynear.utils.threads import one_blas_thread, one_openmp_thread, share_of_threads

Versions = dict[str, str]
PACKAGES = ("numba", "numpy", "scikit-learn", "scipy")
SOURCES = "sources"


@cache
def versions() -> Versions:
    """The versions of whynear and `PACKAGES` in this process, and a digest of the sources of whynear."""
    folder = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    found = {name: metadata.version(name) for name in ("whynear", *PACKAGES)}
    return {**found, SOURCES: digest.hexdigest()}


def differences(wanted: Versions) -> str:
    """What this process has in other versions, in a sentence; empty if it has the same."""
    here = versions()
    other = [f"{name} {here[name]} instead of {wanted[name]}" for name in wanted if here[name] != wanted[name]]
    if not other:
        return ""
    named = [words for words in other if not words.startswith(SOURCES)] or ["other sources of whynear"]
    return f"the worker on {platform.node()} has {', '.join(named)}. Install the same versions there."


@dataclass(frozen=True, eq=False)
class Piece:
    """A function of a module and its arguments, which can be sent to any process.

    `weight` is roughly its time in seconds.
    """

    work: Callable[..., Any]
    arguments: Mapping[str, Any]
    weight: float = field(default=1.0, compare=False)

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return f"{self.work.__name__}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"

    def compute(self, shared: Mapping[str, Any]) -> Any:
        """Call the function with its own arguments, and those that it shares with other pieces."""
        return self.work(**self.arguments, **shared)


@dataclass(frozen=True)
class Done:
    """The result of a piece, the CPU seconds it took, and those on a clock."""

    result: Any
    seconds: float
    elapsed: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Failed:
    """The exception of a piece as text, and itself if it can be sent between processes."""

    reason: str
    trace: str = ""
    error: Exception | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Task:
    """How a piece is to be run wherever it is run: by which code, and on how many threads."""

    versions: Versions
    n_threads: int


def run_piece(piece: Piece, shared: Mapping[str, Any] | None = None, n_threads: int = 1) -> Done:
    """Compute a piece on one thread of BLAS and OpenMP, so that sums do not depend on how many pieces run at once.

    Compiled loops, whose results do not depend on the number of threads, have as many as are given. Warnings of the
    learners, such as that a descent did not converge, are not shown.
    """
    cpu, clock = time.process_time(), time.perf_counter()
    with one_blas_thread(), one_openmp_thread(), share_of_threads(n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = piece.compute(shared or {})
    return Done(result, time.process_time() - cpu, time.perf_counter() - clock)


def try_piece(piece: Piece, task: Task, shared: Mapping[str, Any] | None = None) -> Done | Failed:
    """Run a piece in this process, if the code here is the same as where the piece was made."""
    try:
        if found := differences(task.versions):
            return Failed(found)
        return run_piece(piece, shared, task.n_threads)
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}", traceback.format_exc(), _if_it_can_be_sent(error))


def _if_it_can_be_sent(error: Exception) -> Exception | None:
    try:
        again = pickle.loads(pickle.dumps(error))
    except Exception:  # whatever its own methods raise
        return None
    return error if type(again) is type(error) and str(again) == str(error) else None
