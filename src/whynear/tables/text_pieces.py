"""Text from bytes of which only a piece is in memory, and its lines."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from itertools import chain

from whynear.tables.text_encoding import (
    AUTO,
    START,
    UTF_8_LETTER,
    UTF_16_MARKS,
    WINDOWS_ONLY,
    Decoding,
    Fault,
    check_encoding,
    note_on_encoding,
    supposed_encoding,
    wrong_encoding,
)


class TextPieces:
    """Text from bytes that come a piece at a time; its encoding is found as `as_utf_8` finds that of a whole.

    The first letter outside ASCII decides: all text is UTF-8, or all is Windows-1252 or latin-1. UTF-16 without a mark
    is found if its first letter is one of latin-1.

    Attributes
    ----------
    known : str
        The encoding that is named, or that was found so far.

    Parameters
    ----------
    source : object
        The name of the text in errors.
    encoding : str, default="auto"
        The encoding; ``"auto"`` finds it.
    """

    def __init__(self, source: object, encoding: str = AUTO) -> None:
        check_encoding(encoding)
        self.source, self.encoding = source, encoding
        self.known = "utf-8" if encoding == AUTO else encoding

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
