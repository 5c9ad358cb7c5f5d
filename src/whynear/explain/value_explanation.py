"""Explanations of predicted numbers by what each feature adds: the parts of a linear map, values and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
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
    interval_around,
    n_shown,
    number_text,
    others_label,
    ranked_places,
    shown_values,
    value_label,
    values_of_cases,
)
from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, unusual_values
from whynear.utils import html
from whynear.utils.arrays import Array, Indices, plain_values
from whynear.utils.axes import new_axes, short_name
from whynear.utils.text import short_number
from whynear.utils.threads import row_blocks

if TYPE_CHECKING:
    from markupsafe import Markup
    from matplotlib.axes import Axes


MAP_ATTRIBUTES = ("metric_", "coef_", "origin_", "target_origin_", "predict")


def is_linear_map(model: Any) -> bool:
    """Return whether a fitted model, or the last step of a Pipeline, predicts numbers by a linear map about an origin.

    >>> from whynear import MinimumNormRegressor
    >>> is_linear_map(MinimumNormRegressor().fit([[0.0], [1.0]], [0.0, 1.0])), is_linear_map(MinimumNormRegressor())
    (True, False)
    """
    if isinstance(model, type):
        return False
    last = next(reversed(estimators_of(model)), None)
    return all(name in vars(last) or hasattr(type(last), name) for name in MAP_ATTRIBUTES)


@dataclass(frozen=True, eq=False)
class LinearParts:
    """A linear map of a measured target, feature by feature.

    Features are the columns of the table; behind steps that mix columns, the inputs of the learner.
    """

    model: FittedPipeline

    @property
    def features(self) -> tuple[str, ...]:
        """The names of the features."""
        return self.model.columns if self._summed else self.model.feature_names

    def contributions(self, seen: Array) -> Array:
        """Return c_l = omega_l (x - origin)_l for each case as the learner takes it, summed over a column of the table.

        The prediction of a case is that at the origin, plus the sum of its contributions.
        """
        learner = self.model.learner
        parts = self.model.spread((seen - learner.origin_) * learner.coef_)
        return self.model.sums(parts) if self._summed else parts

    @cached_property
    def coefficients(self) -> Array:
        """By how much the prediction rises per unit of each feature; NaN for categories."""
        width = len(self.model.learner.coef_)
        unit = self.model.values(np.ones(width)) - self.model.values(np.zeros(width))
        slopes = self.model.spread(self.model.learner.coef_) / np.where(np.isfinite(unit), unit, 1.0)
        return self._of_numbers(slopes)

    @cached_property
    def origin(self) -> Array:
        """The value of each feature at which its contribution is zero; NaN for categories and columns not used."""
        return self._of_numbers(self.model.values(self.model.learner.origin_))

    @property
    def means(self) -> list[Any]:
        """The same as it is shown: that of a column of dates is a date."""
        if not self._summed:
            return self.origin.tolist()
        return [self.model.shown_value(*pair) for pair in zip(self.features, self.origin.tolist(), strict=True)]

    def decoded(self, values: Array) -> list[Any]:
        """Return one case, given in the columns made, by feature; None for a missing value."""
        held = self.model.encoder.decoded(values) if self._summed and self.model.encoder is not None else values
        return [None if pd.isna(value) else value for value in held]

    @property
    def _summed(self) -> bool:
        return self.model.encoder is not None and self.model.coordinates == "columns"

    def _of_numbers(self, values: Array) -> Array:
        """Return values of the columns made for each feature: of a column of numbers its own, NaN for categories."""
        if not self._summed:
            return values
        first = {name: place for place, name in reversed(list(enumerate(self.model.sources)))}
        text = set(self.model.text_columns)
        return np.array([np.nan if name in text else values[first[name]] for name in self.features])


NEIGHBORS = 5  # training rows that an explanation shows
BAR_LOOKS = {True: "strong", False: "weak"}  # in a notebook: of what raises the prediction, and of what lowers it


@dataclass(frozen=True, eq=False, repr=False)
class ValueExplanation(CaseExplanation):
    """Why a linear map predicts a value of a measured target for one case.

    The prediction is ``mean_prediction + contributions.sum()``. All contributions and distances are in the units of the
    target.

    Attributes
    ----------
    prediction : float
        The predicted value.
    mean_prediction : float
        The prediction at ``mean_values``: the mean of the training targets, zero for a map without intercept.
    values : Series
        The explained case: its value of each feature; dates are texts, such as "2022-03-04".
    mean_values : Series
        The value of each feature at which it adds nothing: its training mean, with missing values filled in. NaN for
        categories and for columns that did not reach the learner.
    coefficients : Series
        By how much the prediction rises per unit of each feature, of dates per day; NaN for categories.
    contributions : Series
        What each feature adds to the prediction: its coefficient times the difference from its mean. A column of
        categories, or with an indicator of missing values, adds one number, the sum of its parts.
    neighbors : DataFrame
        The nearest training rows: their names (in a column ``row``, or ``case`` where rows have no names), the value
        that was ``measured``, the one that is ``predicted``, ``distance`` and ``sq_distance``. The distance is that of
        the contributions: a row is near if every feature adds as much to its prediction as to that of the case. Empty
        for a model of an older file, which has no training rows.
    neighbor_values, neighbor_contributions : DataFrame
        A row per neighbour, with its name as index: its value of each feature, and what the feature adds to its
        prediction. A value that the row lacks is missing, if the model was made by `study` or `learn_table`; otherwise
        it is what was filled in.
    coordinates : {"columns", "steps"}
        Whether features are the columns of the table or, behind steps that mix columns, the output of these steps.
    unusual : tuple of UnusualValue
        Values of the case that are unlike the training rows; see `Explanation`.
    interval : tuple of float or None
        Of the values measured in held-out rows, 90% lay in such an interval around their predictions; None where this
        is not known: for models not made by `study` or `learn_table`.
    cancels : bool
        Whether a single feature adds more than the whole range of the training targets, and others take it away again,
        as among the channels of a spectrum. The contributions have a meaning only together then.

    Examples
    --------
    >>> import numpy as np
    >>> import whynear as wn
    >>> X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]), np.array([1.0, 2.0, 5.0, 6.0])
    >>> why = wn.explain(wn.MinimumNormRegressor().fit(X, y), [3.0, 1.0])
    >>> round(why.mean_prediction, 2), why.contributions.round(2).to_dict(), round(why.prediction, 2)
    (3.5, {'x0': 3.0, 'x1': 0.5}, 7.0)
    """

    SUMMARY = (
        "prediction", "mean_prediction", "moved_by", "contribution", "nearest", "measured", "distance", "unusual",
    )  # fmt: skip

    prediction: float
    mean_prediction: float
    values: pd.Series[Any]
    mean_values: pd.Series[Any]
    coefficients: pd.Series[float]
    contributions: pd.Series[float]
    neighbors: pd.DataFrame
    neighbor_values: pd.DataFrame
    neighbor_contributions: pd.DataFrame
    coordinates: Literal["columns", "steps"]
    unusual: tuple[UnusualValue, ...] = ()
    interval: tuple[float, float] | None = None
    cancels: bool = False

    @property
    def ranked(self) -> pd.Series[float]:
        """The contributions, those of the largest size first."""
        return self.contributions.iloc[self.most_shown]

    @property
    def distance_shares(self) -> pd.DataFrame:
        """What each feature adds to the squared distance of each neighbour; a row sums to that distance."""
        return (self.neighbor_contributions - self.contributions) ** 2

    @property
    def sides(self) -> list[tuple[pd.Series[float], pd.Series[Any]]]:
        """What each feature adds to the prediction, and its training mean."""
        return [(self.contributions, self.mean_values)]

    @property
    def neighbor_parts(self) -> pd.DataFrame:
        """What each feature adds to the predictions of the neighbours."""
        return self.neighbor_contributions

    @property
    def most_shown(self) -> Indices:
        """The places of the features, from that of the largest contribution."""
        return ranked_places(self.contributions.abs())

    def _reason(self) -> str:
        mean = f"the mean {short_number(self.mean_prediction)}" if self.mean_prediction else "zero"
        start, ranked = self._predicted(self.mean_prediction, mean), self.ranked
        if not len(ranked) or not ranked.iloc[0]:
            return f"{start}: no feature adds to it{self._near()}"
        named = ranked[ranked.abs() >= LEAST_SHARE_NAMED * abs(ranked.iloc[0])].head(MOST_FEATURES_NAMED)
        parts = ", ".join(f"{name!r} ({short_number(part, 3, signed=True)})" for name, part in named.items())
        together = ", which others cancel: read the contributions only together" if self.cancels else ""
        return f"{start}: {parts}{together}{self._near()}"

    def summary(self) -> tuple[Any, ...]:
        """Return the values of ``SUMMARY``: a line of a table of several explanations."""
        most = self.ranked.head(1)
        near = self.neighbors.iloc[0] if len(self.neighbors) else None
        return (
            *(self.prediction, self.mean_prediction),
            *((most.index[0], float(most.iloc[0])) if len(most) else (None, np.nan)),
            *((None, np.nan, np.nan) if near is None else (near[self.kind], near["measured"], near["distance"])),
            len(self.unusual),
        )

    def frame(self) -> pd.DataFrame:
        """Return one row per feature, in the order of the table.

        Its columns are the ``value`` of the case, the ``mean`` of the training rows, the ``coefficient`` and the
        ``contribution`` to the prediction, and for the nearest training row its ``nearest_value``, its
        ``nearest_contribution`` to its own prediction, and the ``distance_share`` of the feature.
        """
        near = len(self.neighbors) > 0
        return by_feature(
            {
                "value": self.values,
                "mean": self.mean_values,
                "coefficient": self.coefficients,
                "contribution": self.contributions,
                "nearest_value": self.neighbor_values.iloc[0] if near else None,
                "nearest_contribution": self.neighbor_contributions.iloc[0] if near else np.nan,
                "distance_share": self.distance_shares.iloc[0] if near else np.nan,
            }
        )

    def plot(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the prediction: the ``most`` largest, and the sum of all others."""
        ranked = self.ranked
        shown = ranked.head(n_shown(ranked.abs().to_numpy(), most))
        labels = [value_label(name, self.values[name], self.mean_values[name]) for name in shown.index]
        bars = shown.tolist()
        if n_others := len(ranked) - len(shown):
            labels.append(others_label(n_others))
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
        ax.margins(x=0.16)  # room for the numbers
        finish_bars(ax, labels, "added to the prediction, in units of the target")
        start = f"the mean {number_text(self.mean_prediction)}" if self.mean_prediction else "0"
        title = f"predicted {number_text(self.prediction)}: {start} plus what each feature adds"
        ax.set_title(title, fontsize="small", loc="left")
        return ax

    def plot_neighbors(self, ax: Axes | None = None, most: int = 12) -> Axes:
        """Draw what each feature adds to the predictions of the case and of its nearest rows, as a heat map."""
        parts = pd.concat([self.contributions.to_frame().T, self.neighbor_contributions])
        sizes = parts.abs().max().sort_values(ascending=False, kind="stable")
        shown = list(sizes.index[: n_shown(sizes.to_numpy(), most)])
        near = self.neighbors[[self.kind, "measured"]].itertuples(index=False)
        return heat_map(
            ax or new_axes(2.8 + 0.85 * len(parts), 1.6 + 0.3 * len(shown)),
            parts[shown].to_numpy().T,
            shown,
            ["this case", *(f"{short_name(str(name))}\n{number_text(measured)}" for name, measured in near)],
            (f"nearest {self.kind}s: name and measured value", "added to the prediction"),
            lambda part: f"{part:+.2g}".replace("-", "−"),
            signed=True,
        )

    def _tables(self) -> list[Markup]:
        ranked = self.ranked
        largest = float(ranked.abs().max()) if len(ranked) else 0.0
        top = ranked[ranked.abs() >= LEAST_SHARE_SHOWN * largest].head(html.MOST_ROWS)
        values, means = self.values.map(_shown), self.mean_values.map(_shown)
        within = (min(0.0, float(top.min())), max(0.0, float(top.max()))) if len(top) else (0.0, 0.0)
        parts = [
            [name, values[name], means[name], html.bar(0.0, part, within, BAR_LOOKS[part > 0], mark=0.0), float(part)]
            for name, part in zip(top.index, html.rounded(top), strict=True)
        ]
        near = self.neighbors[[self.kind, "measured", "predicted", "distance"]].itertuples(index=False)
        headings = ["feature", "value", "mean", "adds to the prediction", ""]
        return [
            html.table(headings, parts, html.more_of(len(ranked), len(top), "feature")),
            html.table(
                [f"nearest {self.kind}", "measured", "predicted", "distance"],
                [[str(name), *facts] for name, *facts in near],
            ),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists; None for a missing value."""
        near = self._neighbor_records(contributions=self.neighbor_contributions, distance_shares=self.distance_shares)
        held = {
            "prediction": self.prediction,
            "interval": self.interval,
            "mean_prediction": self.mean_prediction,
            "features": list(self.values.index),
            "values": self.values.tolist(),
            "mean_values": self.mean_values.tolist(),
            "coefficients": self.coefficients.tolist(),
            "contributions": self.contributions.tolist(),
            "neighbors": near,
            "cancels": self.cancels,
            "coordinates": self.coordinates,
            "unusual": [value.to_dict() for value in self.unusual],
        }
        return plain_values(held)


def _shown(value: Any) -> str:
    if pd.isna(value):
        return ""
    return short_number(float(value)) if isinstance(value, float | np.floating) else str(value)


def explain_values(model: FittedPipeline, table: pd.DataFrame) -> Iterator[ValueExplanation]:
    """Explain each row of a table as `FittedPipeline.table` returns it.

    For each, time is O(n d) for n training rows, and memory that of a block of them.
    """
    parts = LinearParts(model)
    for place in range(len(table)):
        yield _explained(parts, table.iloc[[place]])


def _explained(parts: LinearParts, row: pd.DataFrame) -> ValueExplanation:
    model, learner = parts.model, parts.model.learner
    seen = model.seen(row)
    inputs = np.asarray(seen, dtype=np.float64)
    own = parts.contributions(inputs)[0]
    cases = getattr(learner, "cases_", np.empty((0, len(learner.coef_))))  # an older file has none
    sq = np.empty(len(cases))
    for rows in row_blocks(len(cases), row_bytes=24 * max(1, cases.shape[1])):
        sq[rows] = np.square(parts.contributions(cases[rows]) - own).sum(axis=1)
    numbers = np.argsort(sq, kind="stable")[:NEIGHBORS]  # of the most similar contributions
    named = getattr(learner, "row_names_", None)
    kind, names = ("case", (numbers + 1).tolist()) if named is None else ("row", named[numbers].tolist())
    targets, largest = getattr(learner, "targets_", None), np.abs(own).max(initial=0.0)
    neighbors = pd.DataFrame(
        {
            kind: names,
            "measured": learner.targets_[numbers] if len(numbers) else np.empty(0),
            "predicted": (cases[numbers] - learner.origin_) @ learner.coef_ + learner.target_origin_,
            "distance": np.sqrt(sq[numbers]),
            "sq_distance": sq[numbers],
        }
    )
    features, index = pd.Index(parts.features, name="feature"), pd.Index(names, name=kind)
    held = [parts.decoded(values) for values in values_of_cases(model, cases, numbers)]
    values = inputs[0].tolist() if model.coordinates == "steps" else shown_values(model.with_dates(model.shown(row)))
    prediction = float(learner.predict(seen)[0])
    return ValueExplanation(
        prediction=prediction,
        mean_prediction=float(learner.target_origin_),
        values=pd.Series(values, features, name="value", dtype=object),
        mean_values=pd.Series(parts.means, features, name="mean"),
        coefficients=pd.Series(parts.coefficients, features, name="coefficient"),
        contributions=pd.Series(own, features, name="contribution"),
        neighbors=neighbors,
        neighbor_values=pd.DataFrame(held, index, features, dtype=object),
        neighbor_contributions=pd.DataFrame(parts.contributions(cases[numbers]), index, features),
        coordinates=model.coordinates,
        unusual=tuple(unusual_values(model, row, seen)[0]),
        interval=interval_around(prediction, learner),
        # One contribution exceeds the range of the targets, and the others take away half of it or more.
        cancels=targets is not None and bool(largest > np.ptp(targets) and abs(own.sum()) <= largest / 2),
    )
