"""Run pieces of work, and end with the exception of the first that fails."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whynear.engine.pieces import Done, Failed, Piece
from whynear.engine.workers import Workers


def results_of(
    workers: Workers, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None
) -> Iterator[tuple[Piece, Done]]:
    """Yield each piece with its result when it is finished; the first that fails ends the work with its exception."""
    for piece, done in workers.run(pieces, shared):
        if isinstance(done, Failed):
            raise done.error if done.error is not None else OSError(f"{piece.name} failed: {done.reason}")
        yield piece, done
