"""Explanations of predicted classes and numbers by near cases: the values, the computation and the figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from whynear.explain.case_explanation import (
    LEAST_SHARE_NAMED,
    LEAST_SHARE_SHOWN,
    MOST_FEATURES_NAMED,
    NEAREST,
    OTHER,
    CaseExplanation,
    by_feature,
    finish_bars,
    heat_map,
    legend_above,
    n_shown,
    others_label,
    ranked_places,
    value_label,
)
from whynear.model.unusual import UnusualValue
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, plain_values
from whynear.utils.axes import new_axes, short_name
from whynear.utils.text import counted, joined, probability, short_number

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes

MOST_NEIGHBORS = 8  # columns of a heat map
BAR_LOOKS = ("strong", "weak")  # in a notebook: for the predicted class, and for another


@dataclass(frozen=True, eq=False, repr=False)
class NearCase(ByValue):
    """A training row or prototype near the explained case.

    Attributes
    ----------
    name : int or str
        The name of the training row. A prototype, and a training case whose name is not known, has a number from 1.
    kind : {"row", "prototype", "case"}
        Whether it is a row with a name, a prototype, or a training case without a name.
    label : object
        Its class, or its measured value.
    distance, sq_distance : float
        Its distance from the explained case under the metric of the learner, and the square of that.
    values : Series
        Its value of each feature, in the units of the table; missing in columns that did not reach the learner, and as
        in ``neighbor_values``.
    contributions : Series
        What each feature adds to the squared distance; they sum to it.
    nearest_row : int, str or None
        The row of the table nearest to a prototype, whose values are shown then; None if they are those of the case.
    """

    name: Any
    kind: Literal["row", "prototype", "case"]
    label: Any
    distance: float
    sq_distance: float
    values: pd.Series[Any]
    contributions: pd.Series[float]
    nearest_row: Any = None

    def __repr__(self) -> str:
        return f"{self.label!r} {self.kind} {self.name} at distance {self.distance:.3g}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists; None for a missing value."""
        held = {
            self.kind: self.name,
            "label": self.label,
            "distance": self.distance,
            "sq_distance": self.sq_distance,
            "values": self.values.tolist(),
            "contributions": self.contributions.tolist(),
            **({} if self.nearest_row is None else {"nearest_row": self.nearest_row}),
        }
        return plain_values(held)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(CaseExplanation):
    """Why a learner predicts a class for one case, or a kernel learner a number.

    Attributes
    ----------
    prediction : object
        The predicted class or number.
    probabilities, support : Series
        The probability of each class, and the votes for it or its score. Empty for numbers.
    values : Series
        The explained case: its value of each feature; dates are texts, such as "2022-03-04".
    neighbors : DataFrame
        The training rows or prototypes that vote, nearest first: their names in a column named by what they are
        (``row``, ``prototype`` or ``case``; see `NearCase`), ``label`` (for numbers ``measured``), ``distance``,
        ``sq_distance`` (its square), ``vote``, ``for_prediction`` (whether that vote is for the predicted class). Rows
        are named by the index of the table that the learner was fitted to, or numbered from 1 if it is the default one.
        Behind a step that drops the index, such as a scaler, that of y is taken; if y has none, the names are not
        known. Of a kernel learner, whose training rows all add to the prediction, the nearest eight; their ``vote`` is
        what they add to the score of the predicted class or to the predicted number, and has a sign. In a study
        ``nearest_row`` is the row of the table nearest to each prototype.
    neighbor_values : DataFrame
        A row per neighbour, with its name as index: its value of each feature, in the units of the table. A value that
        the row lacks is missing here too, if the model was made by `study` or `learn_table`; otherwise it is what was
        filled in. With ``nearest_row`` those of that row, because no row need have the values of a prototype.
    contributions : DataFrame
        A row per neighbour, with its name as index: what each feature adds to its squared distance. A row sums to
        that distance. Under a full matrix a part can be negative: then the feature compensates differences in others.
    relevances : Series
        How much each feature matters for this case, summing to one: the relevances of the neighbours, each scaled to
        sum to one, weighted by their votes. Under a global metric those of the metric.
    nearest : NearCase
        The nearest case of the predicted class; for numbers the nearest case.
    nearest_other : NearCase or None
        The nearest case of any other class; None where the learner has no other class, and for numbers.
    held_off_by : Series
        Which features make that case more distant than ``nearest``: its contributions less those of ``nearest``,
        largest first. They sum to the difference of the two squared distances; a negative one makes it nearer. Empty
        without another class.
    coordinates : {"columns", "steps"}
        Whether features are the columns of the table or, behind steps that mix columns, the output of these steps.
    units : str
        What relevances refer to: "per unit" of a feature, or "per standard deviation" behind a StandardScaler.
    unusual : tuple of UnusualValue
        Values of the case that are unlike the training rows: missing ones that were filled in, numbers outside the
        training range, and categories that did not occur there; each with ``column``, ``value`` and the range.
    preprocessing : str
        What was done to spectra before the learner, such as "SNV"; values of their channels are those after it. Empty
        where nothing was done.
    base : float or None
        Of a kernel learner, the score of the predicted class or the predicted number without any row; ``base``, the
        votes of ``neighbors`` and ``rest`` sum to it. None where cases vote.
    rest : float
        What all rows add that are not among ``neighbors``.
    n_rest : int
        Their number.
    interval : tuple of float or None
        The 90% interval of a predicted number; see `ValueExplanation`.

    Examples
    --------
    >>> import numpy as np
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> why = wn.explain(wn.LMNN().fit(iris.X[1:], iris.y[1:]), iris.X.iloc[0])
    >>> why.prediction, why.nearest.label, why.nearest_other.label
    (0, 0, 1)
    >>> bool(np.isclose(why.contributions.iloc[0].sum(), why.neighbors["sq_distance"][0]))
    True
    >>> why.held_off_by.index[0]  # what keeps the nearest flower of another kind away
    'petal length (cm)'
    """

    SUMMARY = (
        "prediction", "probability", "nearest", "distance", "other", "other_distance", "held_off_by", "unusual",
    )  # fmt: skip

    prediction: Any
    probabilities: pd.Series[float]
    support: pd.Series[float]
    values: pd.Series[Any]
    neighbors: pd.DataFrame
    neighbor_values: pd.DataFrame
    contributions: pd.DataFrame
    relevances: pd.Series[float]
    nearest: NearCase
    nearest_other: NearCase | None
    held_off_by: pd.Series[float]
    coordinates: Literal["columns", "steps"]
    units: str
    unusual: tuple[UnusualValue, ...] = ()
    preprocessing: str = ""
    base: float | None = None
    rest: float = 0.0
    n_rest: int = 0
    interval: tuple[float, float] | None = None

    @property
    def distance_shares(self) -> pd.DataFrame:
        """The ``contributions``."""
        return self.contributions

    @property
    def sides(self) -> list[tuple[pd.Series[float], pd.Series[Any]]]:
        """What each feature adds to the distances of ``nearest`` and ``nearest_other``, and their values."""
        return [(case.contributions, case.values) for case in self._nearest_two]

    @property
    def remark(self) -> str:
        """What is predicted without any row, and what the rows add that are listed and that are not."""
        if self.base is None:
            return ""
        votes, many = self.neighbors["vote"], self.kind if self.n_rest == 1 else f"{self.kind}s"
        listed, rest = (short_number(part, 3, signed=True) for part in (votes.sum(), self.rest))
        others = f" and the {self.n_rest:,} other {many} {rest}" if self.n_rest else ""
        without = "is predicted" if self.of_numbers else f"is the score of {self.prediction!r}"
        total = short_number(self.base + float(votes.sum()) + self.rest)
        added = f"the {counted(len(votes), self.kind)} listed add{'s' * (len(votes) == 1)} {listed}{others}"
        return f"Without any {self.kind} {short_number(self.base)} {without}; {added}: together {total}"

    @property
    def summary_names(self) -> tuple[str, ...]:
        """The names of what ``summary`` returns: ``SUMMARY``, and for numbers others."""
        return ("prediction", "base", "nearest", "measured", "distance", "unusual") if self.of_numbers else self.SUMMARY

    @property
    def _looks(self) -> list[str]:
        """The looks of the votes: for the prediction, and for another class or, with a sign, against it."""
        return [BAR_LOOKS[not favoured] for favoured in self.neighbors["for_prediction"]]

    @property
    def _headline(self) -> str:
        if self.of_numbers:
            return f"predicted: {self._number}"
        chance = probability(self.probabilities.loc[self.prediction])
        return f"predicted: {short_name(str(self.prediction))} (probability {chance})"

    @property
    def _nearest_two(self) -> list[NearCase]:
        return [case for case in (self.nearest, self.nearest_other) if case is not None]

    def _reason(self) -> str:
        if self.of_numbers:
            base = self.base or 0.0
            without = f"{short_number(base)}, which is predicted without any {self.kind}" if base else "zero"
            return self._predicted(base, without) + self._near()
        chance = probability(self.probabilities.loc[self.prediction])
        near, other = self.nearest, self.nearest_other
        start = (
            f"predicted {self.prediction!r} with probability {chance}: the nearest of this class is {near.kind} "
            f"{near.name}, at distance {near.distance:.3g}"
        )
        if other is None:
            return f"{start}; no {near.kind} of another class is known"
        start += f"; the nearest of another class, {other.kind} {other.name} ({other.label!r}), is"
        if other.sq_distance <= near.sq_distance:
            nearer = "nearer" if other.sq_distance < near.sq_distance else "as near"
            return f"{start} {nearer}, at {other.distance:.3g}, but outvoted"
        named = self.held_off_by > LEAST_SHARE_NAMED * self.held_off_by.max()
        most = [repr(name) for name in self.held_off_by[named].index[:MOST_FEATURES_NAMED]]
        return f"{start} farther away, at {other.distance:.3g}, mainly because of {joined(most)}"

    def summary(self) -> tuple[Any, ...]:
        """Return the values of ``summary_names``: a line of a table of several explanations."""
        near, other, distant = self.nearest, self.nearest_other, self.held_off_by
        if self.of_numbers:
            return self.prediction, self.base, near.name, near.label, near.distance, len(self.unusual)
        return (
            self.prediction,
            float(self.probabilities.loc[self.prediction]),
            near.name,
            near.distance,
            None if other is None else other.label,
            np.nan if other is None else other.distance,
            distant.index[0] if len(distant) and distant.iloc[0] > 0 else None,
            len(self.unusual),
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per feature, in the order of the table.

        Its columns are the values of the case, of the nearest case of the predicted class and of the nearest of another
        (``value``, ``nearest_value``, ``other_value``), how much the feature matters (``relevance``), what it adds to
        the squared distances of the two (``nearest_contribution``, ``other_contribution``), and the difference of these
        (``held_off_by``).
        """
        other = self.nearest_other
        return by_feature(
            {
                "value": self.values,
                "nearest_value": self.nearest.values,
                "other_value": np.nan if other is None else other.values,
                "relevance": self.relevances,
                "nearest_contribution": self.nearest.contributions,
                "other_contribution": np.nan if other is None else other.contributions,
                "held_off_by": np.nan if other is None else self.held_off_by.reindex(self.values.index),
            }
        )

    def plot(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the distances of the nearest case of the predicted and of any other class.

        Shows the ``most`` features that add most to either, first those that add more to the other case, and the sum
        of all others.
        """
        cases = self._nearest_two
        parts = np.array([case.contributions.to_numpy() for case in cases])
        shown = _most_contributing(parts, most)
        folded, bars = np.delete(parts, shown, axis=1), parts[:, shown]
        labels = [value_label(self.values.index[j], self.values.iloc[j]) for j in shown]
        if folded.size:
            bars = np.column_stack([bars, folded.sum(axis=1)])
            labels.append(others_label(folded.shape[1]))
        ax = ax or new_axes(6.5, 1.5 + 0.34 * len(labels))
        height = 0.8 / len(cases)
        looks = ((NEAREST, "nearest" if self.of_numbers else "nearest of this class"), (OTHER, "nearest of another"))
        for k, (case, (look, which)) in enumerate(zip(cases, looks, strict=False)):
            name = f"{short_name(self._shown(case.label))}, {case.kind} {short_name(str(case.name))}"
            label = f"{which}: {name}, d² = {case.sq_distance:.3g}"
            places = np.arange(len(labels)) + (k - (len(cases) - 1) / 2) * height
            ax.barh(places, bars[k], 0.9 * height, linewidth=0.8, label=label, **look)
        finish_bars(ax, labels, "contribution to the squared distance d²")
        # It may be wider than the axes, and there is room on the left.
        legend_above(ax, 1, self._headline, side="right")
        return ax

    def plot_neighbors(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the squared distance of each case that votes, as a heat map."""
        neighbors = self.neighbors.head(MOST_NEIGHBORS)
        parts = self.contributions.to_numpy()[: len(neighbors)]
        shown = _most_contributing(parts, most)
        near = neighbors[[*self._label, "distance"]].itertuples(index=False)
        which = "nearest {}s: name, measured value" if self.of_numbers else "{}s that vote: name, class"
        return heat_map(
            ax or new_axes(2.6 + 0.75 * len(neighbors), 1.4 + 0.3 * len(shown)),
            parts[:, shown].T,
            list(self.values.index[shown]),
            [
                f"{short_name(str(name))}\n{short_name(self._shown(label))}\n{distance:.2g}"
                for name, label, distance in near
            ],
            (f"{which.format(self.kind)} and distance", "contribution to d²"),
            "{:.2g}".format,
        )

    @property
    def _label(self) -> list[str]:
        return [self.kind, "measured" if self.of_numbers else "label"]

    def _shown(self, value: Any) -> str:
        return short_number(value) if self.of_numbers and isinstance(value, float) else str(value)

    def _tables(self) -> list[Markup]:
        parts = html.rounded([added for added, _ in self.sides])
        sizes = np.abs(parts).max(axis=0)
        top = [j for j in ranked_places(sizes)[: html.MOST_ROWS] if sizes[j] >= LEAST_SHARE_SHOWN * sizes.max()]
        within = (float(min(0.0, parts.min())), float(max(0.0, parts.max())))
        values = ["missing" if value is None else value for value in plain_values(self.values.iloc[top].tolist())]
        rows = [
            [self.values.index[j], value]
            + [cell for part, look in zip(parts[:, j], BAR_LOOKS, strict=False) for cell in _drawn(part, within, look)]
            for j, value in zip(top, values, strict=True)
        ]
        cases = self._nearest_two
        which = [html.text(f"adds to {self._shown(case.label)}, {case.kind} {case.name}", most=60) for case in cases]
        near = self.neighbors.head(html.MOST_ROWS)
        votes = html.rounded(near["vote"])
        ends = (min(0.0, float(votes.min())), max(0.0, float(votes.max())))
        voting = [
            [*map(self._shown, facts), distance, *_drawn(vote, ends, look)]
            for (*facts, distance, _), vote, look in zip(
                near[self.facts].itertuples(index=False), votes, self._looks, strict=False
            )
        ]
        more = "; ".join(filter(None, [html.more_of(len(self.neighbors), len(near), self.kind), self.remark]))
        called = [{"label": "class", "nearest_row": "nearest row"}.get(name, name) for name in self.facts]
        headings = ["feature", "value", *(name for case in which for name in (case, ""))]
        return [
            html.table([*called, ""], voting, more),
            html.table(headings, rows, html.more_of(parts.shape[1], len(top), "feature")),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists; None for a missing value."""
        held = {
            "prediction": self.prediction,
            "classes": self.probabilities.index.tolist(),
            "probabilities": self.probabilities.tolist(),
            "support": self.support.tolist(),
            "features": list(self.values.index),
            "values": self.values.tolist(),
            "relevances": self.relevances.tolist(),
            "neighbors": self._neighbor_records(contributions=self.contributions),
            "nearest": self.nearest.to_dict(),
            "nearest_other": None if self.nearest_other is None else self.nearest_other.to_dict(),
            "held_off_by": [{"feature": name, "difference": part} for name, part in self.held_off_by.items()],
            "coordinates": self.coordinates,
            "units": self.units,
            "unusual": [value.to_dict() for value in self.unusual],
            **({"preprocessing": self.preprocessing} if self.preprocessing else {}),
            **({} if self.base is None else {"base": self.base, "rest": self.rest, "n_rest": self.n_rest}),
            **({"interval": self.interval} if self.of_numbers else {}),
        }
        return plain_values(held)


def _drawn(value: float, within: tuple[float, float], look: str) -> tuple[Any, float]:
    zero = 0.0 if within[0] < 0 else None
    return html.bar(0.0, value, within, look, mark=zero, width=120), float(value)


def _most_contributing(parts: Array, most: int) -> list[int]:
    """Return the features that add most to any of the distances, by how much more they add to the other case."""
    size = np.abs(parts).max(axis=0)
    kept = np.argsort(-size, kind="stable")[: n_shown(size, most)]
    gap = parts[-1] - parts[0] if len(parts) > 1 else parts[0]
    return sorted(kept.tolist(), key=lambda j: (-gap[j], j))
