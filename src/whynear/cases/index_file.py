"""Arrays in a file that is mapped into memory: a cache, which is made again if anything is wrong with it.

The file is ``whynear index\\n``, the length of the description in 8 bytes, the description in JSON, and the arrays,
each beginning at a multiple of 64 bytes.
"""

from __future__ import annotations

import json
import mmap
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.files import write_whole

MAGIC = b"whynear index\n"
ALIGNMENT = 64
DTYPES = ("<i8", "<f4", "<f8")
_CHUNK = 16 << 20


def write_arrays(path: Path, key: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Replace the file by the arrays and a key that states what they belong to, in one step."""
    parts = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    checksum = 0
    for part in parts.values():
        checksum = _checksum(part.reshape(-1).view(np.uint8), checksum)
    shapes = {name: [part.dtype.str, list(part.shape)] for name, part in parts.items()}
    description = json.dumps({"key": key, "arrays": shapes, "checksum": checksum}).encode()

    def write(file: IO[bytes]) -> None:
        file.write(MAGIC + len(description).to_bytes(8, "little") + description)
        for part in parts.values():
            file.write(bytes(-file.tell() % ALIGNMENT))
            file.write(part.data)

    write_whole(path, write, sum(part.nbytes for part in parts.values()) + len(description))


def map_arrays(path: Path) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the key and the read-only arrays; ValueError if the file is damaged."""
    with path.open("rb") as file:
        content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    start = len(MAGIC) + 8
    if content[: len(MAGIC)] != MAGIC:
        raise ValueError("it is no index file")
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    description = json.loads(content[start:end])
    arrays, checksum = {}, 0
    for name, (dtype, shape) in description["arrays"].items():
        if dtype not in DTYPES or not all(isinstance(size, int) and size >= 0 for size in shape):
            raise ValueError("it does not describe arrays")
        begin = end + -end % ALIGNMENT
        count = int(np.prod(shape, dtype=object))
        arrays[name] = np.frombuffer(content, dtype, count, begin).reshape(shape)
        end = begin + arrays[name].nbytes
        checksum = _checksum(arrays[name].reshape(-1).view(np.uint8), checksum)
    if end != len(content) or checksum != description["checksum"]:
        raise ValueError("its checksum is wrong")
    return description["key"], arrays


def _checksum(data: NDArray[np.uint8], start: int) -> int:
    for begin in range(0, len(data), _CHUNK):
        start = zlib.crc32(data[begin : begin + _CHUNK].data, start)
    return start
