"""The accuracy-reject curve as a figure. It computes nothing, returns its axes and never shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whynear.utils.axes import new_axes, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.reject.curve import RejectCurve
    from whynear.reject.promise import Promise

FIRST_COVERAGE = 0.05  # before it, one error moves the line to the bottom
CURVE_COLOUR, PROMISE_COLOUR = "#1f5f8b", "#e08a1e"


def draw_curve(curve: RejectCurve, ax: Axes | None = None, promise: Promise | None = None) -> Axes:
    """Draw the accuracy of accepted cases over their share; a promise that is given as its coverage and accuracy."""
    from matplotlib.ticker import PercentFormatter

    ax = new_axes(5.6, 3.8) if ax is None else ax
    ax.step(curve.coverage, curve.accuracy, where="post", color=CURVE_COLOUR, linewidth=2)
    ax.plot(curve.coverage[-1], curve.accuracy[-1], "o", color=CURVE_COLOUR, markersize=5)
    if promise is not None and promise.given:
        ax.plot([0, promise.coverage], [promise.accuracy] * 2, color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
        ax.plot([promise.coverage] * 2, [0, promise.accuracy], color=PROMISE_COLOUR, linewidth=1.5, linestyle="--")
    lowest = float(curve.accuracy[curve.coverage >= FIRST_COVERAGE].min())
    if promise is not None and promise.given:
        lowest = min(lowest, promise.accuracy)
    ax.set(xlim=(0, 1.02), ylim=(max(0.0, lowest - 0.1 * (1 - lowest) - 0.005), 1.0 + 0.02 * (1 - lowest) + 0.0005))
    ax.xaxis.set_major_formatter(PercentFormatter(1.0))
    ax.yaxis.set_major_formatter(PercentFormatter(1.0))
    ax.set_xlabel("share of cases accepted, the most certain first")
    ax.set_ylabel("share of accepted cases right")
    tidy(ax, "both")
    return ax
