"""Work in processes of this machine, which can be started before there is work for them, and share large arrays."""

from __future__ import annotations

import contextlib
import importlib
import mmap
import os
import pickle
import signal
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future
from functools import lru_cache
from multiprocessing import current_process
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from joblib.externals.loky import ProcessPoolExecutor
from joblib.externals.loky.backend import resource_tracker
from joblib.externals.loky.process_executor import BrokenProcessPool

from whynear.utils.lazy import nothing_collected
from whynear.work.pieces import Done, Failed, Piece, Task, try_piece, versions

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals import cloudpickle

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
SECONDS_TO_END = 5.0


class Pool:
    """Processes with one thread each, which start when the first call is sent to them, and end with this process."""

    def __init__(self, n_processes: int) -> None:
        self.n_processes, self.lent = n_processes, False
        self._executor = ProcessPoolExecutor(
            n_processes, env=ONE_THREAD, initializer=_end_with, initargs=(os.getpid(),)
        )

    def submit(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Send a call to one of the processes."""
        with _not_interrupted():
            return self._executor.submit(work, *arguments)

    def close(self) -> None:
        """End the processes, whatever they do."""
        if self in _AHEAD:
            _AHEAD.remove(self)
        # The executor does not wait for the thread that sends its calls. It holds the last references to semaphores,
        # and if it is stopped by the end of this process while it removes them, a warning is printed.
        sending = getattr(getattr(self._executor, "_call_queue", None), "_thread", None)
        self._executor.shutdown(wait=True, kill_workers=True)
        if sending is not None:
            sending.join(SECONDS_TO_END)

    def give_back(self) -> None:
        """Give the pool back to its owner if it was started ahead; end it otherwise."""
        self.lent = False
        if self not in _AHEAD:
            self.close()


_AHEAD: list[Pool] = []


@contextlib.contextmanager
def started_ahead(n_processes: int, *modules: str) -> Iterator[None]:
    """Start a pool for later callers with as many processes, which import modules meanwhile."""
    if n_processes < 1:
        yield
        return
    pool = Pool(n_processes)
    _AHEAD.append(pool)
    try:
        import_ahead(*modules)
        yield
    finally:
        if pool in _AHEAD:
            pool.close()


def borrowed(n_processes: int) -> Pool | None:
    """Return a pool that was started ahead, if it has this number of processes; it must be given back or closed."""
    for pool in _AHEAD:
        if pool.n_processes == n_processes and not pool.lent:
            pool.lent = True
            return pool
    return None


def import_ahead(*modules: str) -> None:
    """Import modules in the processes that were started ahead, when they have no other work."""
    for pool in _AHEAD:
        for _ in range(pool.n_processes):
            with contextlib.suppress(RuntimeError):  # a process was killed, which shows when work is sent
                pool.submit(_import, modules)


def _import(modules: tuple[str, ...]) -> None:
    with nothing_collected():
        for module in modules:
            importlib.import_module(module)


@contextlib.contextmanager
def _not_interrupted() -> Iterator[None]:
    """Keep Ctrl-C from processes that start here, also before they can ignore it; this one gets it afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # it would change the mask where it starts later
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """Ignore interrupts, since the parent handles them and ends this process; end too if the parent was killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


ALIGNMENT = 64  # bytes, at a multiple of which each array begins


@contextlib.contextmanager
def in_a_file(shared: Mapping[str, Any] | None) -> Iterator[str | None]:
    """Write values to a file, arrays as their bytes; it is removed at the end. None if there are no values.

    Functions and classes of a script or a notebook are written too, since processes do not run it.
    """
    if not shared:
        yield None
        return
    buffers: list[pickle.PickleBuffer] = []
    head = cloudpickle.dumps(dict(shared), protocol=5, buffer_callback=buffers.append)
    with tempfile.TemporaryDirectory(prefix="whynear-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "shared"
        _write(path, [memoryview(head), *(buffer.raw() for buffer in buffers)])
        yield str(path)


def _write(path: Path, parts: Sequence[memoryview]) -> None:
    """Write parts of a file, and their places to another one beside it."""
    places = []
    try:
        with path.open("wb") as file:
            for part in parts:
                file.write(bytes(-file.tell() % ALIGNMENT))
                places.append((file.tell(), len(part)))
                file.write(part)
        path.with_suffix(".places").write_bytes(pickle.dumps(places))
    except OSError as error:
        needed = sum(len(part) for part in parts)
        raise OSError(
            error.errno,
            f"{path} could not be written ({error.strerror}): what the processes share needs {needed} bytes. Name a "
            "folder for temporary files on a larger disk (TMPDIR), or use one process (--n-jobs 1).",
        ) from error


@lru_cache(maxsize=1)
def mapped(path: str) -> dict[str, Any]:
    """Read the values of a file; arrays are parts of it, and cannot be written to."""
    places = pickle.loads(Path(path).with_suffix(".places").read_bytes())
    with Path(path).open("rb") as file:
        content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    head, *buffers = (content[first : first + size] for first, size in places)
    return pickle.loads(head, buffers=buffers)


KILLED = Failed(
    "its process was killed twice, the second time while no other piece was running. Is there enough memory?"
)
WORTH_STARTING = 5.0  # seconds of work, from which another process saves time although it must import everything
Outcome = tuple[Piece, Done | Failed]


class Processes:
    """Runs pieces in other processes, which start when the first piece is sent to them, and in this one.

    ``n_workers`` pieces run at once, each on one thread. With ``also_here``, this process runs one of them, and a pool
    that was started ahead is borrowed; without one, and with little work, nothing is started: pieces run here one after
    the other, each with all threads.
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
            starts_nothing = self.also_here and self._pool is None
            here = not self.n_others or (starts_nothing and sum(piece.weight for piece in pieces) < WORTH_STARTING)
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
        """End the processes, or give them back if they were started ahead."""
        if self._pool is not None:
            self._pool.give_back()
            self._pool = None

    def _end(self) -> None:
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def _send(self, piece: Piece, path: str | None) -> Future[Done | Failed]:
        if self._pool is None:
            self._pool = Pool(self.n_others)
        return self._pool.submit(_try_with_file, piece, Task(versions(), 1), path)

    def _until_one_is_killed(
        self, todo: deque[Piece], shared: Mapping[str, Any] | None, path: str | None
    ) -> Generator[Outcome, None, list[Piece]]:
        """Run pieces until none is left, or a process is killed; return those that were lost then."""
        sending = _Sending(todo, lambda piece: self._send(piece, path))
        for _ in range(self.n_others + 1):  # one waits, so that no process does
            sending.send_next()
        if not sending.sent:  # no process can be started
            piece = todo.popleft()
            yield piece, try_piece(piece, Task(versions(), self.n_workers), shared)
        while sending.sent:
            while self.also_here and sending.none_finished and (next_here := sending.taken()) is not None:
                yield next_here, try_piece(next_here, Task(versions(), 1), shared)
            if (outcome := sending.finished_one()) is not None:
                yield outcome
        if sending.lost or todo:
            self._end()
        return sending.lost

    def _alone(self, piece: Piece, path: str | None) -> Done | Failed:
        try:
            return _result(self._send(piece, path))
        except BrokenProcessPool:
            self._end()
            return KILLED
        except (RuntimeError, OSError) as error:
            return Failed(f"no process can be started for it: {error}")


class _Sending:
    """Pieces that are being done by other processes; whenever one is done, the next is sent.

    ``sent`` are those that no process has returned yet, ``lost`` those whose process was killed.
    """

    def __init__(self, todo: deque[Piece], send: Callable[[Piece], Future[Done | Failed]]) -> None:
        self.todo, self._send = todo, send
        self.sent: dict[Future[Done | Failed], Piece] = {}
        self.lost: list[Piece] = []
        self._finished: SimpleQueue[Future[Done | Failed]] = SimpleQueue()
        self._changes = threading.Lock()

    @property
    def none_finished(self) -> bool:
        """Whether no result waits, and no process was killed."""
        return self._finished.empty() and not self.lost

    def send_next(self) -> None:
        """Send the next piece, if there is one and a process to send it to."""
        with self._changes:
            if not self.todo:
                return
            piece = self.todo.popleft()
            try:
                future = self._send(piece)
            except (RuntimeError, OSError):  # the processes have been ended meanwhile, or none can be started
                self.todo.appendleft(piece)
                return
            self.sent[future] = piece
        future.add_done_callback(self._note)

    def taken(self) -> Piece | None:
        """Return the next piece, to be done here; None if there is none."""
        with self._changes:
            return self.todo.popleft() if self.todo else None

    def finished_one(self) -> Outcome | None:
        """Wait for a piece that was sent, and return it with its result; None if its process was killed."""
        future = self._finished.get()
        with self._changes:
            piece = self.sent.pop(future)
        try:
            return piece, _result(future)
        except BrokenProcessPool:
            self.lost.append(piece)
            return None

    def _note(self, future: Future[Done | Failed]) -> None:  # in a thread of the pool: no process waits for this one
        if not future.cancelled() and future.exception() is None:
            self.send_next()
        self._finished.put(future)


def _result(future: Future[Done | Failed]) -> Done | Failed:
    """Return the result of a piece; BrokenProcessPool is raised if its process was killed."""
    try:
        return future.result()
    except BrokenProcessPool:
        raise
    except Exception as error:  # the result could not be sent
        return Failed(f"{type(error).__name__}: {error}")


def _try_with_file(piece: Piece, task: Task, path: str | None) -> Done | Failed:
    return try_piece(piece, task, None if path is None else mapped(path))
