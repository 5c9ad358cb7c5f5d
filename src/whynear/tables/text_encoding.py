"""The encoding of a text file: found, or checked where it is given."""

from __future__ import annotations

import codecs
import io
import re
from dataclasses import dataclass

from whynear.tables.refusal import TableRefused

AUTO = "auto"
START = 2000  # bytes that mark UTF-16
_CHUNK = 1 << 20
UTF_8_LETTER = re.compile(rb"[\xc2-\xf4][\x80-\xbf]")  # the first two bytes of any letter outside ASCII
WINDOWS_ONLY = re.compile(rb"[\x80-\x9f]")  # letters in Windows-1252, control characters in latin-1
UTF_16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


@dataclass(frozen=True)
class Fault:
    """The first byte that does not fit an encoding."""

    offset: int
    line: int
    detail: str
    is_end: bool


class Decoding:
    """The text of bytes that come a piece at a time, with their place for errors.

    Attributes
    ----------
    held : bytes
        The beginning of a letter that the next piece ends.
    """

    def __init__(self, encoding: str, offset: int = 0) -> None:
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.offset, self.line, self.held = offset, 1, b""

    def decode(self, piece: bytes, is_last: bool) -> str | Fault:
        """Return the text of the next piece, or the first byte of it that does not fit."""
        try:
            text = self.decoder.decode(piece, final=is_last)
        except UnicodeDecodeError as error:
            place = error.start - len(self.held)
            is_end = is_last and error.end == len(error.object) and "end of data" in error.reason
            line = self.line + piece.count(b"\n", 0, max(place, 0))
            return Fault(self.offset + place, line, f"0x{error.object[error.start]:02x}", is_end)
        except UnicodeError as error:
            return Fault(self.offset, self.line, str(error), False)
        self.offset, self.line = self.offset + len(piece), self.line + piece.count(b"\n")
        self.held = self.decoder.getstate()[0]
        return text


def as_utf_8(data: bytes, path: object, encoding: str = AUTO) -> tuple[bytes, list[str]]:
    """Return the bytes of a text file in UTF-8 without a byte order mark, and a note if another encoding was found.

    UTF-8 and UTF-16 are found by themselves; other text is taken as Windows-1252 or latin-1 if none of its letters is
    one of UTF-8. What fits none of them is refused by line.
    """
    check_encoding(encoding)
    marked = data.startswith(codecs.BOM_UTF8)
    if marked:
        data = data[len(codecs.BOM_UTF8) :]
    known = supposed_encoding(data) if encoding == AUTO else encoding
    if fault := _first_fault(data, known, marked * len(codecs.BOM_UTF8)):
        other = _single_byte(data) if encoding == AUTO and not fault.is_end else None
        if other is None or _first_fault(data, other):
            raise wrong_encoding(path, known, fault, data)
        known = other
    if codecs.lookup(known).name == "utf-8":
        return data, []
    try:
        return data.decode(known).encode(), [note_on_encoding(known)] if encoding == AUTO else []
    except UnicodeError as error:
        raise wrong_encoding(path, known, Fault(0, 1, str(error), False), data) from None


def check_encoding(encoding: str) -> None:
    """Refuse what is no encoding of text: some codecs turn text into text, or bytes into bytes."""
    try:
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8" if encoding == AUTO else encoding)
    except (LookupError, ValueError):
        raise ValueError(
            f"encoding must be a text encoding that Python knows, got {encoding!r} instead. Try utf-8 or latin-1."
        ) from None


def note_on_encoding(known: str) -> str:
    """Return the notes on a text that is not UTF-8."""
    return f"The file is not UTF-8 and was read as {known}; --encoding names another."


def supposed_encoding(data: bytes) -> str:
    """Return UTF-16 if a mark at the beginning, or every second byte, shows it; otherwise UTF-8."""
    if data[:2] in UTF_16_MARKS:
        return "utf-16"
    start = data[:START]
    for first, name in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros, others = start[first::2], start[1 - first :: 2]
        if len(start) > 3 and 2 * zeros.count(0) > len(zeros) and 0 not in others:
            return name
    return "utf-8"


def _single_byte(data: bytes) -> str | None:
    """Return the encoding of text that is not UTF-8; None if some of it is."""
    if UTF_8_LETTER.search(data):
        return None
    return "cp1252" if WINDOWS_ONLY.search(data) else "latin-1"


def _first_fault(data: bytes, encoding: str, offset: int = 0) -> Fault | None:
    """Return the first byte that does not fit, in chunks: the whole text is not needed."""
    decoding = Decoding(encoding, offset)
    for begin in range(0, len(data) + 1, _CHUNK):
        found = decoding.decode(data[begin : begin + _CHUNK], is_last=begin + _CHUNK > len(data))
        if isinstance(found, Fault):
            return found
    return None


def wrong_encoding(path: object, encoding: str, fault: Fault, data: bytes) -> TableRefused:
    """Return the error that names the first byte outside the encoding, and an encoding to try."""
    is_utf_8 = codecs.lookup(encoding).name == "utf-8"
    other = "utf-16" if data[:2] in UTF_16_MARKS else "latin-1" if is_utf_8 else "utf-8"
    return TableRefused(
        f"{path} must be {encoding} text, got {fault.detail} at byte offset {fault.offset} (line {fault.line}) "
        f"instead. Name the right encoding, for example --encoding {other}.",
        encoding=other,
    )
