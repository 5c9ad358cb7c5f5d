"""Compiled functions, kept in files wherever that is possible.

numba keeps them beside the source, or else in the user's home. Where neither can be written, such as in a container
that runs as a user without a home, it refuses to compile. Here they are then kept in a folder for temporary files.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

PLACE = "NUMBA_CACHE_DIR"  # read by numba, also in other processes


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return what compiles a function as `numba.njit` does; where no folder can be written, nothing is kept."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:
            if not options.get("cache"):
                raise
        folder = private_folder()
        if folder is None:
            return numba.njit(**{**options, "cache": False})(function)
        os.environ[PLACE] = vars(numba.config)["CACHE_DIR"] = str(folder)
        return numba.njit(**options)(function)

    return compiled


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
