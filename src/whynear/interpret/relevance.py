"""Relevance intervals as a value: their figure, and which features can replace which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from whynear.interpret import programs
from whynear.interpret.null_space import restated
from whynear.metric import LinearMetric, Metric
from whynear.metric.steps import Units
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue
from whynear.utils.axes import new_axes, short_name, tidy
from whynear.utils.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch


# Blue and orange differ for all kinds of colour vision; fill, hatch and marker differ in grey print.
STYLES: dict[str, dict[str, Any]] = {
    "strong": {"color": "#1f5f8b", "marker": "s", "hatch": None},
    "weak": {"color": "#e08a1e", "marker": "o", "hatch": "////"},
    "irrelevant": {"color": "#9aa3ab", "marker": "|", "hatch": None},
    "unknown": {"color": "#b03060", "marker": "x", "hatch": None},
}
FLOOR: dict[str, Any] = {"color": "0.35", "linestyle": ":", "linewidth": 1}


def _draw_lines(relevance: Relevance, ax: Axes) -> Axes:
    from matplotlib.lines import Line2D

    order = np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower))[::-1]
    for place, j in enumerate(order):
        style = STYLES[str(relevance.strength[j])]
        lower, upper = relevance.lower[j], relevance.upper[j]
        if style["hatch"]:
            look = {"fill": False, "edgecolor": style["color"], "hatch": style["hatch"], "gid": f"feature-{j}-body"}
            ax.barh(place, upper - lower, left=lower, height=0.5, **look)
        else:
            body = {"color": style["color"], "linewidth": 5, "solid_capstyle": "butt", "gid": f"feature-{j}-body"}
            ax.plot([lower, upper], [place, place], **body)
        ends = {"color": style["color"], "markersize": 6, "clip_on": False, "zorder": 3, "gid": f"feature-{j}-ends"}
        ax.plot([lower, upper], [place, place], style["marker"], **ends)
    ax.set_yticks(np.arange(len(order)), [short_name(relevance.feature_names[j]) for j in order])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(order) - 0.3)
    ax.set_xlim(left=0.0)
    ax.axvline(relevance.threshold, **FLOOR)
    ax.set_xlabel(f"relevance interval ({relevance.units})")
    tidy(ax, "x")
    handles = [_handle(kind) for kind in STYLES if (relevance.strength == kind).any()]
    _legend(ax, [*handles, Line2D([], [], label="floor", **FLOOR)])
    return ax


def _draw_along(relevance: Relevance, ax: Axes) -> Axes:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    place = np.arange(1, len(relevance.upper) + 1)
    ax.patch.set_gid("all-features")
    # The edges keep a single feature visible among thousands.
    can = {"facecolor": "#f3c98b", "edgecolor": STYLES["weak"]["color"], "hatch": STYLES["weak"]["hatch"]}
    must = {"facecolor": STYLES["strong"]["color"], "edgecolor": STYLES["strong"]["color"]}
    ax.fill_between(place, relevance.lower, relevance.upper, step="mid", linewidth=0.6, **can)
    ax.fill_between(place, 0, relevance.lower, step="mid", linewidth=0.6, **must)
    handles: list[Line2D | Patch]
    handles = [
        Patch(label="must matter (lower bound)", **must),
        Patch(label="can matter (upper bound)", **can),
        Line2D([], [], label="floor", **FLOOR),
    ]
    unknown = relevance.strength == "unknown"
    if unknown.any():
        style = STYLES["unknown"]
        ax.plot(place[unknown], np.zeros(unknown.sum()), style["marker"], color=style["color"], clip_on=False, zorder=3)
        handles.append(Line2D([], [], linestyle="", marker=style["marker"], color=style["color"], label="unknown"))
    ax.axhline(relevance.threshold, **FLOOR)
    ax.set_xlim(0.5, len(place) + 0.5)
    ax.set_ylim(bottom=0)
    ax.set_xlabel("feature, in the order of the table")
    ax.set_ylabel(f"relevance ({relevance.units})")
    tidy(ax, "y")
    _legend(ax, handles)
    return ax


def _handle(kind: str) -> Line2D | Patch:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    style = STYLES[kind]
    if style["hatch"]:
        return Patch(fill=False, edgecolor=style["color"], hatch=style["hatch"], label="weak: can be replaced")
    text = {"strong": "strong: must matter"}.get(kind, kind)
    return Line2D([], [], color=style["color"], marker=style["marker"], linewidth=4, label=text)


def _legend(ax: Axes, handles: list[Line2D | Patch]) -> None:
    """Put the legend above the axes, where it covers no interval."""
    ax.legend(
        handles=handles,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=3 if len(handles) == 5 else len(handles) if len(handles) < 4 else 2,
        frameon=False,
        fontsize="small",
    )


STRENGTHS = ("strong", "weak", "irrelevant", "unknown")
ROUNDING = 1e-9  # of the largest upper bound
MOST_EXAMINED = 50  # weak features, unless features are named
SUBSTITUTE_FALL = 0.5  # share of its upper bound that a substitute loses, at least


@dataclass(frozen=True, eq=False)
class RowBounds(ByValue):
    """The bounds of one row of the map.

    Attributes
    ----------
    lower, upper : ndarray of shape (n_features,)
        The least and the most each weight can be in absolute value.
    low, high : ndarray of shape (n_features,)
        The interval of the weight with its sign.
    mu : float
        The least L1 norm of a map that acts as this row does on the data; the norm of ``map`` where none was found.
    map : ndarray of shape (n_features,)
        The row itself, projected on the directions of the data.
    anchor : int or None
        Whose map it belongs to, for a local metric.
    share : float
        The share of the rows of the data it serves, its weight in the sum.
    least : ndarray of shape (n_features,)
        A map that has the least norm.
    """

    lower: Array
    upper: Array
    low: Array
    high: Array
    mu: float
    map: Array
    anchor: int | None
    share: float
    least: Array = field(repr=False)
    _lowest: tuple[NDArray[np.intp], Array] | None = field(repr=False)
    _highest: tuple[NDArray[np.intp], Array] | None = field(repr=False)

    def extreme(self, feature: int, which: Literal["low", "high"]) -> Array:
        """The map that takes the weight of a feature to the end of its interval."""
        stored = self._lowest if which == "low" else self._highest
        if stored is None:
            raise ValueError("The extreme maps were not kept: call relevance_intervals(..., extremes=True).")
        columns, weights = stored[0][feature], stored[1][feature]
        if not weights.any():
            return self.least
        w = np.zeros(len(self.map))
        np.add.at(w, columns, weights)
        return w

    def extreme_map(self, feature: int, bound: Literal["lower", "upper"]) -> Array:
        """The map that attains the lower or the upper bound; a mix of both ends where the interval holds zero."""
        low, high = self.low[feature], self.high[feature]
        if bound == "upper":
            return self.extreme(feature, "high" if abs(high) >= abs(low) else "low")
        if low < 0 < high:
            ends = self.extreme(feature, "low"), self.extreme(feature, "high")
            return (high * ends[0] - low * ends[1]) / (high - low)
        return self.extreme(feature, "low" if low >= 0 else "high")


@dataclass(frozen=True)
class Certificate:
    """The accuracy of the bounds: every program was checked against its own primal and dual solution.

    Attributes
    ----------
    error : float
        The largest error a bound may have, relative to the least norm mu of its row.
    programs, fallbacks, unknowns : int
        Number of linear programs, of those passed to HiGHS, and of features with a program that neither could solve.
    """

    error: float
    programs: int
    fallbacks: int
    unknowns: int


@dataclass(frozen=True)
class Substitutes:
    """Features that can take each other's place.

    Attributes
    ----------
    of : dict of str to tuple of str
        For each weak feature examined those that can replace it, the best first.
    groups : tuple of tuples of str
        Features linked by replacing each other, directly or through others.
    left_out : tuple of str
        Weak features that were not examined.
    """

    of: dict[str, tuple[str, ...]]
    groups: tuple[tuple[str, ...], ...]
    left_out: tuple[str, ...]

    def frame(self) -> pd.DataFrame:
        """Return one row per examined feature: those that can replace it, and its group."""
        group = {name: number for number, names in enumerate(self.groups, start=1) for name in names}
        rows = [(name, ", ".join(others), group.get(name)) for name, others in self.of.items()]
        return pd.DataFrame(rows, columns=["feature", "substitutes", "group"])


@dataclass(frozen=True, eq=False)
class Relevance(ByValue):
    """How much each feature can and must matter.

    Attributes
    ----------
    feature_names : tuple of str
        The features.
    lower, upper : ndarray of shape (n_features,)
        The least and the most each weight can be among all maps that act alike on the data and have at most (1 + slack)
        times the least L1 norm, summed over rows.
    strength : ndarray of str
        "strong": must matter (lower bound above the floor); "weak": can matter but can be replaced; "irrelevant":
        cannot; "unknown": a program could not be solved.
    rows : tuple of RowBounds
        The bounds row by row.
    floor : float
        What counts as nothing, relative to the largest upper bound.
    slack, tolerance : float
        By how much the norm may exceed the least one, and the share by which maps may differ on the data.
    effective_dim, rank : int
        The number of directions kept and the number there are.
    units : str
        What a weight refers to: "per standard deviation" behind a StandardScaler, "per scaled unit" behind others.
    skipped_rows : tuple of str
        Names of the rows of the map that were too small to matter and were left out.
    certificate : Certificate
        How far the bounds can be trusted.

    Examples
    --------
    >>> from whynear import LinearMetric, relevance_intervals
    >>> X = np.array([[0, 0, 1], [1, 1, 0], [2, 2, 2], [4, 4, 1]])  # the first two columns are equal
    >>> relevance = relevance_intervals(LinearMetric([[1.0, 0.0, 1.0]]), X)
    >>> relevance.strength.tolist(), relevance.upper.round(2).tolist()
    (['weak', 'weak', 'strong'], [1.01, 1.01, 1.0])
    >>> relevance.substitutes.of["x0"]
    ('x1',)
    """

    feature_names: tuple[str, ...]
    lower: Array
    upper: Array
    strength: NDArray[np.str_]
    rows: tuple[RowBounds, ...]
    floor: float
    slack: float
    tolerance: float
    effective_dim: int
    rank: int
    units: Units
    skipped_rows: tuple[str, ...]
    certificate: Certificate
    _scale: Array | None = field(repr=False)
    _starts: tuple[programs.LeastNorm | None, ...] = field(repr=False, compare=False)
    _live: tuple[NDArray[np.intp], ...] = field(repr=False, compare=False)

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.count_nonzero(self.strength == kind)} {kind}" for kind in STRENGTHS[:3])
        unknown = np.count_nonzero(self.strength == "unknown")
        return f"Relevance({counted(len(self.lower), 'feature')}: {counts}{f', {unknown} unknown' if unknown else ''})"

    @property
    def threshold(self) -> float:
        """What counts as nothing: the floor times the largest upper bound."""
        return _threshold(self.upper, float(self.floor), self.strength == "unknown")

    @property
    def agreement(self) -> str:
        """What the maps that count have in common, in words."""
        if self.tolerance > 0:
            return f"differ by at most {self.tolerance:.0%} in every direction of the data"
        return f"agree on {self.effective_dim} of {self.rank} directions of the data"

    def frame(self) -> pd.DataFrame:
        """Return one row per feature: its bounds and its strength."""
        columns = {"feature": self.feature_names, "lower": self.lower, "upper": self.upper, "strength": self.strength}
        return pd.DataFrame(columns)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "features": list(self.feature_names),
            "lower": self.lower.tolist(),
            "upper": self.upper.tolist(),
            "strength": self.strength.tolist(),
            "floor": float(self.floor),
            "slack": self.slack,
            "tolerance": self.tolerance,
            "effective_dim": self.effective_dim,
            "rank": self.rank,
            "units": self.units,
            "skipped_rows": list(self.skipped_rows),
            "certificate": vars(self.certificate).copy(),
            "rows": [{"mu": r.mu, "lower": r.lower.tolist(), "upper": r.upper.tolist()} for r in self.rows],
        }

    def mean_map(self) -> LinearMetric:
        """The mean of all extreme maps (Fig. 9 of the paper), in the columns of the metric."""
        d = len(self.feature_names)
        rows = [
            sum((row.extreme_map(j, "lower") + row.extreme_map(j, "upper") for j in range(d)), np.zeros(d)) / (2 * d)
            for row in self.rows
        ]
        return self._metric(rows)

    def extreme_metrics(self) -> Iterator[LinearMetric]:
        """The 2 d metrics of the extreme maps: for each feature all rows at its lower, then at its upper bound."""
        for j in range(len(self.feature_names)):
            for bound in ("lower", "upper"):
                yield self._metric([row.extreme_map(j, bound) for row in self.rows])

    def _metric(self, rows: Sequence[Array]) -> LinearMetric:
        if any(row.anchor is not None for row in self.rows):
            raise ValueError(
                "The rows of a local metric belong to different anchors and make no common map. "
                "Bound one map on the cases around its anchor: relevance_intervals(metric[i], X_near, extremes=True)."
            )
        omega = np.array(rows) if rows else np.zeros((1, len(self.upper)))
        return restated(omega, self.feature_names, self._scale, self.units)

    @cached_property
    def substitutes(self) -> Substitutes:
        """Which features can replace which, for the weak features with the largest upper bounds."""
        return self.substitutes_of()

    def substitutes_of(self, features: Sequence[str] | None = None) -> Substitutes:
        """Return which features can replace the named ones (without names the 50 weak ones with the largest bounds).

        A feature is forced to the largest weight it can have. Another one whose upper bound then falls by more than
        half carries the same information and is a substitute of the first. Bounds are summed over rows.
        """
        names, weak = self.feature_names, np.flatnonzero(self.strength == "weak")
        if features is None:
            chosen = weak[np.argsort(-self.upper[weak], kind="stable")[:MOST_EXAMINED]]
        else:
            places = {name: place for place, name in enumerate(names)}
            if unknown := [name for name in features if name not in places]:
                raise ValueError(f"features must be among the {len(names)} of the metric, got {unknown[0]!r}.")
            chosen = np.array([places[name] for name in features], dtype=np.intp)
        partners = np.union1d(chosen, weak[np.argsort(-self.upper[weak], kind="stable")[:MOST_EXAMINED]])
        fallen = np.zeros((len(chosen), len(partners)))
        for row, feature in enumerate(chosen):
            left = self._upper_bounds_with(int(feature), partners)
            with np.errstate(divide="ignore", invalid="ignore"):
                fallen[row] = np.where(self.upper[partners] > 0, 1 - left / self.upper[partners], 0.0)
            fallen[row, partners == feature] = 0.0
        of = {
            names[feature]: tuple(
                names[partners[k]] for k in np.argsort(-share, kind="stable") if share[k] > SUBSTITUTE_FALL
            )
            for feature, share in zip(chosen, fallen, strict=True)
        }
        left_out = tuple(names[place] for place in weak if place not in set(chosen.tolist()))
        return Substitutes(of, linked_groups(names, of), left_out)

    def _upper_bounds_with(self, feature: int, partners: NDArray[np.intp]) -> Array:
        """Return upper bounds of the partners, summed over rows, when a feature has the largest weight it can have."""
        total = np.zeros(len(partners))
        for row, start, live in zip(self.rows, self._starts, self._live, strict=True):
            if start is None or feature not in live:  # unknown, or nothing changes
                total += row.share * row.upper[partners]
                continue
            forced = row.high[feature] if abs(row.high[feature]) >= abs(row.low[feature]) else row.low[feature]
            bounds = row_upper_bounds(start, live, feature, forced / row.mu, 1 + self.slack, partners)
            total += row.share * row.mu * bounds
        return total

    def plot(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the intervals: one line per feature, or along their axis where there are more than ``most``."""
        if len(self.feature_names) > most:
            return _draw_along(self, ax or new_axes(8, 3.4))
        return _draw_lines(self, ax or new_axes(6.5, 1.6 + 0.26 * len(self.feature_names)))

    def _repr_html_(self) -> str:
        must = np.where(self.strength == "strong", self.lower, 0.0)  # those that must matter first, then those that can
        order = np.lexsort((-self.upper, -must))
        top, rest = order[: html.MOST_ROWS], self.strength[order[html.MOST_ROWS :]]
        within = (0.0, float(self.upper[np.isfinite(self.upper)].max(initial=0.0)))
        bounds = html.rounded(np.column_stack([self.lower, self.upper])[top])
        rows = []
        for j, (low, high) in zip(top, bounds, strict=True):
            drawn = html.bar(low, high, within, str(self.strength[j]), self.threshold)
            rows.append((self.feature_names[j], drawn, low, high, self.strength[j]))
        counts = ", ".join(f"{np.count_nonzero(rest == kind):,} {kind}" for kind in STRENGTHS if (rest == kind).any())
        more = html.more_of(len(order), len(top), "feature")
        return html.block(
            html.heading(repr(self)),
            f"The least and the most each feature can weigh, {self.units}, among maps that {self.agreement}. "
            f"The line marks the floor {self.threshold:.3g}: what stays below it counts as nothing.",
            html.table(["feature", "interval", "least", "most", "strength"], rows, more and f"{more}: {counts}"),
        )


def weights_as_bounds(metric: Metric) -> Relevance:
    """Return the shares of the features in a metric that is no quadratic form of them, each as both of its bounds.

    Such a metric, of order one or of ranks, has no linear map, so that no program says how much a feature must and can
    matter: all strengths are unknown.
    """
    weights = metric.as_learned().mean_shares()
    size, n_used = float(weights.sum()), int(np.count_nonzero(weights))
    row = RowBounds(weights, weights, weights, weights, size, weights, None, 1.0, weights, None, None)
    return Relevance(
        feature_names=metric.feature_names,
        lower=weights,
        upper=weights,
        strength=np.full(len(weights), "unknown"),
        rows=(row,),
        floor=0.0,
        slack=0.0,
        tolerance=0.0,
        effective_dim=n_used,
        rank=n_used,
        units=metric.units,
        skipped_rows=(),
        certificate=Certificate(0.0, 0, 0, 0),
        _scale=metric.scale,
        _starts=(None,),
        _live=(np.arange(len(weights)),),
    )


def strengths(lower: Array, upper: Array, floor: float, unknown: NDArray[np.bool_]) -> NDArray[np.str_]:
    """Return the strength of each feature, by a floor relative to the largest upper bound."""
    threshold = _threshold(upper, floor, unknown)
    names = np.where(lower > threshold, "strong", np.where(upper > threshold, "weak", "irrelevant"))
    return np.where(unknown, "unknown", names)


def _threshold(upper: Array, floor: float, unknown: NDArray[np.bool_]) -> float:
    return max(floor, ROUNDING) * float(upper[~unknown].max(initial=0.0))


def row_upper_bounds(
    start: programs.LeastNorm,
    live: NDArray[np.intp],
    feature: int,
    forced: float,
    budget: float,
    partners: NDArray[np.intp],
) -> Array:
    """Return the upper bounds of the partners in a row in which a feature is forced to a weight.

    By the programs of the row without the column of the feature, its part taken from right-hand side and budget.
    """
    bounds = np.zeros(len(partners))
    others = np.flatnonzero(live != feature)
    wanted = np.flatnonzero(np.isin(partners, live[others]))
    if not len(wanted):
        return bounds
    own = start.U[live == feature][0]
    U, rest = start.U[others], start.b - forced * own
    left = budget - abs(forced)
    if own @ own > 1 - 1e-9 and not start.t.any():  # a direction only this feature has: the others take no part in it
        aside = np.linalg.svd(own[None, :])[2][1:].T
        U, rest = U @ aside, aside.T @ rest
    if (np.abs(rest) - start.t[: len(rest)]).max(initial=0.0) <= 1e-9:  # the feature alone gives the whole row
        bounds[wanted] = max(left, 0.0)  # only slack is left to the others
        return bounds
    columns = np.searchsorted(live[others], partners[wanted])
    try:
        again = programs.least_norm(np.ascontiguousarray(U), rest, start.t[: len(rest)])
    except ArithmeticError:
        bounds[wanted] = budget
        return bounds
    found = programs.extremes(
        again,
        max(left / again.mu, 1 + 1e-6),  # forced to its very end, rounding could leave nothing feasible
        np.repeat(columns, 2),
        np.tile([1.0, -1.0], len(columns)),
    )
    values = np.where(np.isfinite(found.error), found.values, budget / again.mu)
    bounds[wanted] = again.mu * np.abs(values.reshape(-1, 2)).max(axis=1)
    return bounds


def linked_groups(names: Sequence[str], of: dict[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of features that replace each other, directly or through others."""
    places = {name: place for place, name in enumerate(names)}
    links = [(places[name], places[other]) for name, others in of.items() for other in others]
    if not links:
        return ()
    first, second = np.array(links).T
    graph = coo_array((np.ones(len(links)), (first, second)), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=False)
    linked = np.unique(np.concatenate([first, second]))
    groups = [tuple(names[i] for i in linked[labels[linked] == label]) for label in np.unique(labels[linked])]
    return tuple(sorted(groups, key=lambda group: places[group[0]]))
