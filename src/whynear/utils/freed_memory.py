"""What becomes of memory that arrays give back: whether the C library keeps it for the next ones."""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any

TRIM_VARIABLE = "MALLOC_TRIM_THRESHOLD_"  # set by Dask for its workers
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
DEFAULT_MMAP_THRESHOLD = 128 << 10
MOST_KEPT = 32 << 20  # the largest threshold that glibc takes
_USERS, _LOCK = [0], Lock()


@contextmanager
def freed_memory_kept() -> Iterator[None]:
    """Keep what is freed inside within glibc, where it is set to return it at once; it is returned at the end.

    Workers of Dask return freed memory at once. Each array of more than 128 kB is then new memory, and the page faults
    of small blocks of rows take as long as the work on them.
    """
    libc, asked = _glibc(), os.environ.get(TRIM_VARIABLE, "")
    if libc is None or not asked.isdigit():
        yield
        return
    with _LOCK:
        _USERS[0] += 1
        libc.mallopt(M_TRIM_THRESHOLD, MOST_KEPT)
        libc.mallopt(M_MMAP_THRESHOLD, MOST_KEPT)
    try:
        yield
    finally:
        with _LOCK:
            _USERS[0] -= 1
            if not _USERS[0]:
                libc.mallopt(M_TRIM_THRESHOLD, int(asked))
                libc.mallopt(M_MMAP_THRESHOLD, DEFAULT_MMAP_THRESHOLD)
                libc.malloc_trim(0)


@lru_cache
def _glibc() -> Any:
    """The C library, if it is glibc."""
    try:
        libc = ctypes.CDLL("libc.so.6")
    except OSError:
        return None
    return libc if hasattr(libc, "mallopt") and hasattr(libc, "malloc_trim") else None
