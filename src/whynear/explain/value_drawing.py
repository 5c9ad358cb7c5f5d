"""Figures of explanations of a measured target. They compute only sums, return their axes and never show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from whynear.explain.drawing import LEAST_SHARE_SHOWN, NEAREST, OTHER, no_formulas
from whynear.utils.axes import color_bar, new_axes, short_name, tidy
from whynear.utils.text import short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.explain.value_explanation import ValueExplanation


def draw_contributions(why: ValueExplanation, ax: Axes | None, most: int) -> Axes:
    """Draw a bar per feature from the mean prediction: to the right what raises it, to the left what lowers it."""
    ranked = why.ranked
    shown = ranked.head(_n_shown(ranked, most))
    labels, bars = [_with_value(why, name) for name in shown.index], shown.tolist()
    if n_others := len(ranked) - len(shown):
        labels.append(f"{n_others} other feature{'s' if n_others > 1 else ''}")
        bars.append(float(ranked.iloc[len(shown) :].sum()))
    ax = ax or new_axes(6.5, 1.5 + 0.3 * len(labels))
    for place, part in enumerate(bars):
        ax.barh(place, part, 0.7, linewidth=0.8, **(NEAREST if part >= 0 else OTHER))
        ax.annotate(
            f"{part:+.3g}".replace("-", "−"),
            (part, place),
            xytext=(4 if part >= 0 else -4, 0),
            textcoords="offset points",
            ha="left" if part >= 0 else "right",
            va="center",
            fontsize="small",
        )
    ax.axvline(0.0, color="0.35", linewidth=0.8)
    ax.margins(x=0.16)  # room for the numbers
    ax.set_yticks(np.arange(len(labels)), labels)
    no_formulas(*ax.get_yticklabels())
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel("added to the prediction, in units of the target")
    ax.xaxis.set_major_locator(MaxNLocator(6))
    tidy(ax, "x")
    start = f"the mean {_number(why.mean_prediction)}" if why.mean_prediction else "0"
    ax.set_title(
        f"predicted {_number(why.prediction)}: {start} plus what each feature adds", fontsize="small", loc="left"
    )
    return ax


def draw_value_neighbors(why: ValueExplanation, ax: Axes | None, most: int) -> Axes:
    """Draw a heat map of what each feature adds to the predictions of the case and of its nearest rows."""
    parts = pd.concat([why.contributions.to_frame().T, why.neighbor_contributions])
    sizes = parts.abs().max().sort_values(ascending=False, kind="stable")
    shown = list(sizes.index[: _n_shown(sizes, most)])
    cells = parts[shown].to_numpy().T
    ax = ax or new_axes(2.8 + 0.85 * cells.shape[1], 1.6 + 0.3 * len(shown))
    largest = float(np.abs(cells).max(initial=0.0)) or 1.0
    image = ax.pcolormesh(cells, cmap="RdBu_r", vmin=-largest, vmax=largest, edgecolors="white", linewidth=0.5)
    ax.invert_yaxis()
    for row, column in np.ndindex(*cells.shape):
        value = cells[row, column]
        text = f"{value:+.2g}".replace("-", "−") if abs(value) >= LEAST_SHARE_SHOWN * largest else "·"
        ax.text(column + 0.5, row + 0.5, text, ha="center", va="center", fontsize="x-small",
                color="white" if abs(value) > 0.6 * largest else "0.2")  # fmt: skip
    ax.set_yticks(np.arange(len(shown)) + 0.5, [short_name(str(name)) for name in shown])
    near = why.neighbors[[why.kind, "measured"]].itertuples(index=False)
    names = ["this case", *(f"{short_name(str(name))}\n{_number(measured)}" for name, measured in near)]
    ax.set_xticks(np.arange(cells.shape[1]) + 0.5, names, fontsize="small")
    ax.set_xlabel(f"nearest {why.kind}s: name and measured value")
    no_formulas(*ax.get_yticklabels(), *ax.get_xticklabels())
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    color_bar(image, ax).set_label("added to the prediction")
    return ax


def _n_shown(ranked: pd.Series[float], most: int) -> int:
    """Return how many of the features, largest first, are shown; a single remaining one is shown by name."""
    sizes = ranked.abs().to_numpy()
    n_shown = max(1, min(most, int(np.count_nonzero(sizes >= LEAST_SHARE_SHOWN * sizes.max(initial=0.0)))))
    return n_shown + 1 if n_shown == len(sizes) - 1 else n_shown


def _with_value(why: ValueExplanation, name: str) -> str:
    """Return the name of a feature, its value in the explained case, and its mean."""
    value, mean = why.values[name], why.mean_values[name]
    known = "missing" if pd.isna(value) else _number(value)
    return f"{short_name(str(name))} = {known}" + ("" if pd.isna(mean) else f" (mean {_number(mean)})")


def _number(value: object) -> str:
    return short_number(float(value)).replace("-", "−") if isinstance(value, float | np.floating) else str(value)
