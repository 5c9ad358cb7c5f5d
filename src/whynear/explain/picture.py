"""The figure of an explanation written to a file."""

from __future__ import annotations

import io
from pathlib import Path

from whynear.explain.explanation import Explanation
from whynear.explain.value_explanation import ValueExplanation
from whynear.utils.files import StrPath, write_data

MOST_FEATURES_SHOWN = 10


def write_picture(why: Explanation | ValueExplanation, path: StrPath, most: int = MOST_FEATURES_SHOWN) -> None:
    """Draw an explanation without a display, and write it as .svg, .png or .pdf, completely or not at all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 1.8 + 0.34 * min(len(why.values), most + 1)), layout="constrained")
    why.plot(figure.add_subplot(), most=most)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    write_data(path, buffer.getvalue())
