"""Text of strangers on one line, with nothing in it that commands a terminal or cannot be encoded."""

import unicodedata

_BLANKS = "\t\n\v\f\r\x85\u2028\u2029"
# Text direction marks can make a line read as something else than it says.
_REVERSING = "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def printable(text: str) -> str:
    """The text on one line, with U+FFFD in place of what commands a terminal or cannot be encoded."""
    return text if text.isprintable() else "".join(map(_printable, text))


def _printable(letter: str) -> str:
    if letter in _BLANKS:
        return " "
    return "\ufffd" if letter in _REVERSING or unicodedata.category(letter) in ("Cc", "Cs") else letter
