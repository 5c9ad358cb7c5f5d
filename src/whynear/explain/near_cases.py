"""Explanations of predictions by near cases, computed from the evidence of a learner and stated by column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.explain.case_explanation import interval_around, shown_values, values_of_cases
from whynear.explain.explanation import MOST_NEIGHBORS, Explanation, NearCase
from whynear.metric import Evidence, LocalMetric
from whynear.metric.base import mean_share
from whynear.model.encoders import Summing
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, unusual_values
from whynear.utils.arrays import Array, python_value
from whynear.utils.columns import names_of_rows
from whynear.utils.threads import row_blocks


@dataclass(frozen=True, eq=False)
class RowsOfPrototypes:
    """For each prototype the row of a table nearest to it: its name, and its values of the features explained."""

    names: NDArray[Any]
    values: NDArray[Any]

    @classmethod
    def of(cls, model: FittedPipeline, X: pd.DataFrame) -> RowsOfPrototypes | None:
        """Find the rows of a table; None for a learner without prototypes. Time O(n d) for each prototype."""
        learner = model.learner
        if not hasattr(learner, "prototypes_") or not len(X):
            return None
        table = model.matched(X)
        seen, metric = np.asarray(model.seen(table), dtype=np.float64), learner.metric_
        sq = np.full(len(learner.prototypes_), np.inf)
        places = np.zeros(len(sq), dtype=np.intp)
        for rows in row_blocks(len(seen), row_bytes=8 * len(sq)):
            block = metric.between(seen[rows], None if isinstance(metric, LocalMetric) else learner.prototypes_)
            nearest = block.argmin(axis=0)
            least = block[nearest, np.arange(len(sq))]
            nearer = least < sq
            sq[nearer], places[nearer] = least[nearer], nearest[nearer] + rows.start
        table, names = table.iloc[places], names_of_rows(X)
        if model.coordinates == "steps":
            values = seen[places].astype(object)
        else:
            shown = model.with_dates(model.shown(table))
            values = np.array([shown_values(shown.iloc[[row]]) for row in range(len(shown))], dtype=object)
        return cls(places + 1 if names is None else names[places], values)

    def shown_in(self, why: Explanation) -> Explanation:
        """Return an explanation by prototypes that shows the values of these rows."""
        numbers = why.neighbors["prototype"].to_numpy() - 1

        def near(case: NearCase) -> NearCase:
            values = pd.Series(self.values[case.name - 1], case.values.index, name="value")
            return replace(case, values=values, nearest_row=python_value(self.names[case.name - 1]))

        before = why.neighbor_values
        return replace(
            why,
            neighbors=why.neighbors.assign(nearest_row=self.names[numbers]),
            neighbor_values=pd.DataFrame(self.values[numbers], before.index, before.columns),
            nearest=near(why.nearest),
            nearest_other=None if why.nearest_other is None else near(why.nearest_other),
        )


def explain_cases(
    model: FittedPipeline, table: pd.DataFrame, rows: RowsOfPrototypes | None = None
) -> Iterator[Explanation]:
    """Explain each row of a table as `FittedPipeline.table` returns it; prototypes by ``rows``, if they are given.

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
        why = _Behind(model, each[[row]], behind).explained(values[row], unusual[row])
        if model.encoder is not None and model.coordinates == "columns":
            why = summed_by_column(why, model.with_dates(model.shown(table.iloc[[row]])), model.encoder)
        yield why if rows is None else rows.shown_in(why)


@dataclass(eq=False)
class _Behind:
    """One case in the coordinates of the learner, and the cases behind its prediction."""

    model: FittedPipeline
    seen: Any
    evidence: Evidence

    def __post_init__(self) -> None:
        self.x = np.asarray(self.seen, dtype=np.float64)[0]
        self.features = pd.Index(self.model.feature_names, name="feature")
        self.classes = getattr(self.model.learner, "classes_", np.empty(0))
        self.numbers = self.evidence.indices[0]
        self.labels = self.evidence.labels[self.numbers]

    def explained(self, values: Array, unusual: list[UnusualValue]) -> Explanation:
        """Return the explanation, given the values of the case."""
        prediction, probabilities = self.predicted()
        of_numbers, shares = not len(self.classes), self.evidence.shares
        nearest = self.nearest(prediction, other=False)
        other = None if of_numbers else self.nearest(prediction, other=True)
        assert nearest is not None, "the predicted class has a case"
        gap = self.series([]) if other is None else other.contributions - nearest.contributions
        classes = pd.Index(self.classes, name="class")
        listed = self.numbers[: len(self.numbers) if shares is None else MOST_NEIGHBORS]
        output = 0 if of_numbers else int(np.searchsorted(self.classes, prediction))
        votes = self.evidence.votes[0] if shares is None else shares[0, :, output]
        base = 0.0 if self.evidence.base is None else float(self.evidence.base[output])
        labels = self.labels[: len(listed)]
        names, sq = self.evidence.names(listed), self.evidence.sq_distances[0, : len(listed)]
        neighbors = {
            self.evidence.kind: names,
            "measured" if of_numbers else "label": labels,
            "distance": np.sqrt(sq),
            "sq_distance": sq,
            "vote": votes[: len(listed)],
            "for_prediction": labels == prediction if shares is None else votes[: len(listed)] > 0,
        }
        index = pd.Index(names, name=self.evidence.kind)
        support = np.empty(0) if of_numbers else self.evidence.support()[0]
        return Explanation(
            prediction=python_value(prediction),
            probabilities=pd.Series(probabilities, classes, name="probability"),
            support=pd.Series(support, classes, name="support"),
            values=pd.Series(values, self.features, name="value"),
            neighbors=pd.DataFrame(neighbors),
            neighbor_values=pd.DataFrame(
                values_of_cases(self.model, self.evidence.cases, listed), index, self.features
            ),
            contributions=pd.DataFrame(self.contributions(listed), index, self.features),
            relevances=self.relevances(),
            nearest=nearest,
            nearest_other=other,
            held_off_by=gap.sort_values(ascending=False, kind="stable").rename("held_off_by"),
            coordinates=self.model.coordinates,
            units=self.model.units,
            unusual=tuple(unusual),
            preprocessing=self.model.preprocessing,
            base=None if shares is None else base,
            rest=float(votes[len(listed) :].sum()),
            n_rest=len(self.numbers) - len(listed),
            interval=interval_around(prediction, self.model.learner) if of_numbers else None,
        )

    def predicted(self) -> tuple[Any, Array]:
        """Return the predicted class and the probabilities of all classes, or the predicted number."""
        learner = self.model.learner
        if not len(self.classes):
            return float(learner.predict(self.seen)[0]), np.empty(0)
        if hasattr(learner, "predictions_from"):
            labels, probabilities = learner.predictions_from(self.evidence)
        else:
            labels, probabilities = learner.predict(self.seen), learner.predict_proba(self.seen)
        return labels[0], probabilities[0]

    def series(self, values: Any, name: str | None = None) -> pd.Series[float]:
        return pd.Series(values, self.features if len(values) else [], dtype=np.float64, name=name)

    def contributions(self, numbers: NDArray[np.intp]) -> Array:
        """Return what each feature adds to the squared distances of the cases with these numbers."""
        metric = self.model.learner.metric_
        return self.model.spread(metric.contributions_at(self.x, self.evidence.cases, numbers))

    def relevances(self) -> pd.Series[float]:
        metric, votes = self.model.learner.metric_, np.abs(self.evidence.votes[0])
        if isinstance(metric, LocalMetric):
            each = np.array([metric[int(i)].relevances() for i in self.numbers])
            share = mean_share(each, votes if votes.any() else np.ones(len(votes)))
        else:
            share = metric.mean_shares()
        return self.series(self.model.spread(share), "relevance")

    def nearest(self, label: Any, *, other: bool) -> NearCase | None:
        """Return the nearest case of a class, or of any other class: among the neighbours, if none there among all.

        For numbers the nearest case.
        """
        is_number = not len(self.classes)
        wanted = np.flatnonzero(is_number | ((self.labels == label) ^ other))
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
