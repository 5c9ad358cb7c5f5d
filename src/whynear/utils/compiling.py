"""Compiled functions, kept in files wherever that is possible.

numba keeps them beside the source, or else in the user's home. Where neither can be written, such as in a container
that runs as a user without a home, it refuses to compile. Here they are then kept in a folder for temporary files.
After a power cut numba may find files that are empty, and fails to read them; here such files are made again.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numba
from numba.core.caching import IndexDataCacheFile

PLACE = "NUMBA_CACHE_DIR"  # read by numba, also in other processes


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return what compiles a function as `numba.njit` does; where no folder can be written, nothing is kept."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return _kept_whole(numba.njit(**options)(function))
        except RuntimeError:
            if not options.get("cache"):
                raise
        folder = private_folder()
        if folder is None:
            return numba.njit(**{**options, "cache": False})(function)
        os.environ[PLACE] = vars(numba.config)["CACHE_DIR"] = str(folder)
        return _kept_whole(numba.njit(**options)(function))

    return compiled


class _WholeFiles(IndexDataCacheFile):
    """The files of a compiled function: on the disk before they get their names, and made again if they are damaged."""

    @contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[IO[bytes]]:
        with super()._open_for_write(filepath) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())

    def _load_index(self) -> dict[Any, str]:
        try:
            return dict(super()._load_index())
        except Exception:  # whatever unpickling raises
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:
            raise OSError(f"{name} is damaged") from error  # as a missing one, which numba makes again


def _kept_whole(function: Any) -> Any:
    files = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if type(files) is IndexDataCacheFile:
        files.__class__ = _WholeFiles
    return function


def private_folder() -> Path | None:
    """Return a folder for temporary files that only this user can write, the same in all processes; None without one.

    Compiled code is read from there, so a folder that someone else has made or can write is not used.
    """
    if not hasattr(os, "getuid"):
        return None
    folder = Path(tempfile.gettempdir(), f"whynear-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return folder if ours and os.access(folder, os.W_OK) else None
