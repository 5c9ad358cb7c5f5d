"""Tables written as comma-separated values."""

from __future__ import annotations

import re

import pandas as pd

from whynear.utils.files import StrPath, write_data
from whynear.utils.text import harmless, printable

_SIGNED_NUMBER = re.compile(r"[-+](\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")  # such as the class -1: no formula


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as comma-separated values, none of which a spreadsheet evaluates as a formula."""
    safe = frame.copy()
    for name in safe.columns:
        safe[name] = [_safe(value) if isinstance(value, str) else value for value in safe[name]]
    return str(safe.rename(columns=lambda name: harmless(printable(str(name)))).to_csv(index=False))


def _safe(value: str) -> str:
    return value if _SIGNED_NUMBER.fullmatch(value) else harmless(value)


def write_csv(frame: pd.DataFrame, path: StrPath) -> None:
    """Write a table as comma-separated values, completely or not at all."""
    write_data(path, csv_text(frame))
