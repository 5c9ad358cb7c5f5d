"""The encoding of a text file: found, or checked where it is given."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass
from pathlib import Path

from whynear.tables.refusal import TableRefused

AUTO = "auto"
_CHUNK = 1 << 20
_UTF_8_LETTER = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")  # the first two bytes of any letter outside ASCII
_WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")  # letters in Windows-1252, control characters in latin-1
_UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class _Fault:
    """The first byte that does not fit an encoding."""

    offset: int
    line: int
    detail: str
    is_end: bool


def as_utf_8(data: bytes, path: Path, encoding: str = AUTO) -> tuple[bytes, list[str]]:
    """Return the bytes of a text file in UTF-8 without a byte order mark, and a note if another encoding was found.

    UTF-8 and UTF-16 are found by themselves; other text is taken as Windows-1252 or latin-1 if none of its letters is
    one of UTF-8. What fits none of them is refused by line.
    """
    check_encoding(encoding)
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    known = _known(data) if encoding == AUTO else encoding
    if fault := _first_fault(data, known):
        fault = _Fault(fault.offset + marked * len(codecs.BOM_UTF8), fault.line, fault.detail, fault.is_end)
        other = _single_byte(data) if encoding == AUTO and not fault.is_end else None
        if other is None or _first_fault(data, other):
            raise _wrong_encoding(path, known, fault, data)
        known = other
    note = f"The file is not UTF-8 and was read as {known}; --encoding names another."
    if codecs.lookup(known).name == "utf-8":
        return data, []
    try:
        return data.decode(known).encode(), [note] if encoding == AUTO else []
    except UnicodeError as error:
        raise _wrong_encoding(path, known, _Fault(0, 1, str(error), False), data) from None


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text: some codecs turn text into text, or bytes into bytes."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8" if encoding == AUTO else encoding)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be a text encoding that Python knows, got {encoding!r} instead. Try utf-8 or latin-1."
        ) from None


def _known(data: bytes) -> str:
    """Return UTF-16 if a mark at the beginning, or every second byte, says so; otherwise UTF-8."""
    if data[:2] in _UTF_16_MARKS:
        return "utf-16"
    start = data[:2000]
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = start[first::2], start[1 - first :: 2]
        if len(start) > 3 and 2 * zeros.count(0) > len(zeros) and 0 not in others:
            return name
    return "utf-8"


def _single_byte(data: bytes) -> str | None:
    """Return the encoding of text that is not UTF-8; None if some of it is."""
    if _UTF_8_LETTER.search(data):
        return None
    return "cp1252" if _WINDOWS_ONLY.search(data) else "latin-1"


def _first_fault(data: bytes, encoding: str) -> _Fault | None:
    """Return the first byte that does not fit, in chunks: the whole text is not needed."""
    decoder = codecs.getincrementaldecoder(encoding)()
    line, pending = 1, 0
    for begin in range(0, len(data) + 1, _CHUNK):
        chunk, is_last = data[begin : begin + _CHUNK], begin + _CHUNK > len(data)
        try:
            decoder.decode(chunk, final=is_last)
        except UnicodeDecodeError as error:
            place = error.start - pending
            line += chunk.count(b"\n", 0, max(place, 0))
            is_end = is_last and error.end == len(error.object) and "end of data" in error.reason
            return _Fault(begin + place, line, f"0x{error.object[error.start]:02x}", is_end)
        except UnicodeError as error:
            return _Fault(begin, line, str(error), False)
        pending = len(decoder.getstate()[0])
        line += chunk.count(b"\n")
    return None


def _wrong_encoding(path: Path, encoding: str, fault: _Fault, data: bytes) -> TableRefused:
    """Return the error that names the first byte outside the encoding, and an encoding to try."""
    is_utf_8 = codecs.lookup(encoding).name == "utf-8"
    other = "utf-16" if data[:2] in _UTF_16_MARKS else "latin-1" if is_utf_8 else "utf-8"
    return TableRefused(
        f"{path} must be {encoding} text, got {fault.detail} at byte offset {fault.offset} (line {fault.line}) "
        f"instead. Name the right encoding, for example --encoding {other}.",
        encoding=other,
    )
