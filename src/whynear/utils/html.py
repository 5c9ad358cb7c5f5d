"""Pieces of HTML in which notebooks show results.

They take the colours of text and background from the page, light or dark, have no scripts and no ids, and load nothing.
Everything that is not `Markup` is escaped, because names come from any table. A number stands beside every bar, for
pages that remove styles.
"""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from markupsafe import Markup, escape
from numpy.typing import ArrayLike

from whynear.utils.arrays import Array
from whynear.utils.axes import short_name
from whynear.utils.text import printable

MOST_ROWS = 15  # of a table
LONGEST_TEXT = 1_500  # characters of a paragraph

# Of medium lightness, so that they are visible on white and on black; stripes distinguish them in grey print.
BLUE, ORANGE, GREY, RED = "#2f80b8", "#c9741a", "#85898d", "#c0507a"
FILLS = {
    "strong": f"linear-gradient({BLUE},{BLUE})",
    "weak": f"repeating-linear-gradient(135deg,{ORANGE} 0 2px,rgba(201,116,26,.4) 2px 4px)",
    "irrelevant": f"linear-gradient({GREY},{GREY})",
    "unknown": f"linear-gradient({RED},{RED})",
}
_TABLE = "border-collapse:collapse;border:0;margin:.3em 0 .6em;font-size:inherit;font-variant-numeric:tabular-nums"
_ROW = "background:none;border-bottom:1px solid rgba(128,128,128,.3)"


def block(*parts: str) -> Markup:
    """Return the parts one below the other; plain text becomes a paragraph."""
    inner = Markup("").join(part if isinstance(part, Markup) else note(part) for part in parts if part)
    return Markup('<div style="overflow-x:auto;font-size:13px;line-height:1.45">{}</div>').format(inner)


def heading(content: str) -> Markup:
    """Return a heading."""
    return Markup('<div style="font-weight:600;margin:.2em 0 .3em;max-width:60em">{}</div>').format(text(content))


def note(content: str) -> Markup:
    """Return a paragraph."""
    return Markup('<div style="margin:.2em 0;max-width:60em;opacity:.85">{}</div>').format(text(content))


def text(content: str, most: int = LONGEST_TEXT) -> Markup:
    """Return the first ``most`` characters of a text, printable and escaped."""
    shown = printable(content)
    return escape(shown if len(shown) <= most else f"{shown[: most - 1]}…")


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], more: str = "") -> Markup:
    """Return rows of text, numbers and bars under their headings, and a line ``more`` on what is left out.

    >>> "&lt;b&gt;" in table(["feature", "weight"], [("<b>", 0.25)])
    True
    """
    cells = [list(row) for row in rows]
    first = cells[0] if cells else [""] * len(columns)
    head = Markup("").join(_cell("th", name, _is_number(value)) for name, value in zip(columns, first, strict=True))
    lines = (Markup("").join(_cell("td", value, _is_number(value)) for value in row) for row in cells)
    body = Markup("").join(Markup('<tr style="{}">{}</tr>').format(_ROW, line) for line in lines)
    frame = '<table style="{}"><thead><tr style="{}">{}</tr></thead><tbody>{}</tbody></table>'
    return Markup(frame).format(_TABLE, _ROW, head, body) + (note(more) if more else "")


def bar(
    start: float,
    stop: float,
    within: tuple[float, float],
    look: str = "strong",
    mark: float | None = None,
    width: int = 150,
) -> Markup:
    """Return a bar from start to stop on a track for the range ``within``, with a line at a mark; `FILLS` has its look.

    It is one element with layers of background, which notebooks that sanitize HTML keep.
    """
    layers = [] if mark is None else [_layer("linear-gradient(currentColor,currentColor)", mark, mark, within, "1px")]
    if np.isfinite([start, stop]).all() and (start or stop):
        layers.append(_layer(FILLS[look], min(start, stop), max(start, stop), within))
    background = ",".join([*filter(None, layers), "rgba(128,128,128,.14)"])
    box = f"display:inline-block;width:{width}px;height:.75em;vertical-align:middle;print-color-adjust:exact"
    return Markup('<span style="{};background:{}"></span>').format(box, background)


def largest_shares(names: Sequence[str], shares: Array) -> Markup:
    """Return a table of the features with the largest shares, and the total share of the others."""
    order = np.argsort(-shares, kind="stable")[:MOST_ROWS]
    within = (0.0, float(shares.max(initial=0.0)))
    rows = [(names[j], bar(0.0, float(shares[j]), within), in_percent(float(shares[j]))) for j in order]
    left = in_percent(max(0.0, float(shares.sum() - shares[order].sum())))
    more = more_of(len(names), len(rows), "feature")
    return table(["feature", "share of relevance", ""], rows, more and f"{more} with {left} together")


def curve(lines: Mapping[str, Array], places: Array, mark: float, across: str) -> Markup:
    """Draw one or two lines over the same places, one solid and one dashed, with a dotted line at a mark."""
    width, height, left, bottom = 420.0, 130.0, 44.0, 16.0
    values = np.concatenate(list(lines.values()))
    low, high = float(values.min()), float(values.max())
    x = _scaled(places, float(places.min()), float(places.max()), left, width - 6)
    at = float(np.interp(mark, places, x))
    parts = [_stroke(f"M{at:.1f},6V{height - bottom:.1f}", "currentColor", "1 3")]
    for (name, heights), color, dash, row in zip(lines.items(), (BLUE, ORANGE), ("none", "5 3"), (0, 1), strict=False):
        y = _scaled(heights, low, high, height - bottom - 4, 8)
        points = "L".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
        parts.append(_stroke(f"M{points}", color, dash))
        parts += [_label(width - 10, 16 + 14 * row, name, "end", color)]
    for number, y_label in zip(rounded([high, low]), (14, height - bottom), strict=True):
        parts.append(_label(left - 6, y_label, _number(number), "end"))
    parts += [_label(left, height - 3, _number(places.min())), _label(width - 6, height - 3, across, "end")]
    style = "display:block;max-width:100%;overflow:visible"
    frame = (
        '<svg viewBox="0 0 {0:g} {1:g}" width="{0:g}" height="{1:g}" role="img" aria-label="{2}" style="{3}">{4}</svg>'
    )
    return Markup(frame).format(width, height, " and ".join(lines), style, Markup("").join(parts))


def more_of(total: int, shown: int, what: str) -> str:
    """Return how many are left out, as text; empty if none are.

    >>> more_of(7_129, 15, "feature"), more_of(3, 2, "case"), more_of(2, 2, "case")
    ('and 7,114 more features', 'and 1 more case', '')
    """
    left = total - shown
    return f"and {left:,} more {what}{'s' if left > 1 else ''}" if left > 0 else ""


def rounded(values: ArrayLike) -> Array:
    """Return numbers rounded alike, to four digits of the largest.

    >>> rounded([12.3456, 0.1234, 1e-9]).tolist()
    [12.35, 0.12, 0.0]
    """
    numbers = np.asarray(values, dtype=np.float64)
    largest = np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)
    return np.round(numbers, 3 - int(np.floor(np.log10(largest)))) if largest > 0 else numbers


def in_percent(share: float) -> str:
    """Return a share as text in percent.

    >>> in_percent(0.125), in_percent(0.00004)
    ('12.5%', '< 0.1%')
    """
    return "< 0.1%" if 0 < share < 0.0005 else f"{100 * share:.1f}%"


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _number(value: Any) -> str:
    if isinstance(value, Integral) or (np.isfinite(value) and value == round(value) and abs(value) < 1e6):
        return f"{int(value):,}".replace("-", "−")
    if not np.isfinite(value):
        return "–" if np.isnan(value) else str(value)
    return (f"{value:,.0f}" if 1e3 <= abs(value) < 1e6 else f"{value:.3g}").replace("-", "−")


def _cell(tag: str, value: Any, right: bool) -> Markup:
    style = f"text-align:{'right' if right else 'left'};padding:2px 12px 2px 0;border:0"
    if not isinstance(value, Markup):
        value = _number(value) if _is_number(value) else short_name(printable(str(value)))
    return Markup('<{0} style="{1}">{2}</{0}>').format(Markup(tag), style, value)


def _layer(image: str, start: float, stop: float, within: tuple[float, float], least: str = "2px") -> str:
    """Return a background that fills the part from start to stop of the range ``within``."""
    low, high = within
    if not (np.isfinite([start, stop, low, high]).all() and high > low):
        return ""
    first, last = np.clip([(start - low) / (high - low), (stop - low) / (high - low)], 0.0, 1.0)
    size = float(last - first)
    # CSS states a position as a percentage of the width that the layer leaves free.
    place = 100 * float(first) / (1 - size) if size < 1 else 0.0
    return f"{image} {place:.1f}% 0/max({least},{100 * size:.1f}%) 100% no-repeat"


def _scaled(values: Array, low: float, high: float, first: float, last: float) -> Array:
    return first + (values - low) * ((last - first) / (high - low if high > low else 1.0))


def _stroke(path: str, color: str, dash: str) -> Markup:
    return Markup('<path d="{}" fill="none" stroke="{}" stroke-width="1.6" stroke-dasharray="{}"/>').format(
        path, color, dash
    )


def _label(x: float, y: float, text: str, anchor: str = "start", color: str = "currentColor") -> Markup:
    frame = '<text x="{:.1f}" y="{:.1f}" text-anchor="{}" fill="{}" font-size="11" font-family="sans-serif">{}</text>'
    return Markup(frame).format(x, y, anchor, color, printable(text))
