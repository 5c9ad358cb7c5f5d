"""What pieces of work share, in a file that processes map into their memory instead of copying it."""

from __future__ import annotations

import contextlib
import mmap
import pickle
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

try:
    import cloudpickle
except ImportError:  # joblib before 1.6 brings its own
    from joblib.externals import cloudpickle

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
