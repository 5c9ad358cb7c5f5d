"""Explanations of predicted classes by the cases that vote: the values, the computation and the figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

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
    shown_values,
    value_label,
    values_of_cases,
)
from whynear.metric import Evidence, LocalMetric
from whynear.metric.base import mean_share
from whynear.model.encoders import Summing
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, unusual_values
from whynear.utils import html
from whynear.utils.arrays import Array, ByValue, plain_values, python_value
from whynear.utils.axes import new_axes, short_name
from whynear.utils.text import joined, probability

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
        Its class.
    distance, sq_distance : float
        Its distance from the explained case under the metric of the learner, and the square of that.
    values : Series
        Its value of each feature, in the units of the table; missing in columns that did not reach the learner, and as
        in ``neighbor_values``.
    contributions : Series
        What each feature adds to the squared distance; they sum to it.
    """

    name: Any
    kind: Literal["row", "prototype", "case"]
    label: Any
    distance: float
    sq_distance: float
    values: pd.Series[float]
    contributions: pd.Series[float]

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
        }
        return plain_values(held)


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(CaseExplanation):
    """Why a learner predicts a class for one case.

    Attributes
    ----------
    prediction : object
        The predicted class.
    probabilities, support : Series
        The probability of each class, and the votes for it.
    values : Series
        The explained case: its value of each feature; dates are texts, such as "2022-03-04".
    neighbors : DataFrame
        The training rows or prototypes that vote, nearest first: their names in a column named by what they are
        (``row``, ``prototype`` or ``case``; see `NearCase`), ``label``, ``distance``, ``sq_distance`` (its square),
        ``vote``, ``for_prediction`` (whether that vote is for the predicted class). Rows are named by the index of the
        table that the learner was fitted to, or numbered from 1 if it is the default one. Behind a step that drops the
        index, such as a scaler, that of y is taken; if y has none, the names are not known.
    neighbor_values : DataFrame
        A row per neighbour, with its name as index: its value of each feature, in the units of the table. A value that
        the row lacks is missing here too, if the model was made by `study` or `learn_table`; otherwise it is what was
        filled in.
    contributions : DataFrame
        A row per neighbour, with its name as index: what each feature adds to its squared distance. A row sums to
        that distance. Under a full matrix a part can be negative: then the feature compensates differences in others.
    relevances : Series
        How much each feature matters for this case, summing to one: the relevances of the neighbours, each scaled to
        sum to one, weighted by their votes. Under a global metric those of the metric.
    nearest : NearCase
        The nearest case of the predicted class.
    nearest_other : NearCase or None
        The nearest case of any other class; None where the learner has no other class.
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

    @property
    def _nearest_two(self) -> list[NearCase]:
        return [case for case in (self.nearest, self.nearest_other) if case is not None]

    def _reason(self) -> str:
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
        """Return the values of ``SUMMARY``: a line of a table of several explanations."""
        other, distant = self.nearest_other, self.held_off_by
        return (
            self.prediction,
            float(self.probabilities.loc[self.prediction]),
            self.nearest.name,
            self.nearest.distance,
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
        looks = ((NEAREST, "nearest of this class"), (OTHER, "nearest of another"))
        for k, (case, (look, which)) in enumerate(zip(cases, looks, strict=False)):
            name = f"{short_name(str(case.label))}, {case.kind} {short_name(str(case.name))}"
            label = f"{which}: {name}, d² = {case.sq_distance:.3g}"
            places = np.arange(len(labels)) + (k - (len(cases) - 1) / 2) * height
            ax.barh(places, bars[k], 0.9 * height, linewidth=0.8, label=label, **look)
        finish_bars(ax, labels, "contribution to the squared distance d²")
        chance = probability(self.probabilities.loc[self.prediction])
        title = f"predicted: {short_name(str(self.prediction))} (probability {chance})"
        legend_above(ax, 1, title, side="right")  # it may be wider than the axes, and there is room on the left
        return ax

    def plot_neighbors(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the squared distance of each case that votes, as a heat map."""
        neighbors = self.neighbors.head(MOST_NEIGHBORS)
        parts = self.contributions.to_numpy()[: len(neighbors)]
        shown = _most_contributing(parts, most)
        near = neighbors[[self.kind, "label", "distance"]].itertuples(index=False)
        return heat_map(
            ax or new_axes(2.6 + 0.75 * len(neighbors), 1.4 + 0.3 * len(shown)),
            parts[:, shown].T,
            list(self.values.index[shown]),
            [f"{short_name(str(name))}\n{short_name(str(label))}\n{distance:.2g}" for name, label, distance in near],
            (f"{self.kind}s that vote: name, class and distance", "contribution to d²"),
            "{:.2g}".format,
        )

    def _tables(self) -> list[Markup]:
        cases = self._nearest_two
        parts = html.rounded([case.contributions for case in cases])
        sizes = np.abs(parts).max(axis=0)
        largest = np.argsort(-sizes, kind="stable")[: html.MOST_ROWS]
        top = [j for j in largest if sizes[j] >= LEAST_SHARE_SHOWN * sizes.max()]
        within = (float(min(0.0, parts.min())), float(max(0.0, parts.max())))
        values = ["missing" if value is None else value for value in plain_values(self.values.iloc[top].tolist())]
        rows = [
            [self.values.index[j], value]
            + [cell for part, look in zip(parts[:, j], BAR_LOOKS, strict=False) for cell in _drawn(part, within, look)]
            for j, value in zip(top, values, strict=True)
        ]
        which = [html.text(f"adds to {case.label}, {case.kind} {case.name}", most=60) for case in cases]
        votes = self.neighbors.head(html.MOST_ROWS)
        votes = votes.assign(vote=html.rounded(votes["vote"]))
        most = (0.0, float(votes["vote"].max()))
        voting = [
            [str(case), str(label), distance, *_drawn(vote, most, BAR_LOOKS[not favoured])]
            for case, label, distance, _, vote, favoured in votes.itertuples(index=False)
        ]
        more = html.more_of(len(self.neighbors), len(votes), self.kind)
        headings = ["feature", "value", *(name for case in which for name in (case, ""))]
        return [
            html.table([self.kind, "class", "distance", "vote", ""], voting, more),
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


def explain_cases(model: FittedPipeline, table: pd.DataFrame) -> Iterator[Explanation]:
    """Explain each row of a table as `FittedPipeline.table` returns it.

    All rows are encoded at once, but searched one by one: a row among others would differ from it alone in last digits.
    """
    made = model.encoded(table)
    seen = model.behind(made)
    each, learner = seen.iloc if isinstance(seen, pd.DataFrame) else np.ascontiguousarray(seen), model.learner
    if hasattr(learner, "evidence_by_row"):
        evidence = learner.evidence_by_row(seen)
    else:
        evidence = (learner.evidence(each[[row]]) for row in range(len(table)))
    values = np.asarray(made if model.coordinates == "columns" else seen)
    unusual = unusual_values(model, table, seen)
    for row, behind in enumerate(evidence):
        why = _Votes(model, each[[row]], behind).explained(values[row], unusual[row])
        if model.encoder is not None and model.coordinates == "columns":
            why = summed_by_column(why, model.with_dates(model.shown(table.iloc[[row]])), model.encoder)
        yield why


@dataclass(eq=False)
class _Votes:
    """One case in the coordinates of the learner, and the cases behind its prediction."""

    model: FittedPipeline
    seen: Any
    evidence: Evidence

    def __post_init__(self) -> None:
        self.x = np.asarray(self.seen, dtype=np.float64)[0]
        self.features = pd.Index(self.model.feature_names, name="feature")
        self.numbers = self.evidence.indices[0]
        self.labels = self.evidence.labels[self.numbers]

    def explained(self, values: Array, unusual: list[UnusualValue]) -> Explanation:
        """Return the explanation, given the values of the case."""
        learner = self.model.learner
        if hasattr(learner, "predictions_from"):
            labels, probabilities = learner.predictions_from(self.evidence)
        else:
            labels, probabilities = learner.predict(self.seen), learner.predict_proba(self.seen)
        prediction = labels[0]
        nearest, other = self.nearest(prediction, other=False), self.nearest(prediction, other=True)
        assert nearest is not None, "the predicted class has a case"
        gap = self.series([]) if other is None else other.contributions - nearest.contributions
        classes = pd.Index(learner.classes_, name="class")
        names, sq = pd.Index(self.evidence.names(self.numbers), name=self.evidence.kind), self.evidence.sq_distances[0]
        neighbors = {
            self.evidence.kind: self.evidence.names(self.numbers),
            "label": self.labels,
            "distance": np.sqrt(sq),
            "sq_distance": sq,
            "vote": self.evidence.votes[0],
            "for_prediction": self.labels == prediction,
        }
        return Explanation(
            prediction=python_value(prediction),
            probabilities=pd.Series(probabilities[0], classes, name="probability"),
            support=pd.Series(self.evidence.support()[0], classes, name="support"),
            values=pd.Series(values, self.features, name="value"),
            neighbors=pd.DataFrame(neighbors),
            neighbor_values=pd.DataFrame(
                values_of_cases(self.model, self.evidence.cases, self.numbers), names, self.features
            ),
            contributions=pd.DataFrame(self.contributions(self.numbers), names, self.features),
            relevances=self.relevances(),
            nearest=nearest,
            nearest_other=other,
            held_off_by=gap.sort_values(ascending=False, kind="stable").rename("held_off_by"),
            coordinates=self.model.coordinates,
            units=self.model.units,
            unusual=tuple(unusual),
            preprocessing=self.model.preprocessing,
        )

    def series(self, values: Any, name: str | None = None) -> pd.Series[float]:
        return pd.Series(values, self.features if len(values) else [], dtype=np.float64, name=name)

    def contributions(self, numbers: NDArray[np.intp]) -> Array:
        """Return what each feature adds to the squared distances of the cases with these numbers."""
        metric = self.model.learner.metric_
        return self.model.spread(metric.contributions_at(self.x, self.evidence.cases, numbers))

    def relevances(self) -> pd.Series[float]:
        metric = self.model.learner.metric_
        maps = [metric[int(i)] if isinstance(metric, LocalMetric) else metric for i in self.numbers]
        each = np.array([one.relevances() for one in maps])
        votes = self.evidence.votes[0]
        share = mean_share(each, votes if votes.any() else np.ones(len(votes)))
        return self.series(self.model.spread(share), "relevance")

    def nearest(self, label: Any, *, other: bool) -> NearCase | None:
        """Return the nearest case of a class, or of any other class: among the neighbours, if none there among all."""
        wanted = np.flatnonzero((self.labels == label) ^ other)
        if len(wanted):
            number, sq_distance = self.numbers[wanted[0]], float(self.evidence.sq_distances[0, wanted[0]])
        else:
            listed = np.flatnonzero((self.evidence.labels == label) ^ other)
            if not len(listed):
                return None
            sq = self.model.learner.metric_.sq_distances_at(self.x[None], self.evidence.cases, listed[None])[0]
            number, sq_distance = listed[sq.argmin()], float(sq.min())
        alone = np.array([number])
        return NearCase(
            name=python_value(self.evidence.names(alone)[0]),
            kind=self.evidence.kind,
            label=python_value(self.evidence.labels[number]),
            distance=float(np.sqrt(sq_distance)),
            sq_distance=sq_distance,
            values=self.series(values_of_cases(self.model, self.evidence.cases, alone)[0], "value"),
            contributions=self.series(self.contributions(alone)[0], "contribution"),
        )


def summed_by_column(why: Explanation, row: pd.DataFrame, encoder: Summing) -> Explanation:
    """Return the explanation with the parts of each column of the table summed; ``row`` is the case before encoding."""
    features = pd.Index(encoder.feature_names_in_, name="feature")

    def summed(values: pd.Series[float]) -> pd.Series[float]:
        return pd.Series(encoder.sums(values), features, name=values.name)

    def near(case: NearCase) -> NearCase:
        values = pd.Series(encoder.decoded(case.values), features, name="value", dtype=object)
        return replace(case, values=values, contributions=summed(case.contributions))

    gap = why.held_off_by
    if len(gap):
        gap = summed(gap.loc[why.values.index]).sort_values(ascending=False, kind="stable")
    return replace(
        why,
        values=pd.Series(shown_values(row), features, name="value", dtype=object),
        neighbor_values=pd.DataFrame(
            [encoder.decoded(values) for values in why.neighbor_values.to_numpy()],
            why.neighbor_values.index,
            features,
            dtype=object,
        ),
        contributions=pd.DataFrame(encoder.sums(why.contributions), why.contributions.index, features),
        relevances=summed(why.relevances),
        nearest=near(why.nearest),
        nearest_other=None if why.nearest_other is None else near(why.nearest_other),
        held_off_by=gap,
    )
