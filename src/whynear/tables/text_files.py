"""Files with a table as text: known by their endings, and opened also where they are compressed."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}
USUAL_DELIMITER = ","  # where no ending names one
PACKED = ".gz"
TEXT_ENDINGS = ".csv, .tsv, .txt (tab-separated), each also with .gz"


class OpenedText(NamedTuple):
    """A text file: its bytes, unpacked, and the file itself, whose position is the number of bytes read."""

    unpacked: io.BufferedIOBase
    file: io.BufferedIOBase


def delimiter_of(path: Path) -> str | None:
    """Return the separator that the ending of a text file means; None for other files.

    >>> delimiter_of(Path("rows.CSV.gz")), delimiter_of(Path("rows.xlsx"))
    (',', None)
    """
    *_, inner, outer = ["", "", *(suffix.lower() for suffix in path.suffixes)]
    return DELIMITERS.get(inner if outer == PACKED else outer)


@contextmanager
def opened_text(path: Path) -> Iterator[OpenedText]:
    """Open a text file, which may be compressed; a damaged one is refused while it is read."""
    try:
        with path.open("rb") as file:
            yield OpenedText(gzip.GzipFile(fileobj=file) if path.suffix.lower() == PACKED else file, file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ValueError(
            f"{path} must be a whole gzip file, got a damaged one instead ({error}). Compress it again."
        ) from error
