"""One file for a JSON header and named arrays, without pickle: written completely or not at all, checked when read.

The file is a zip without compression. Its first entry is ``manifest.json``::

    {"format": 1, "library": "whynear 0.1.0", "header": {...},
     "parts": {"<name>.npy": {"sha256": "...", "bytes": 168}}}

and one ``<name>.npy`` in numpy's format follows per array. Any zip tool and ``numpy.load`` read it.

Limits on what is read keep the memory for a small file small: no part is compressed, shares bytes with another or
extends beyond the file; an array has exactly the bytes of its part; the manifest has at most 64 MiB. As Python objects,
a manifest takes up to 40 times its size (nested empty lists), an array its size, and the largest part that size again.
If memory still runs out, an `ArchiveError` is raised.
"""

import hashlib
import json
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Mapping
from functools import cache, partial
from importlib import metadata
from io import BytesIO
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from whynear.utils.files import StrPath, write_whole

FORMAT = 1
MODEL_OF_A_STUDY = "model.whynear"  # in its folder
MANIFEST = "manifest.json"
MANIFEST_LIMIT = 64 << 20  # bytes: more than a million feature names
DTYPES = frozenset({"|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<u2", "<u4", "<u8", "<f4", "<f8"})

_NAME = re.compile(r"(?!.*\.\.)[a-z0-9_-][a-z0-9_.-]{0,99}(/[a-z0-9_-][a-z0-9_.-]{0,99}){0,9}")
_RESTORE = "restore a copy of the file or save it again"
TOO_LARGE = "it takes more memory than there is; end other programs, or read it on a larger machine"
# Errors that zipfile, json and numpy raise for invalid bytes.
_BROKEN = (zipfile.BadZipFile, EOFError, RuntimeError, ValueError, ArithmeticError, struct.error)


class ArchiveError(ValueError):
    """Raised for a file that this version cannot read; the message names the file, the fault and the remedy."""


def write_archive(path: StrPath, header: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Save ``header`` and ``arrays`` at ``path``; if that fails, an older file there is unchanged.

    ``header`` holds only what JSON returns unchanged: dicts with string keys, lists, strings, finite numbers,
    booleans, None. Arrays are booleans, integers, or floats of 32 or 64 bits. Keys and parts are sorted, so
    that equal content gives equal bytes. The data are written to disk before the file gets its name. A new file
    has the mode that ``open`` gives, a replaced one keeps its mode, a link is followed. Memory: one copy of
    the arrays.
    """
    parts = {f"{name}.npy": _npy_bytes(name, arrays[name]) for name in sorted(arrays)}
    entries = {MANIFEST: _manifest(header, parts), **parts}
    needed = sum(100 + 2 * len(name) + len(data) for name, data in entries.items())
    write_whole(path, partial(_write_zip, entries), needed)


def read_archive(path: StrPath) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return header and arrays (owned, read-only, in C order) of the file at ``path``; no code in it can run.

    The format number is checked first, then names and sizes of all parts against the size of the file, then
    the checksum, dtype and shape of each part before its array is made. Memory: the arrays and one part more.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            inside = os.path.join(path, MODEL_OF_A_STUDY)
            if os.path.isfile(inside):
                raise ArchiveError(f"it is a folder; give the path of the model in it, {inside}")
            raise ArchiveError("it is a folder or a device; give the path of a saved file")
        with open(path, "rb") as file, zipfile.ZipFile(file) as archive:
            return _read(archive, size=os.fstat(file.fileno()).st_size)
    except FileNotFoundError as error:
        fault = f"{os.fspath(path)} does not exist; check the path or save it first."
        raise FileNotFoundError(error.errno, fault) from None
    except ArchiveError as error:
        raise ArchiveError(f"{os.fspath(path)} cannot be read: {error}.") from error.__cause__
    except MemoryError as error:
        raise ArchiveError(f"{os.fspath(path)} cannot be read: {TOO_LARGE}.") from error
    except _BROKEN as error:
        fault = f"it is damaged, cut short or not a whynear file ({error!s:.200})"
        raise ArchiveError(f"{os.fspath(path)} cannot be read: {fault}; {_RESTORE}.") from error


def _npy_bytes(name: str, array: NDArray[Any]) -> bytes:
    """Return the ``.npy`` file of an array, C order and little-endian; refused if it needs pickle."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"array name {name!r} must be made of a-z 0-9 _ - . /, with no leading '.' and no '..'.")
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"arrays[{name!r}] must be a plain numpy array, got {type(array).__name__} instead.")
    dtype = array.dtype.newbyteorder("<").str
    if dtype not in DTYPES:
        raise TypeError(f"arrays[{name!r}] must be bool, int, uint, float32 or float64, got {array.dtype}.")
    stream = BytesIO()
    npy.write_array(stream, np.asarray(array, dtype=dtype, order="C"), allow_pickle=False)
    return stream.getvalue()


def _manifest(header: dict[str, Any], parts: Mapping[str, bytes]) -> bytes:
    sums = {name: {"sha256": hashlib.sha256(part).hexdigest(), "bytes": len(part)} for name, part in parts.items()}
    content = {"format": FORMAT, "library": _library(), "header": header, "parts": sums}
    text = json.dumps(content, allow_nan=False, sort_keys=True).encode("ascii")
    if not isinstance(header, dict) or json.loads(text)["header"] != header:
        raise TypeError("header must be a dict that JSON returns unchanged: string keys, lists, no tuples.")
    if len(text) > MANIFEST_LIMIT:
        raise ValueError(f"header takes {len(text)} bytes, over {MANIFEST_LIMIT}. Put long data in arrays.")
    return text


@cache
def _library() -> str:
    try:
        return f"whynear {metadata.version('whynear')}"
    except metadata.PackageNotFoundError:  # run from its sources
        return "whynear (not installed)"


def _write_zip(entries: Mapping[str, bytes], file: IO[bytes]) -> None:
    archive = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)
    try:
        for name, data in entries.items():
            entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            entry.create_system, entry.external_attr = 3, 0o644 << 16  # the same bytes on every system
            archive.writestr(entry, data)
        archive.close()
    except BaseException:
        archive.fp = None  # closing an entry cut short would hide the interrupt behind an error of its own
        raise


def _read(archive: zipfile.ZipFile, size: int) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    entries = {entry.orig_filename: entry for entry in archive.infolist()}
    _require(MANIFEST in entries, f"it has no {MANIFEST}, so it is not a whynear file")
    manifest = _parsed(archive, entries.pop(MANIFEST), size)
    _check_disjoint(archive.infolist(), size)
    parts = manifest["parts"]
    _require(parts.keys() == entries.keys(), "its parts are not those its manifest names")
    for name, entry in entries.items():
        good = isinstance(parts[name], dict) and parts[name].get("bytes") == entry.file_size
        _require(good, f"its part {name} does not have the length its manifest states")
    arrays = {name: _array(name, archive.read(entry), parts[name]) for name, entry in entries.items()}
    return manifest["header"], {name.removesuffix(".npy"): array for name, array in arrays.items()}


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise ArchiveError(f"{fault}; {_RESTORE}")


def _parsed(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, size: int) -> dict[str, Any]:
    """Return the manifest; its format number is checked before anything else in it."""
    _check_entry(entry, size)
    _require(entry.file_size <= MANIFEST_LIMIT, f"its manifest is larger than {MANIFEST_LIMIT} bytes")
    manifest = json.loads(archive.read(entry))
    _require(isinstance(manifest, dict) and type(manifest.get("format")) is int, "its manifest has no format")
    if manifest["format"] != FORMAT:
        newer = manifest["format"] > FORMAT
        remedy = "pip install --upgrade whynear" if newer else "save it again with this version"
        raise ArchiveError(
            f"it has format {manifest['format']:.8g}, written by {manifest.get('library')!s:.80}, and this is "
            f"{_library()}, which reads format {FORMAT}; {remedy}"
        )
    fields = isinstance(manifest.get("header"), dict) and isinstance(manifest.get("parts"), dict)
    _require(fields, "its manifest has no header or no parts")
    return manifest


def _check_entry(entry: zipfile.ZipInfo, size: int) -> None:
    """Refuse an entry that has an unsafe name, is compressed or encrypted, or is not within the file."""
    name = entry.orig_filename
    safe = name == MANIFEST or (name.endswith(".npy") and _NAME.fullmatch(name[:-4]) is not None)
    _require(safe, f"the name of its part {name[:80]!r} is not allowed")
    stored = entry.compress_type == zipfile.ZIP_STORED and not entry.flag_bits & 1
    _require(stored, f"its part {name} is compressed or encrypted")
    inside = entry.header_offset >= 0 and _end(entry) <= size and entry.file_size == entry.compress_size
    _require(inside, f"its part {name} is larger than the file")


def _check_disjoint(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse parts of the same name or sharing bytes: a small file must not expand into large arrays."""
    _require(len({entry.orig_filename for entry in entries}) == len(entries), "it has two parts of one name")
    end = 0
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        _check_entry(entry, size)
        _require(entry.header_offset >= end, f"its part {entry.orig_filename} overlaps another")
        end = _end(entry)


def _end(entry: zipfile.ZipInfo) -> int:
    """Return the smallest offset at which an entry can end: a local header of 30 bytes, the name, the data."""
    return entry.header_offset + 30 + len(entry.orig_filename) + entry.compress_size


def _array(name: str, data: bytes, promised: dict[str, Any]) -> NDArray[Any]:
    """Return the array in the ``.npy`` file ``data``, once its checksum, dtype and shape are checked."""
    _require(hashlib.sha256(data).hexdigest() == promised.get("sha256"), f"the checksum of its part {name} is wrong")
    stream = BytesIO(data)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}  # 10 kB at most, no pickle
    try:
        shape, fortran, dtype = readers[npy.read_magic(stream)](stream)
    except Exception as error:  # numpy's parsers raise many kinds of errors on invalid text
        raise ArchiveError(f"its part {name} has no valid npy header; {_RESTORE}") from error
    _require(dtype.str in DTYPES, f"its part {name} holds {dtype!s:.80}, which is not a plain number")
    start = stream.tell()
    fits = all(type(n) is int and n >= 0 for n in shape) and math.prod(shape) * dtype.itemsize == len(data) - start
    _require(fits, f"its part {name} states the shape {shape!s:.80}, which does not fit its bytes")
    stored: NDArray[Any] = np.ndarray(shape, dtype, buffer=data, offset=start, order="F" if fortran else "C")
    array = stored.copy(order="C")
    _require(dtype.kind != "b" or array.view(np.uint8).max(initial=0) <= 1, f"its part {name} is not boolean")
    array.setflags(write=False)
    return array
