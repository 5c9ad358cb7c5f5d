"""Files that are written completely or not at all."""

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from operator import methodcaller
from pathlib import Path
from typing import IO

StrPath = str | os.PathLike[str]


def write_whole(path: StrPath, write: Callable[[IO[bytes]], object], needed: int) -> None:
    """Write a file of about ``needed`` bytes by calling ``write``, and replace ``path`` by it in one step.

    The file is written beside its target, synced to disk and renamed. If that fails, ``path`` is unchanged, and an
    OSError states how many bytes are needed and how many are free.
    """
    try:
        _replace(os.path.realpath(path), write)
    except OSError as error:
        raise _explained(error, path, needed) from error


def write_data(path: StrPath, data: bytes | str) -> None:
    """Write bytes, or text in UTF-8, completely or not at all; see `write_whole`."""
    content = data.encode() if isinstance(data, str) else data
    write_whole(path, methodcaller("write", content), len(content))


def _replace(target: str, write: Callable[[IO[bytes]], object]) -> None:
    """Replace ``target`` by what ``write`` writes, in one step, once it is on the disk."""
    mode = _mode_of(target)
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, _beginning(name) + secrets.token_hex(8))
    try:
        with open(temporary, "xb", opener=partial(os.open, mode=0o666 if mode is None else mode)) as file:
            if mode is not None:
                os.chmod(temporary, mode)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_folder(folder)


def sync_folder(folder: StrPath) -> None:
    """Bring to the disk which files a folder has; until then a power cut may undo what was made, renamed or removed."""
    with contextlib.suppress(OSError):  # not every system can
        _sync(folder, os.O_RDONLY)


def sync_file(path: StrPath) -> None:
    """Bring the content of a file to the disk."""
    _sync(path, os.O_RDWR)


def _sync(path: StrPath, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folder(folder: StrPath) -> None:
    """Make a folder that does not exist, and those above it, so that a power cut does not take it from the disk."""
    place, new = Path(folder).absolute(), []
    while not place.exists():
        new.append(place)
        place = place.parent
    Path(folder).mkdir(parents=True, exist_ok=True)
    for made in reversed(new):
        sync_folder(made.parent)


def _beginning(name: str) -> str:
    """Return how the name of a file begins that is written beside its target, before 16 random digits."""
    return f".{name[:32]}."


def remove_halves(path: StrPath) -> None:
    """Remove what killed processes left beside a file while they wrote it; one that still writes fails then."""
    folder, name = os.path.split(os.path.realpath(path))
    half = re.compile(re.escape(_beginning(name)) + "[0-9a-f]{16}")
    with contextlib.suppress(OSError):
        for found in os.listdir(folder):
            if half.fullmatch(found):
                os.unlink(os.path.join(folder, found))


def _mode_of(target: str) -> int | None:
    """Return the permissions of the file to replace, None if there is none; OSError if it must not be replaced."""
    try:
        status = os.stat(target)
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(status.st_mode):
        raise OSError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    if not os.access(target, os.W_OK):
        raise OSError(errno.EACCES, "it is write-protected")
    return stat.S_IMODE(status.st_mode)


def _explained(error: OSError, path: StrPath, needed: int) -> OSError:
    """Return ``error`` with the same errno, hence the same subclass, and a message with path, cause and free space."""
    try:
        free = f"{shutil.disk_usage(os.path.dirname(os.path.realpath(path))).free} bytes are free there"
    except OSError:
        free = "the free space there is unknown"
    kept = "the old file is untouched" if os.path.lexists(path) else "no file was made"
    why = error.strerror or str(error)
    text = f"{os.fspath(path)} could not be saved ({why}): it needs {needed} bytes, {free}, and {kept}."
    return OSError(error.errno, text)


def check_file(path: StrPath) -> None:
    """Refuse, before anything is computed, a path where no file can be written."""
    place = Path(path)
    if place.is_dir():
        raise ValueError(f"{place} must be a file, got a folder instead. Name a file in it (--out).")
    if not place.absolute().parent.is_dir():
        raise ValueError(f"{place} cannot be written: there is no folder {place.parent}. Make the folder first.")


def check_folder(folder: StrPath, names: Iterable[str] = ()) -> None:
    """Refuse a folder in which files of these names cannot be written; the trial leaves no file."""
    place = Path(folder).absolute()
    while not os.path.lexists(place):
        place = place.parent
    if not place.is_dir():
        raise FileExistsError(f"{place} is in the way: it is not a folder. Choose another folder with --out.")
    for path in (Path(folder) / name for name in names):
        if path.is_dir():
            raise FileExistsError(f"{path} is in the way: it is a folder. Choose another folder with --out.")
    try:
        tempfile.TemporaryFile(dir=place).close()
    except OSError as error:
        raise type(error)(
            f"{place} cannot be written into ({error.strerror}). Choose another folder with --out."
        ) from error
