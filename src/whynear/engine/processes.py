"""Pieces of work in processes on this machine."""

from __future__ import annotations

import contextlib
import pickle
import threading
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from multiprocessing import current_process
from queue import SimpleQueue
from typing import Any

from joblib.externals.loky.process_executor import BrokenProcessPool

from whynear.engine.code_state import versions
from whynear.engine.pieces import Done, Failed, Piece, Task, try_piece
from whynear.engine.pool import Pool, borrowed
from whynear.engine.sharing import in_a_file, mapped

KILLED = Failed(
    "its process was killed twice, the second time while no other piece was running. Is there enough memory?"
)
WORTH_STARTING = 5.0  # seconds of work, from which another process saves time although it must import everything
Outcome = tuple[Piece, Done | Failed]


class Processes:
    """Runs pieces in other processes, which start when the first piece is sent to them, and in this one.

    Parameters
    ----------
    n_workers : int
        How many pieces run at once; each has one thread.
    also_here : bool
        Whether this process is one of them. If so, a pool that was started ahead is borrowed; without one, and with
        little work, nothing is started: pieces run here one after the other, each with all threads.
    """

    def __init__(self, n_workers: int, *, also_here: bool = False) -> None:
        if current_process().daemon:  # a worker of a pool or of Dask, which must not start processes
            n_workers = 1
        self.n_workers, self.also_here = n_workers, also_here or n_workers == 1
        self.n_others = n_workers - self.also_here
        self._pool: Pool | None = borrowed(self.n_others) if also_here else None

    def run(self, pieces: Sequence[Piece], shared: Mapping[str, Any] | None = None) -> Iterator[Outcome]:
        """Yield each piece with its result, when it is finished; `shared` are arguments of all.

        If a process is killed, the pieces that were sent to the others are run again, one at a time.
        """
        todo = deque(pieces)
        with contextlib.ExitStack() as stack:
            here = self._all_here(pieces)
            if not here:
                try:
                    path = stack.enter_context(in_a_file(shared))
                except (pickle.PicklingError, TypeError, AttributeError, OSError):
                    here = True  # what they share cannot be sent, or there is no room for its file
            while here and todo:
                piece = todo.popleft()
                yield piece, try_piece(piece, Task(versions(), self.n_workers), shared)
            while todo:
                lost = yield from self._until_one_is_killed(todo, shared, path)
                for piece in lost:
                    yield piece, self._alone(piece, path)

    def close(self) -> None:
        """End the processes, or give them back to who started them ahead."""
        if self._pool is not None:
            self._pool.give_back()
            self._pool = None

    def _end(self) -> None:
        """End the processes at once, since one of them was killed."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _all_here(self, pieces: Sequence[Piece]) -> bool:
        if not self.n_others:
            return True
        started = self._pool is not None
        return self.also_here and not started and sum(piece.weight for piece in pieces) < WORTH_STARTING

    def _send(self, piece: Piece, path: str | None) -> Future[Done | Failed]:
        if self._pool is None:
            self._pool = Pool(self.n_others)
        return self._pool.submit(_try_with_file, piece, Task(versions(), 1), path)

    def _until_one_is_killed(
        self, todo: deque[Piece], shared: Mapping[str, Any] | None, path: str | None
    ) -> Generator[Outcome, None, list[Piece]]:
        """Run pieces until none is left, or a process is killed; return those that were lost then."""
        sent: dict[Future[Done | Failed], Piece] = {}
        finished: SimpleQueue[Future[Done | Failed]] = SimpleQueue()
        lost: list[Piece] = []
        changes = threading.Lock()

        def send_next() -> None:
            with changes:
                if not todo:
                    return
                piece = todo.popleft()
                try:
                    future = self._send(piece, path)
                except RuntimeError:  # the processes have been ended meanwhile
                    todo.appendleft(piece)
                    return
                sent[future] = piece
            future.add_done_callback(note)

        def note(future: Future[Done | Failed]) -> None:  # in a thread of the pool: no process waits for this one
            if not future.cancelled() and future.exception() is None:
                send_next()
            finished.put(future)

        def outcome(future: Future[Done | Failed]) -> Iterator[Outcome]:
            with changes:
                piece = sent.pop(future)
            try:
                yield piece, future.result()
            except BrokenProcessPool:
                lost.append(piece)
            except Exception as error:  # the result could not be sent
                yield piece, Failed(f"{type(error).__name__}: {error}")

        for _ in range(self.n_others + 1):  # one waits, so that no process does
            send_next()
        while sent:
            while self.also_here and finished.empty() and not lost:
                with changes:
                    piece = todo.popleft() if todo else None
                if piece is None:
                    break
                yield piece, try_piece(piece, Task(versions(), 1), shared)
            yield from outcome(finished.get())
        if lost or todo:
            self._end()
        return lost

    def _alone(self, piece: Piece, path: str | None) -> Done | Failed:
        try:
            return self._send(piece, path).result()
        except BrokenProcessPool:
            self._end()
            return KILLED


def _try_with_file(piece: Piece, task: Task, path: str | None) -> Done | Failed:
    return try_piece(piece, task, None if path is None else mapped(path))
