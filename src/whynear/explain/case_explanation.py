"""What all explanations share: their protocol, the values they show and the pieces of figures."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.axes import color_bar, short_name, tidy
from whynear.utils.files import StrPath, write_data
from whynear.utils.text import short_number

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

MOST_UNUSUAL_NAMED = 3
MOST_FEATURES_NAMED = 3  # in ``repr``
LEAST_SHARE_NAMED = 0.05  # of the largest part, in ``repr``
LEAST_SHARE_SHOWN = 0.01  # of the largest part, in a figure or a notebook; smaller ones are summed
# All readers can distinguish the colours; the hatch distinguishes them in grey print.
NEAREST: dict[str, Any] = {"facecolor": "#1f5f8b", "edgecolor": "#1f5f8b", "hatch": None}
OTHER: dict[str, Any] = {"facecolor": "#fdf3e4", "edgecolor": "#e08a1e", "hatch": "////"}


class CaseExplanation(ByValue):
    """Why a learner predicts a class or a number for one case: by near cases, or for a linear map by its features.

    All explanations have these attributes, and ``frame()``, ``plot()``, ``plot_neighbors()``, ``summary()`` and
    ``to_dict()``.
    """

    SUMMARY: ClassVar[tuple[str, ...]]

    prediction: Any
    values: pd.Series[Any]
    neighbors: pd.DataFrame
    neighbor_values: pd.DataFrame
    coordinates: Literal["columns", "steps"]
    unusual: tuple[UnusualValue, ...]
    interval: tuple[float, float] | None

    @property
    def kind(self) -> str:
        """What the neighbours are called: rows with a name, prototypes, or cases."""
        return str(self.neighbors.columns[0])

    @property
    def of_numbers(self) -> bool:
        """Whether a number is predicted, not a class."""
        return "measured" in self.neighbors

    @property
    def summary_names(self) -> tuple[str, ...]:
        """The names of what ``summary`` returns."""
        return self.SUMMARY

    @property
    def facts(self) -> list[str]:
        """The columns of ``neighbors`` that are shown, the name first."""
        wanted = ("nearest_row", "label", "measured", "predicted", "distance", "vote")
        return [self.kind, *(name for name in wanted if name in self.neighbors)]

    @property
    def sides(self) -> list[tuple[pd.Series[float], pd.Series[Any]]]:
        """What each feature adds to the distance of a near case, or to the prediction, and the values it stems from."""
        raise NotImplementedError

    @property
    def distance_shares(self) -> pd.DataFrame:
        """What each feature adds to the squared distance of each neighbour; a row sums to that distance."""
        raise NotImplementedError

    @property
    def neighbor_parts(self) -> pd.DataFrame:
        """What is shown of each neighbour and feature."""
        return self.distance_shares

    @property
    def most_shown(self) -> Indices:
        """The places of the features, from the one that is shown first beside the neighbours."""
        return ranked_places(self.neighbor_parts.abs().sum())

    @property
    def remark(self) -> str:
        """What the rows that are not listed add to the prediction; empty where all are listed."""
        return ""

    def __repr__(self) -> str:
        return with_caution(self._reason(), self.unusual)

    def _repr_html_(self) -> str:
        reason = repr(self)
        return html.block(html.heading(reason[:1].upper() + reason[1:]), *self._tables())

    def _reason(self) -> str:
        """Return the explanation in a sentence, without its full stop."""
        raise NotImplementedError

    def _predicted(self, start: float, called: str) -> str:
        """Return a predicted number, its interval, and its difference from another one."""
        difference = self.prediction - start
        side = "above" if difference >= 0 else "below"
        return f"predicted {self._number}, {short_number(abs(difference), 3)} {side} {called}"

    @property
    def _number(self) -> str:
        around = "" if self.interval is None else " (90% interval {} to {})".format(*map(short_number, self.interval))
        return f"{short_number(self.prediction)}{around}"

    def _near(self) -> str:
        """Return what was measured in the nearest rows."""
        measured = self.neighbors["measured"]
        if not len(measured):
            return ""
        if len(measured) == 1:
            return f"; the nearest {self.kind} measured {short_number(measured.iloc[0])}"
        equal = int((self.neighbors["distance"] == 0).sum())
        nearest = f"the {len(measured)} nearest {self.kind}s" + (f" ({equal} at distance 0)" if equal else "")
        least, most, mean = map(short_number, (measured.min(), measured.max(), measured.mean()))
        return f"; {nearest} measured {least} to {most}, on average {mean}"

    def _neighbor_records(self, **tables: pd.DataFrame) -> list[dict[str, Any]]:
        """Return the facts of each neighbour, with its values and its rows of other tables."""
        tables = {"values": self.neighbor_values, **tables}
        rows = zip(*(table.to_numpy().tolist() for table in tables.values()), strict=True)
        facts: list[dict[Any, Any]] = self.neighbors.to_dict("records")
        return [{**one, **dict(zip(tables, parts, strict=True))} for one, parts in zip(facts, rows, strict=True)]

    def _tables(self) -> list[Markup]:
        """Return the neighbours and the features as tables of a notebook."""
        raise NotImplementedError

    def plot(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what the ``most`` features that matter most add, and the sum of all others."""
        raise NotImplementedError


def ranked_places(sizes: ArrayLike) -> Indices:
    """Return the places of sizes, the largest first, equal ones in their order."""
    return np.argsort(-np.asarray(sizes, dtype=np.float64), kind="stable")


def with_caution(reason: str, unusual: tuple[UnusualValue, ...]) -> str:
    """Return the reason of a prediction, followed by the unusual values behind it, if there are any."""
    if not unusual:
        return reason
    more = len(unusual) - MOST_UNUSUAL_NAMED
    named = [str(value) for value in unusual[:MOST_UNUSUAL_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return f"{reason}. Caution, it rests on {' and on '.join(named)}"


def by_feature(columns: dict[str, Any]) -> pd.DataFrame:
    """Return a table with a row per feature."""
    return pd.DataFrame(columns).rename_axis("feature").reset_index()


# The values that are shown


def shown_values(row: pd.DataFrame) -> list[Any]:
    """Return the values of a case, None for missing ones; a value of another kind, such as a list, stays."""
    return [None if pd.api.types.is_scalar(value) and pd.isna(value) else value for value in row.iloc[0]]


def values_of_cases(model: FittedPipeline, cases: Array, numbers: Indices) -> Array:
    """Return training cases by number, in the units of the columns made; NaN where their rows lack a value."""
    values = model.values(cases[numbers])
    gaps = getattr(model.learner, "row_gaps_", None)
    if gaps is not None and model.coordinates == "columns":
        for own, number in zip(values, numbers, strict=True):
            lacking = [model.columns[place] for place in gaps[gaps[:, 0] == number, 1]]
            own[np.isin(model.sources, lacking)] = np.nan
    return values


def interval_around(prediction: float, learner: Any) -> tuple[float, float] | None:
    """Return the 90% interval of a predicted number; None where the learner has no errors of held-out rows."""
    errors = getattr(learner, "error_interval_", None)
    return None if errors is None else (prediction + float(errors[0]), prediction + float(errors[1]))


# Figures compute only sums, return their axes and never show them


def n_shown(sizes: NDArray[np.floating[Any]], most: int) -> int:
    """Return how many features are shown, the largest first; a single remaining one is shown by name."""
    number = max(1, min(most, int(np.count_nonzero(sizes >= LEAST_SHARE_SHOWN * sizes.max(initial=0.0)))))
    return number + 1 if number == len(sizes) - 1 else number


def number_text(value: object) -> str:
    """Return a value as a figure shows it."""
    return short_number(float(value)).replace("-", "−") if isinstance(value, float | np.floating) else str(value)


def value_label(name: object, value: Any, mean: Any = None) -> str:
    """Return the name of a feature, its value in the explained case, and its mean if there is one."""
    known = "missing" if pd.isna(value) else number_text(value)
    return f"{short_name(str(name))} = {known}" + ("" if pd.isna(mean) else f" (mean {number_text(mean)})")


def others_label(count: int) -> str:
    """Return the name of the sum of the features that are not shown."""
    return f"{count} other feature{'s' if count > 1 else ''}"


def finish_bars(ax: Axes, labels: list[str], adds: str) -> None:
    """Name the bars, from the top, and what they add; draw a line at zero."""
    from matplotlib.ticker import MaxNLocator

    ax.axvline(0.0, color="0.35", linewidth=0.8)
    ax.set_yticks(np.arange(len(labels)), labels)
    no_formulas(*ax.get_yticklabels())
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.set_xlabel(adds)
    ax.xaxis.set_major_locator(MaxNLocator(6))
    tidy(ax, "x")


def heat_map(
    ax: Axes,
    cells: Array,
    features: list[object],
    cases: list[str],
    labels: tuple[str, str],
    text: Callable[[float], str],
    signed: bool = False,
) -> Axes:
    """Draw a line per feature and a column per case; ``labels`` are those of the cases and of what a feature adds.

    Colours have a zero in their middle if ``signed``, or if a number is negative.
    """
    largest = float(np.abs(cells).max(initial=0.0)) or 1.0
    signed = signed or bool((cells < -LEAST_SHARE_SHOWN * largest).any())
    scale: dict[str, Any] = {"cmap": "RdBu_r", "vmin": -largest} if signed else {"cmap": "Blues", "vmin": 0.0}
    image = ax.pcolormesh(cells, vmax=largest, edgecolors="white", linewidth=0.5, **scale)
    ax.invert_yaxis()
    for (row, column), part in np.ndenumerate(cells):
        shown = text(part) if abs(part) >= LEAST_SHARE_SHOWN * largest else "·"
        color = "white" if abs(part) > 0.6 * largest else "0.2"
        ax.text(column + 0.5, row + 0.5, shown, ha="center", va="center", fontsize="x-small", color=color)
    ax.set_yticks(np.arange(len(features)) + 0.5, [short_name(str(name)) for name in features])
    ax.set_xticks(np.arange(len(cases)) + 0.5, cases, fontsize="small")
    ax.set_xlabel(labels[0])
    no_formulas(*ax.get_yticklabels(), *ax.get_xticklabels())
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    color_bar(image, ax).set_label(labels[1])
    return ax


def legend_above(ax: Axes, ncols: int, title: str, side: Literal["left", "right"] = "left") -> None:
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


def write_figure(why: CaseExplanation, path: StrPath, most: int = 10) -> None:
    """Draw an explanation without a display, and write it as .svg, .png or .pdf, completely or not at all."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.5, 1.8 + 0.34 * min(len(why.values), most + 1)), layout="constrained")
    why.plot(figure.add_subplot(), most=most)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=Path(path).suffix.lower().removeprefix("."), bbox_inches="tight", dpi=150)
    write_data(path, buffer.getvalue())
