"""Many rows of a table as bytes, which a page reads without parsing: where each lies, its target and its name."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.report.plain_numbers import short
from whynear.study.maps import PlacedRows
from whynear.utils.text import printable

MOST_IN_REPORT = 15_000  # beside the cases; a canvas draws as many quickly, and the report stays small
STEPS = 65_535
DIGITS = 6


def others_data(others: PlacedRows | None, classes: Sequence[str]) -> dict[str, Any] | None:
    """Return a sample of the other rows for a page: how many there are, and the rows as base64."""
    if others is None:
        return None
    some = others.some(MOST_IN_REPORT)
    packed = base64.b64encode(packed_rows(some, classes)).decode()
    return {"total": others.n_all, "count": len(some.names), "packed": packed}


def packed_rows(others: PlacedRows, classes: Sequence[str]) -> bytes:
    """Return rows as bytes in little-endian order.

    First the length of a header in bytes (uint32), then the header as JSON: ``count``; ``maps``, for ``before`` and
    ``after`` the least and the most of both coordinates; ``values``, the least and the most measured value, or null for
    classes; ``names``, "numbers" or "text". Then an array per coordinate (uint16, from 0 for the least to 65535 for the
    most; x and y before learning, x and y after), the class (uint16, a position in ``classes``) or measured value (as a
    coordinate), and the names: int32, or text with a line each. Each array starts at a multiple of four bytes.
    """
    columns = [others.maps[name][:, axis] for name in ("before", "after") for axis in (0, 1)]
    ends = [_ends(column) for column in columns]
    parts = [_steps(column) for column in columns]
    values = None if classes else _ends(others.true)
    parts.append(_codes(others.true, classes) if classes else _steps(others.true))
    kind, names = _names(others.names)
    header = {
        "count": len(others.names),
        "maps": {"before": ends[:2], "after": ends[2:]},
        "values": values,
        "names": kind,
    }
    first = _padded(json.dumps(header).encode(), b" ")
    arrays = (_padded(part.tobytes()) for part in parts)
    return b"".join([len(first).to_bytes(4, "little"), first, *arrays, names])


def _padded(content: bytes, filling: bytes = b"\0") -> bytes:
    return content + filling * (-len(content) % 4)


def _ends(values: NDArray[Any]) -> list[Any]:
    return [short(values.min(), DIGITS), short(values.max(), DIGITS)]


def _steps(values: NDArray[Any]) -> NDArray[np.uint16]:
    least, span = values.min(), np.ptp(values)
    return np.round((values - least) * (STEPS / span if span else 0.0)).astype("<u2")


def _codes(classes_of_rows: NDArray[Any], classes: Sequence[str]) -> NDArray[np.uint16]:
    found, codes = np.unique(classes_of_rows.astype(str), return_inverse=True)
    places = {name: place for place, name in enumerate(classes)}
    return np.array([places[str(name)] for name in found], dtype="<u2")[codes]


def _names(names: pd.Index) -> tuple[str, bytes]:
    if names.dtype.kind in "iu" and len(names) and names.min() >= -(2**31) and names.max() < 2**31:
        return "numbers", names.to_numpy().astype("<i4").tobytes()
    return "text", "\n".join(printable(str(name)) for name in names).encode()
