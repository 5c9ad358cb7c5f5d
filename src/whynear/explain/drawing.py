"""Figures of explanations. They compute only sums, return their axes and never show them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from whynear.utils.axes import color_bar, new_axes, short_name, tidy
from whynear.utils.text import probability, short_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from whynear.explain.explanation import Explanation, NearCase
    from whynear.utils.arrays import Array

# All readers can distinguish the colours; hatch, marker and line style distinguish them in grey print.
NEAREST: dict[str, Any] = {"facecolor": "#1f5f8b", "edgecolor": "#1f5f8b", "hatch": None}
OTHER: dict[str, Any] = {"facecolor": "#fdf3e4", "edgecolor": "#e08a1e", "hatch": "////"}
COLORS = ("#1f5f8b", "#e08a1e", "#2e8b57", "#b03060", "#6a5acd", "#5b4636")
MARKERS = ("s", "o", "^", "D", "v", "X")
LINES: tuple[Any, ...] = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))
MOST_NEIGHBORS = 8  # columns of a heat map
LEAST_SHARE_SHOWN = 0.01  # of the longest bar; shorter ones are summed


def draw_explanation(explanation: Explanation, ax: Axes | None, most: int) -> Axes:
    """Draw two bars per feature: what it adds to the distances of the nearest case of the class and of any other."""
    cases = [(explanation.nearest, NEAREST)]
    if explanation.nearest_other is not None:
        cases.append((explanation.nearest_other, OTHER))
    parts = np.array([case.contributions.to_numpy() for case, _ in cases])
    shown = _most_contributing(parts, most)
    folded = np.delete(parts, shown, axis=1)
    labels = [_with_value(explanation, j) for j in shown]
    bars = parts[:, shown]
    if folded.size:
        bars = np.column_stack([bars, folded.sum(axis=1)])
        labels.append(f"{folded.shape[1]} other feature{'s' if folded.shape[1] > 1 else ''}")
    ax = ax or new_axes(6.5, 1.5 + 0.34 * len(labels))
    height = 0.8 / len(cases)
    for k, (case, look) in enumerate(cases):
        places = np.arange(len(labels)) + (k - (len(cases) - 1) / 2) * height
        ax.barh(places, bars[k], 0.9 * height, linewidth=0.8, label=_case_label(case, k == 0), **look)
    ax.axvline(0.0, color="0.35", linewidth=0.8)
    ax.set_yticks(np.arange(len(labels)), labels)
    no_formulas(*ax.get_yticklabels())
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel("contribution to the squared distance d²")
    ax.xaxis.set_major_locator(MaxNLocator(6))
    tidy(ax, "x")
    chance = explanation.probabilities.loc[explanation.prediction]
    title = f"predicted: {short_name(str(explanation.prediction))} (probability {probability(chance)})"
    _legend_above(ax, 1, title, side="right")  # it may be wider than the axes, and there is room on the left
    return ax


def draw_neighbors(explanation: Explanation, ax: Axes | None, most: int) -> Axes:
    """Draw a heat map of what each feature adds to the squared distance of each case that votes."""
    neighbors = explanation.neighbors.head(MOST_NEIGHBORS)
    parts = explanation.contributions.to_numpy()[: len(neighbors)]
    shown = _most_contributing(parts, most)
    cells = parts[:, shown].T
    ax = ax or new_axes(2.6 + 0.75 * len(neighbors), 1.4 + 0.3 * len(shown))
    largest = float(np.abs(cells).max(initial=0.0)) or 1.0
    signed = bool((cells < -LEAST_SHARE_SHOWN * largest).any())
    scale: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest} if signed else {"cmap": "Blues", "vmin": 0.0}
    image = ax.pcolormesh(cells, vmax=largest, edgecolors="white", linewidth=0.5, **scale)
    ax.invert_yaxis()
    for row, column in np.ndindex(*cells.shape):
        strong = abs(cells[row, column]) > 0.6 * largest
        shown_as = f"{cells[row, column]:.2g}" if abs(cells[row, column]) >= LEAST_SHARE_SHOWN * largest else "·"
        ax.text(column + 0.5, row + 0.5, shown_as, ha="center", va="center", fontsize="x-small",
                color="white" if strong else "0.2")  # fmt: skip
    ax.set_yticks(np.arange(len(shown)) + 0.5, [short_name(str(explanation.values.index[j])) for j in shown])
    names = [
        f"{short_name(str(name))}\n{short_name(str(label))}\n{distance:.2g}"
        for name, label, distance in neighbors[[explanation.nearest.kind, "label", "distance"]].itertuples(index=False)
    ]
    ax.set_xticks(np.arange(len(neighbors)) + 0.5, names, fontsize="small")
    ax.set_xlabel(f"{explanation.nearest.kind}s that vote: name, class and distance")
    no_formulas(*ax.get_yticklabels(), *ax.get_xticklabels())
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    color_bar(image, ax).set_label("contribution to d²")
    return ax


def draw_profiles(profiles: pd.DataFrame, ax: Axes | None, most: int) -> Axes:
    """Draw marks, lines or a heat map, depending on the numbers of features and classes."""
    if profiles.shape[1] > len(COLORS):
        return _draw_map(profiles, ax, most)
    return _draw_along(profiles, ax) if len(profiles) > most else _draw_marks(profiles, ax)


def _draw_marks(profiles: pd.DataFrame, ax: Axes | None) -> Axes:
    ranked = _ranked(profiles)
    if (ranked.nunique(axis=1) == 1).all():
        ranked = ranked.iloc[:, :1].set_axis(["all alike"], axis=1)
    values, places = ranked.to_numpy(), np.arange(len(ranked))
    ax = ax or new_axes(6.5, 1.6 + 0.26 * len(ranked))
    ax.hlines(places, values.min(axis=1), values.max(axis=1), color="0.75", linewidth=1.2)
    for k, label in enumerate(ranked.columns):
        look: dict[str, Any] = {"color": COLORS[k], "markerfacecolor": "none" if k % 2 else COLORS[k], "markersize": 6}
        ax.plot(values[:, k], places, MARKERS[k], clip_on=False, label=short_name(str(label)), **look)
    ax.set_yticks(places, [short_name(str(name)) for name in ranked.index])
    no_formulas(*ax.get_yticklabels())
    ax.set_ylim(len(ranked) - 0.4, -0.6)
    ax.set_xlim(left=0.0)
    ax.set_xlabel("mean relevance (share)")
    tidy(ax, "both")
    _legend_above(ax, ncols=3, title=_axis_name(profiles))
    return ax


def _draw_along(profiles: pd.DataFrame, ax: Axes | None) -> Axes:
    ax = ax or new_axes(8, 3.4)
    places = np.arange(1, len(profiles) + 1)
    for k, label in enumerate(profiles.columns):
        look = {"color": COLORS[k], "linestyle": LINES[k]}
        ax.plot(places, profiles.iloc[:, k], linewidth=1.2, label=short_name(str(label)), **look)
    ax.set_xlim(1, len(places))
    ax.set_ylim(bottom=0.0)
    ax.set_xlabel("feature, in the order of the table")
    ax.set_ylabel("mean relevance (share)")
    tidy(ax, "y")
    _legend_above(ax, ncols=3, title=_axis_name(profiles))
    return ax


def _draw_map(profiles: pd.DataFrame, ax: Axes | None, most: int) -> Axes:
    """Draw a heat map, dark where a feature matters; its single hue is readable in grey print."""
    named = len(profiles) <= most
    shown = _ranked(profiles) if named else profiles
    labels = [short_name(str(label)) for label in shown.columns]
    long = max(map(len, labels)) > 3
    if ax is None:
        height = 1.4 + 0.24 * len(shown) if named else 5.0
        ax = new_axes(min(3.4 + 0.28 * len(labels), 12), height + (0.08 * max(map(len, labels)) if long else 0.0))
    extent = (-0.5, len(labels) - 0.5, len(shown) + 0.5, 0.5)  # features are counted from one
    image = ax.imshow(shown.to_numpy(), aspect="auto", cmap="Blues", vmin=0.0, interpolation="nearest", extent=extent)
    ax.set_xticks(np.arange(len(labels)), labels, rotation=90 if long else 0)
    ax.set_xlabel(_axis_name(profiles))
    if named:
        ax.set_yticks(np.arange(1, len(shown) + 1), [short_name(str(name)) for name in shown.index])
    else:
        ax.set_ylabel("feature, in the order of the table")
    no_formulas(*ax.get_xticklabels(), *ax.get_yticklabels(), ax.xaxis.label)
    ax.figure.colorbar(image, ax=ax, label="mean relevance (share)")
    return ax


def _most_contributing(parts: Array, most: int) -> list[int]:
    """Return the features that add most to any of the distances, by how much more they add to the other case."""
    size = np.abs(parts).max(axis=0)
    n_shown = max(1, min(most, np.count_nonzero(size >= LEAST_SHARE_SHOWN * size.max())))
    if n_shown == len(size) - 1:
        n_shown += 1  # a single remaining feature is shown by name
    kept = np.argsort(-size, kind="stable")[:n_shown]
    gap = parts[-1] - parts[0] if len(parts) > 1 else parts[0]
    return sorted(kept.tolist(), key=lambda j: (-gap[j], j))


def _ranked(profiles: pd.DataFrame) -> pd.DataFrame:
    order = np.argsort(-profiles.to_numpy().mean(axis=1), kind="stable")
    return profiles.iloc[order]


def _with_value(explanation: Explanation, j: int) -> str:
    """Return the name of a feature and its value in the explained case."""
    value = explanation.values.iloc[j]
    known = short_number(float(value)).replace("-", "−") if isinstance(value, float | np.floating) else str(value)
    return f"{short_name(str(explanation.values.index[j]))} = {known if pd.notna(value) else 'missing'}"


def _case_label(case: NearCase, predicted: bool) -> str:
    which = "nearest of this class" if predicted else "nearest of another"
    return (
        f"{which}: {short_name(str(case.label))}, {case.kind} {short_name(str(case.name))}, d² = {case.sq_distance:.3g}"
    )


def _axis_name(profiles: pd.DataFrame) -> str:
    return str(profiles.columns.name or "class")


def _legend_above(ax: Axes, ncols: int, title: str, side: Literal["left", "right"] = "left") -> None:
    """Put a legend above the axes, where it covers nothing."""
    legend = ax.legend(
        loc="lower left" if side == "left" else "lower right",
        bbox_to_anchor=(0.0 if side == "left" else 1.0, 1.0),
        ncols=ncols,
        frameon=False,
        fontsize="small",
        title=title,
        title_fontsize="small",
        alignment="left",
    )
    no_formulas(legend.get_title(), *legend.get_texts())


def no_formulas(*texts: Any) -> None:
    """Show texts as they are: a name with dollar signs is no formula."""
    for text in texts:
        text.set_parse_math(False)
