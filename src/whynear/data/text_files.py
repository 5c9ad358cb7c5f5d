"""Text files: which files are text, how they are compressed and encoded, and their content in pieces."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from whynear.data.options import TableRefused

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
    """The text of bytes that come a piece at a time, with their place for errors."""

    def __init__(self, encoding: str, offset: int = 0) -> None:
        self.decoder = codecs.getincrementaldecoder(encoding)()
        self.offset, self.line = offset, 1
        self.held = b""  # the beginning of a letter that the next piece ends

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
        other = "cp1252" if WINDOWS_ONLY.search(data) else "latin-1"
        may_be_other = encoding == AUTO and not fault.is_end and not UTF_8_LETTER.search(data)
        if not may_be_other or _first_fault(data, other):
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


class TextPieces:
    """Text from bytes that come a piece at a time; its encoding is found as `as_utf_8` finds that of a whole.

    The first letter outside ASCII decides: all text is UTF-8, or all is Windows-1252 or latin-1. UTF-16 without a mark
    is found if its first letter is one of latin-1. ``source`` is the name of the text in errors.
    """

    def __init__(self, source: object, encoding: str = AUTO) -> None:
        check_encoding(encoding)
        self.source, self.encoding = source, encoding
        self.known = "utf-8" if encoding == AUTO else encoding  # or what was found so far

    def notes(self) -> list[str]:
        """Return the notes on the encoding that was found."""
        return [note_on_encoding(self.known)] if self.encoding == AUTO and self.known != "utf-8" else []

    def lines(self, pieces: Iterable[bytes]) -> Iterator[str]:
        """Yield the lines, each of which ends with a newline of any kind; they are made one kind."""
        newlines = io.IncrementalNewlineDecoder(None, translate=True)
        unfinished: list[str] = []  # joined once, however long a line is
        for text in self.texts(pieces):
            first, *others = newlines.decode(text).split("\n")
            unfinished.append(first)
            if others:
                yield "".join(unfinished) + "\n"
                unfinished = [others.pop()]
                for line in others:
                    yield line + "\n"
        if last := "".join(unfinished) + newlines.decode("", final=True):
            yield last

    def texts(self, pieces: Iterable[bytes]) -> Iterator[str]:
        """Yield the pieces as text; a byte that does not fit is refused."""
        others = iter(pieces)
        start = self._start(others)
        if self.encoding == AUTO and _may_be_utf_16(start):
            self.known = supposed_encoding(start)
        mark = codecs.BOM_UTF8 if start.startswith(codecs.BOM_UTF8) else b""
        decoding, is_ascii = Decoding(self.known, len(mark)), True
        for piece, is_last in chain([(start[len(mark) :], False)], ((each, False) for each in others), [(b"", True)]):
            held = decoding.held
            text = decoding.decode(piece, is_last)
            if isinstance(text, Fault):
                if self.encoding != AUTO or self.known != "utf-8" or not is_ascii or text.is_end:
                    raise wrong_encoding(self.source, self.known, text, start)
                yield from self._single_bytes(chain([held + piece], others), text)
                return
            is_ascii = is_ascii and text.isascii()
            yield text

    def _start(self, pieces: Iterator[bytes]) -> bytes:
        """Return the first bytes: enough to find a mark, and UTF-16 if they may be that."""
        start = b""
        for piece in pieces:
            start += piece
            if len(start) >= START or (len(start) > 3 and not _may_be_utf_16(start)):
                break
        return start

    def _single_bytes(self, pieces: Iterable[bytes], fault: Fault) -> Iterator[str]:
        """Yield pieces as Windows-1252, of which latin-1 is a part, unless a letter of UTF-8 is among them."""
        self.known, last = "latin-1", b""
        for piece in pieces:
            try:
                text = piece.decode("cp1252")
            except UnicodeDecodeError:
                text = None
            if text is None or UTF_8_LETTER.search(last + piece):
                raise wrong_encoding(self.source, "utf-8", fault, b"")
            if WINDOWS_ONLY.search(piece):
                self.known = "cp1252"
            yield text
            last = piece[-1:]


def _may_be_utf_16(start: bytes) -> bool:
    return start[:2] in UTF_16_MARKS or 0 in start[:2]
