"""Verdicts on features, sufficient sets and stand-ins: what refitting results in, as values, tables and figures.

Figures compute nothing and return their axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.interpret import Relevance
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.axes import new_axes, short_name, tidy
from whynear.utils.text import counted
from whynear.verdict.refits import BetterModel, SetCheck
from whynear.verdict.rules import INDISPENSABLE, NO_EVIDENCE, REPLACEABLE, SURELY, UNDECIDED, WORDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours differ for all kinds of colour vision, markers in grey print.
STYLES: dict[str, dict[str, Any]] = {
    INDISPENSABLE: {"color": "#1f5f8b", "marker": "s"},
    REPLACEABLE: {"color": "#e08a1e", "marker": "o"},
    UNDECIDED: {"color": "#5b4636", "marker": "x"},
    NO_EVIDENCE: {"color": "#9aa3ab", "marker": "|"},
}


@dataclass(frozen=True)
class StandIn:
    """A feature that can take another's place.

    Attributes
    ----------
    feature, stand_in : str
        Who is replaced, and by whom.
    price, error : float
        Points of accuracy (R2 for a measured target) lost with the stand-in, and their standard error.
    """

    feature: str
    stand_in: str
    price: float
    error: float


@dataclass(frozen=True)
class StandIns:
    """Pairs of features that can take each other's place, and the groups they form.

    Attributes
    ----------
    pairs : tuple of StandIn
        Every pair that was refitted and found as good, in both directions.
    groups : tuple of tuple of str
        Each member of the set that has stand-ins, followed by them, cheapest first.
    """

    pairs: tuple[StandIn, ...]
    groups: tuple[tuple[str, ...], ...]

    def frame(self) -> pd.DataFrame:
        """Return one row per pair: feature, stand_in, price and error in points."""
        return pd.DataFrame([vars(pair) for pair in self.pairs], columns=["feature", "stand_in", "price", "error"])

    def plot(self, ax: Axes | None = None, most: int = 30) -> Axes:
        """Draw a matrix of the points lost with each stand-in."""
        names = list(dict.fromkeys(name for group in self.groups for name in group))[:most]
        prices = {(pair.feature, pair.stand_in): pair.price for pair in self.pairs}
        values = np.array([prices.get((one, other), np.nan) for one in names for other in names])
        values = values.reshape(len(names), len(names))
        shown = [short_name(name) for name in names]
        room = 0.07 * max([8, *map(len, shown)])  # inches for the longest name
        ax = ax or new_axes(1.7 + room + 0.42 * len(names), 1.3 + room + 0.36 * len(names))
        largest = max(1.0, float(np.nanmax(np.abs(values), initial=0.0)))
        if names:
            edges = np.arange(len(names) + 1) - 0.5
            ax.pcolormesh(edges, edges, values, cmap="PuOr_r", vmin=-largest, vmax=largest)
            ax.invert_yaxis()
        for row, col in np.argwhere(np.isfinite(values)):
            color, price = "w" if abs(values[row, col]) > 0.6 * largest else "k", f"{values[row, col]:.1f}"
            ax.text(col, row, price, ha="center", va="center", fontsize=7, color=color)
        ax.set_xticks(np.arange(len(names)), shown, rotation=60, ha="right", rotation_mode="anchor")
        ax.set_yticks(np.arange(len(names)), shown)
        for label in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            label.set_parse_math(False)
        ax.set_xlabel("stand-in")
        ax.set_ylabel("feature")
        ax.set_title("points lost with the stand-in", fontsize="small", loc="left")
        return ax

    def of(self, feature: str) -> tuple[StandIn, ...]:
        """Return the stand-ins of a feature, cheapest first."""
        return tuple(sorted((p for p in self.pairs if p.feature == feature), key=lambda p: (p.price, p.stand_in)))

    def alternatives(self, features: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the names of the stand-ins of each of these features."""
        return {name: tuple(pair.stand_in for pair in self.of(name)) for name in features}


@dataclass(frozen=True, eq=False)
class SufficientSets(ByValue):
    """The fewest features that predict as well as all.

    Attributes
    ----------
    best : tuple of str
        The smallest set found, most needed feature first.
    curve : DataFrame
        Columns ``n_features``, ``score`` (accuracy, or R2 for a measured target) on rows that did not choose the set,
        ``error`` of the difference from all features, ``excess`` loss over all with its ``excess_error``, and
        ``features``: those of the best set, and for other sizes those chosen from all rows. The last row is that of
        all features.
    alternatives : dict of str to tuple of str
        For each member of the best set the features that can take its place, cheapest first.
    stand_ins : StandIns
        The same with their prices.
    measure : {"accuracy", "R2"}
        The kind of score; R2 for a measured target.
    by_fold : tuple of tuple of str
        The set that the rows of each fold choose for the size of the best one, in the order of the table. Where these
        sets differ, other rows or another seed may choose another set, also of another size. Empty where the best set
        has all features.
    check : SetCheck or None
        Where the table has many more rows than sets are judged by: how the best of the learner and of models that are
        clearly better, fitted to many of them, does with the best set on rows that did not choose it. A set that loses
        too much there is not the best.
    better_model : BetterModel or None
        A random forest or logistic regression, if it predicts clearly better with all features than the models that
        measure distances: the learner and kernel ridge models, or on many rows the learner. The best set suffices for
        it too.

    Examples
    --------
    >>> import whynear as wn
    >>> data = wn.datasets.make_truth("sick", random_state=0)  # sick if weight / height**2 is large
    >>> sets = wn.sufficient_sets(wn.GMLVQ(random_state=0), data.X, data.y, random_state=0)
    >>> sorted(sets.best), sets.score > 0.9
    (['height', 'weight'], True)
    """

    best: tuple[str, ...]
    curve: pd.DataFrame
    alternatives: dict[str, tuple[str, ...]]
    stand_ins: StandIns
    measure: str
    by_fold: tuple[tuple[str, ...], ...] = ()
    check: SetCheck | None = None
    better_model: BetterModel | None = None

    @property
    def score(self) -> float:
        """Accuracy (or R2) of the best set on rows that did not choose it."""
        return float(self.curve["score"][self._place]) if self.check is None else self.check.score

    @property
    def score_of_all(self) -> float:
        """Accuracy (or R2) of all features on the same rows."""
        return float(self.curve["score"].iloc[-1]) if self.check is None else self.check.score_of_all

    @property
    def lost_error(self) -> float:
        """Standard error of the difference of the two scores."""
        return float(self.curve["error"][self._place]) if self.check is None else self.check.lost_error

    @property
    def _place(self) -> int:
        return [len(features) for features in self.curve["features"]].index(len(self.best))

    def frame(self) -> pd.DataFrame:
        """Return a copy of the curve."""
        return self.curve.copy()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the score over the number of features, with the choice marked."""
        from matplotlib.ticker import MaxNLocator

        ax = ax or new_axes(6, 3.4)
        curve = self.curve.iloc[:-1] if len(self.curve) > 1 else self.curve
        look: dict[str, Any] = {"color": "#1f5f8b", "marker": "o", "markersize": 4, "elinewidth": 1, "capsize": 2}
        ax.errorbar(curve["n_features"], 100 * curve["score"], 100 * curve["error"], label="this many features", **look)
        ax.axhline(100 * self.curve["score"].iloc[-1], color="0.35", linestyle="--", linewidth=1, label="all features")
        ax.axvline(len(self.best), color="#e08a1e", linestyle=":", linewidth=1.5, label=f"chosen: {len(self.best)}")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("number of features")
        ax.set_ylabel(f"{self.measure} on held-out rows, %")
        tidy(ax, "y")
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        return ax

    def __repr__(self) -> str:
        return (
            f"SufficientSets({len(self.best)} of {counted(self.curve['n_features'].iloc[-1], 'feature')}: "
            f"{', '.join(self.best)})"
        )

    def _repr_html_(self) -> str:
        rows = [(name, ", ".join(self.alternatives.get(name, ())) or "none found") for name in self.best]
        return html.block(
            html.heading(repr(self)),
            f"{self.measure} {self.score:.1%} on rows that did not choose them, {self.score_of_all:.1%} with all.",
            html.table(["feature", "can be replaced by"], rows),
        )


@dataclass(frozen=True, eq=False)
class Verdicts(ByValue):
    """The verdict on each feature, by refitting models without it.

    Attributes
    ----------
    feature_names : tuple of str
        The features.
    verdict : ndarray of str
        "indispensable": no model does as well without it. "replaceable": it carries information, and leaving it out
        costs little. "no evidence": nothing shows that it helps, and an effect of the usual size would have shown.
        "undecided": the rows do not settle it. The thresholds are those of `whynear.verdict.rules`.
    loss, error : ndarray
        Points of accuracy (R2 for a measured target) lost without each feature, and their standard errors.
    p_value : ndarray
        Of no increase of the held-out loss without the feature, before the correction for the number of features.
    effect, q_value : ndarray
        The largest share of the target's variance that a test of the feature alone, or with one other, explains; and
        the false discovery rate at which it counts as information.
    stability : ndarray
        Share of resamples with the same verdict, before "undecided" took its place.
    n_resamples : int
        Number of resamples.
    score : float
        Accuracy (R2) of the best model on held-out rows with all features.
    works : bool
        Whether that beats the class shares (the mean).
    sets : SufficientSets
        The fewest features that suffice, and who can stand in for whom.
    relevance : Relevance or None
        Intervals of the same features, where they were given.

    Examples
    --------
    >>> import whynear as wn
    >>> data = wn.datasets.make_truth("sick", random_state=0)  # sick if weight / height**2 is large
    >>> found = wn.verdicts(wn.GMLVQ(random_state=0), data.X, data.y, random_state=0, n_resamples=4)
    >>> dict(zip(found.feature_names, found.verdict.tolist()))
    {'weight': 'indispensable', 'height': 'indispensable', 'age': 'no evidence'}
    """

    feature_names: tuple[str, ...]
    verdict: NDArray[np.str_]
    loss: Array
    error: Array
    p_value: Array
    effect: Array
    q_value: Array
    stability: Array
    n_resamples: int
    score: float
    works: bool
    measure: str
    sets: SufficientSets
    relevance: Relevance | None = None

    @property
    def stand_ins(self) -> StandIns:
        """Which features can stand in for which, at which price."""
        return self.sets.stand_ins

    @property
    def order(self) -> Indices:
        """The indispensable features, the others of the smallest set, then the rest by verdict; largest loss first."""
        ranks = np.array([1.0 + WORDS.index(str(word)) for word in self.verdict])
        if len(self.sets.best) < len(self.feature_names):
            ranks[np.isin(self.feature_names, self.sets.best) & (ranks > 1)] = 1.5
        return np.lexsort((self.p_value, -self.loss, ranks)).astype(np.intp)

    def named(self, word: str) -> tuple[str, ...]:
        """Return the features with a verdict, members of the smallest set first, then by what their absence costs."""
        return tuple(self.feature_names[j] for j in self.order if self.verdict[j] == word)

    def frame(self) -> pd.DataFrame:
        """Return one row per feature; with its interval where relevance was given."""
        columns = {"feature": self.feature_names, "verdict": self.verdict, "loss_without": self.loss}
        more = {name: getattr(self, name) for name in ("p_value", "effect", "q_value", "stability")}
        frame = pd.DataFrame({**columns, "loss_error": self.error, **more})
        if self.relevance is None:
            return frame
        bounds = self.relevance.frame().set_index("feature")[["lower", "upper"]]
        return frame.join(bounds, on="feature")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "features": replace(self, relevance=None).frame().to_dict("records"),
            "resamples": self.n_resamples,
            "score": self.score,
            "works": self.works,
            "measure": self.measure,
            "sufficient": list(self.sets.best),
            "alternatives": {name: list(others) for name, others in self.sets.alternatives.items()},
            "check": None if self.sets.check is None else asdict(self.sets.check),
            "better_model": None if self.sets.better_model is None else asdict(self.sets.better_model),
            "curve": self.sets.frame().drop(columns="features").to_dict("records"),
            "stand_ins": self.stand_ins.frame().to_dict("records"),
        }

    def plot(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw what leaving out each feature costs, with its error, coloured by its verdict."""
        order = self.order[:most][::-1]
        ax = ax or new_axes(6.5, 1.4 + 0.26 * len(order))
        for place, j in enumerate(order):
            style = STYLES[str(self.verdict[j])]
            ax.errorbar(
                self.loss[j], place, xerr=SURELY * self.error[j], color=style["color"], marker=style["marker"],
                markersize=6, elinewidth=1.2, capsize=0, linestyle="",
            )  # fmt: skip
        ax.axvline(0.0, color="0.6", linewidth=0.8)
        _name_rows(ax, [self.feature_names[j] for j in order])
        ax.set_xlabel(f"points of {self.measure} lost without it (bars: 90% interval)")
        tidy(ax, "x")
        _add_legend(ax, set(self.verdict[order].tolist()))
        return ax

    def plot_intervals(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the intervals of the features, coloured by their verdicts."""
        relevance = self._intervals
        if len(relevance.feature_names) > most:  # areas, in the order of the table
            return relevance.plot(ax, most)
        return self._draw_lines(np.lexsort((np.arange(len(relevance.upper)), -relevance.upper, -relevance.lower)), ax)

    def plot_first_intervals(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the intervals of the first features in the order of their verdicts, one line each."""
        names = self._intervals.feature_names
        first = [names.index(self.feature_names[j]) for j in self.order[:most]]
        ax = self._draw_lines(np.array(first), ax)
        if len(first) < len(self.feature_names):
            ax.set_ylabel(f"the first {len(first)} of {len(self.feature_names):,}")
        return ax

    @property
    def _intervals(self) -> Relevance:
        if self.relevance is None:
            raise ValueError("No intervals were given: call verdicts(..., relevance=relevance_intervals(...)).")
        return self.relevance

    def _draw_lines(self, from_the_top: Indices, ax: Axes | None) -> Axes:
        """Draw a line for each of these intervals, from the least to the most that the feature can weigh."""
        relevance, order = self._intervals, from_the_top[::-1]
        ax = ax or new_axes(6.5, 1.6 + 0.26 * len(order))
        names = [relevance.feature_names[j] for j in order]
        verdict = dict(zip(self.feature_names, self.verdict.tolist(), strict=True))
        for place, (j, name) in enumerate(zip(order, names, strict=True)):
            style, ends = STYLES[verdict[name]], [relevance.lower[j], relevance.upper[j]]
            look: dict[str, Any] = {"color": style["color"], "markersize": 6, "clip_on": False, "zorder": 3}
            body = {"color": style["color"], "linewidth": 4, "solid_capstyle": "butt"}
            ax.plot(ends, [place, place], gid=f"feature-{j}-body", **body)
            ax.plot(ends, [place, place], style["marker"], gid=f"feature-{j}-ends", **look)
        _name_rows(ax, names)
        ax.set_xlim(left=0.0)
        ax.set_xlabel(f"least and most weight in the metric ({relevance.units})")
        tidy(ax, "x")
        _add_legend(ax, {verdict[name] for name in names})
        return ax

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.count_nonzero(self.verdict == word)} {word}" for word in WORDS)
        return f"Verdicts({counted(len(self.feature_names), 'feature')}: {counts})"

    def _repr_html_(self) -> str:
        lost = [f"{loss:.1f} ± {error:.1f}" for loss, error in zip(self.loss, self.error, strict=True)]
        stable = [f"{share:.0%}" if self.n_resamples else "not resampled" for share in self.stability]
        rows = [(self.feature_names[j], self.verdict[j], lost[j], stable[j]) for j in self.order[: html.MOST_ROWS]]
        more = html.more_of(len(self.order), len(rows), "feature")
        return html.block(
            html.heading(repr(self)),
            f"{self.measure} {self.score:.1%} with all features; points lost without each, and the share of "
            f"{counted(self.n_resamples, 'resample')} with the same verdict.",
            html.table(["feature", "verdict", "points lost without it", "stability"], rows, more),
        )


def _name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Write the name of a feature beside each row of a figure, the first at the bottom."""
    ax.set_yticks(np.arange(len(names)), [short_name(name) for name in names])
    for label in ax.get_yticklabels():
        label.set_parse_math(False)
    ax.set_ylim(-0.7, len(names) - 0.3)


def _add_legend(ax: Axes, words: set[str]) -> None:
    """Add the legend of these verdicts above the axes."""
    from matplotlib.lines import Line2D

    shown = {word: STYLES[word] for word in WORDS if word in words}
    handles = [Line2D([], [], linestyle="", label=word, **look) for word, look in shown.items()]
    ax.legend(handles=handles, frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0, 1), ncols=4)
