"""The explanation of one prediction, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
import pandas as pd

from whynear.explain.caution import with_caution
from whynear.metric.unusual import UnusualValue
from whynear.utils import html
from whynear.utils.plain import python_value
from whynear.utils.text import joined, probability
from whynear.utils.values import ByValue

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FEATURES_NAMED = 3  # in ``repr``
LEAST_SHARE_NAMED = 0.05  # of the largest difference, in ``repr``
LEAST_SHARE_SHOWN = 0.01  # of the longest bar, in a notebook
BAR_LOOKS = ("strong", "weak")  # for the predicted class, and for another


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


@dataclass(frozen=True, eq=False, repr=False)
class Explanation(ByValue):
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
        The training rows or prototypes that vote, nearest first: their names in a column that says what they are
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

    SUMMARY: ClassVar[tuple[str, ...]] = (
        *("prediction", "probability", "nearest", "distance"),
        *("other", "other_distance", "held_off_by", "unusual"),
    )

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

    def __repr__(self) -> str:
        return with_caution(self._reason(), self.unusual)

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
        table = pd.DataFrame(
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
        return table.rename_axis("feature").reset_index()

    def plot(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the distances of the nearest case of the predicted and of any other class.

        Shows the ``most`` features that add most to either, first those that add more to the other case, and the sum
        of all others.
        """
        from whynear.explain.drawing import draw_explanation

        return draw_explanation(self, ax, most)

    def plot_neighbors(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the squared distance of each case that votes, as a heat map."""
        from whynear.explain.drawing import draw_neighbors

        return draw_neighbors(self, ax, most)

    def _repr_html_(self) -> str:
        cases = [case for case in (self.nearest, self.nearest_other) if case is not None]
        parts = html.rounded([case.contributions for case in cases])
        sizes = np.abs(parts).max(axis=0)
        largest = np.argsort(-sizes, kind="stable")[: html.MOST_ROWS]
        top = [j for j in largest if sizes[j] >= LEAST_SHARE_SHOWN * sizes.max()]
        within = (float(min(0.0, parts.min())), float(max(0.0, parts.max())))
        rows = [
            [self.values.index[j], "missing" if plain(self.values.iloc[j]) is None else plain(self.values.iloc[j])]
            + [cell for part, look in zip(parts[:, j], BAR_LOOKS, strict=False) for cell in _drawn(part, within, look)]
            for j in top
        ]
        which = [html.text(f"adds to {case.label}, {case.kind} {case.name}", most=60) for case in cases]
        votes = self.neighbors.head(html.MOST_ROWS)
        votes = votes.assign(vote=html.rounded(votes["vote"]))
        most = (0.0, float(votes["vote"].max()))
        voting = [
            [str(case), str(label), distance, *_drawn(vote, most, BAR_LOOKS[not favoured])]
            for case, label, distance, _, vote, favoured in votes.itertuples(index=False)
        ]
        more = html.more_of(len(self.neighbors), len(votes), self.nearest.kind)
        return html.block(
            html.heading(repr(self)[:1].upper() + repr(self)[1:]),
            html.table([self.nearest.kind, "class", "distance", "vote", ""], voting, more),
            html.table(
                ["feature", "value", *(name for case in which for name in (case, ""))],
                rows,
                html.more_of(parts.shape[1], len(top), "feature"),
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists; None for a missing value."""
        return {
            "prediction": plain(self.prediction),
            "classes": [plain(label) for label in self.probabilities.index],
            "probabilities": _listed(self.probabilities),
            "support": _listed(self.support),
            "features": list(self.values.index),
            "values": _listed(self.values),
            "relevances": _listed(self.relevances),
            "neighbors": [
                {
                    **{str(name): plain(value) for name, value in neighbor.items()},
                    "values": [plain(value) for value in values],
                    "contributions": parts.tolist(),
                }
                for neighbor, values, parts in zip(
                    self.neighbors.to_dict("records"),
                    self.neighbor_values.to_numpy(),
                    self.contributions.to_numpy(),
                    strict=True,
                )
            ],
            "nearest": _near(self.nearest),
            "nearest_other": None if self.nearest_other is None else _near(self.nearest_other),
            "held_off_by": [{"feature": name, "difference": part} for name, part in self.held_off_by.items()],
            "coordinates": self.coordinates,
            "units": self.units,
            "unusual": [value.to_dict() for value in self.unusual],
            **({"preprocessing": self.preprocessing} if self.preprocessing else {}),
        }


def _drawn(value: float, within: tuple[float, float], look: str) -> tuple[Any, float]:
    zero = 0.0 if within[0] < 0 else None
    return html.bar(0.0, value, within, look, mark=zero, width=120), float(value)


def plain(value: Any) -> Any:
    """Return a number, string or label as a Python type; None for NaN."""
    value = python_value(value)
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, bool | int | float | str | None) else str(value)


def _listed(values: pd.Series[Any]) -> list[Any]:
    return [plain(value) for value in values]


def _near(case: NearCase) -> dict[str, Any]:
    return {
        case.kind: plain(case.name),
        "label": plain(case.label),
        "distance": case.distance,
        "sq_distance": case.sq_distance,
        "values": _listed(case.values),
        "contributions": _listed(case.contributions),
    }
