"""The explanation of the predictions of a learner, for one case or several."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.explain.encoded import summed_by_column
from whynear.explain.explanation import Explanation, NearCase
from whynear.explain.linear_parts import is_linear_map
from whynear.explain.measured import explain_value
from whynear.explain.several import Explanations
from whynear.explain.training_values import values_of_cases
from whynear.explain.value_explanation import ValueExplanation
from whynear.metric import Evidence, LocalMetric, Metric
from whynear.metric.base import mean_share
from whynear.metric.pipeline import FittedPipeline
from whynear.metric.unusual import UnusualValue, unusual_values
from whynear.utils.arrays import Array
from whynear.utils.plain import python_value
from whynear.utils.row_names import names_of_rows


@overload
def explain(learner: Any, x: pd.Series[Any]) -> Explanation | ValueExplanation: ...
@overload
def explain(learner: Any, x: ArrayLike | pd.DataFrame) -> Explanation | ValueExplanation | Explanations: ...
def explain(
    learner: Any, x: ArrayLike | pd.Series[Any] | pd.DataFrame
) -> Explanation | ValueExplanation | Explanations:
    """Explain why a learner predicts a class, or a value of a measured target, for one case or for each of several.

    Parameters
    ----------
    learner : fitted classifier, MinimumNormRegressor or Pipeline
        A learner of this library, or a Pipeline ending in one. Features are the columns the Pipeline takes, as long
        as the steps before the learner shift, scale, select or impute columns. Behind a step that mixes them, such as
        PCA, they are the input coordinates of the learner, and ``coordinates`` is "steps". Columns that a
        `TableEncoder`, or a OneHotEncoder in a ColumnTransformer, makes of one column are summed.
    x : array-like of shape (n_features,) or (n_cases, n_features)
        The case: an array, a row of a table (a Series), or a table of one row; or a table of several. Names are matched
        in any order.

    Returns
    -------
    Explanation, ValueExplanation or Explanations
        For one case, also in a table of one row: the prediction, the cases behind it, what each feature adds to their
        distances, and which features make cases of other classes more distant; with ``frame()``, ``plot()`` and
        ``to_dict()``. For a measured target: the prediction, what each feature adds to it, with its sign, and the
        training rows to whose predictions all features add most nearly the same. For several: a sequence with the
        explanation of each row, with ``of(row)`` by the name of a row, ``frame()`` and ``to_dict()``.

    Notes
    -----
    For each case, time and memory are those of one prediction. If all neighbours are of the predicted class, the search
    for the nearest case of another among the n training cases adds O(n d) time and O(n) memory.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from whynear import GRLVQ
    >>> iris = load_iris(as_frame=True)
    >>> model = make_pipeline(StandardScaler(), GRLVQ(random_state=0))
    >>> model = model.fit(iris.data, iris.target_names[iris.target])
    >>> why = explain(model, iris.data.iloc[70])
    >>> why.prediction, why.nearest_other.label
    ('virginica', 'versicolor')
    >>> why.neighbors["label"].tolist()
    ['virginica', 'versicolor', 'setosa']
    >>> bool(np.allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"]))
    True
    >>> why.held_off_by.index[0]
    'petal width (cm)'
    >>> several = explain(model, iris.data.iloc[[0, 70]])
    >>> several[1].prediction, several.of(70).prediction
    ('virginica', 'virginica')

    A measured target:

    >>> from whynear import MinimumNormRegressor
    >>> width = iris.data.pop("petal width (cm)")
    >>> line = make_pipeline(StandardScaler(), MinimumNormRegressor()).fit(iris.data, width)
    >>> why = explain(line, iris.data.iloc[70])
    >>> why.contributions.round(2).to_dict()
    {'sepal length (cm)': -0.01, 'sepal width (cm)': 0.03, 'petal length (cm)': 0.55}
    >>> bool(np.isclose(why.mean_prediction + why.contributions.sum(), why.prediction))
    True
    """
    of_numbers = is_linear_map(learner)
    model = FittedPipeline.of(learner) if of_numbers else FittedPipeline.of_classifier(learner)
    explain_one = explain_value if of_numbers else explain_case
    table = model.table(x, "x")
    if len(table) == 1:
        return explain_one(model, table)
    if not len(table):
        raise ValueError("x must have at least one case to explain, got 0 rows instead.")
    names = names_of_rows(x)
    rows = range(1, len(table) + 1) if names is None else names.tolist()
    if of_numbers:
        return Explanations(tuple(rows), tuple(explain_value(model, table.iloc[[i]]) for i in range(len(table))))
    return Explanations(tuple(rows), tuple(explain_cases(model, table)))


def explain_case(model: FittedPipeline, x: ArrayLike | pd.Series[Any] | pd.DataFrame) -> Explanation:
    """Explain one case."""
    row = model.table(x, "x")
    if len(row) != 1:
        raise ValueError(f"x must be one case, got {len(row)} rows instead. Take one of them: X.iloc[i] or X[i].")
    return next(explain_cases(model, row))


def explain_cases(model: FittedPipeline, table: pd.DataFrame) -> Iterator[Explanation]:
    """Explain each row of a table as `FittedPipeline.table` returns it.

    All rows are encoded at once, but searched one by one: a row among others would differ from it alone in last digits.
    """
    seen = model.seen(table)
    each, learner = seen.iloc if isinstance(seen, pd.DataFrame) else np.ascontiguousarray(seen), model.learner
    if hasattr(learner, "evidence_by_row"):
        evidence = learner.evidence_by_row(seen)
    else:
        evidence = (learner.evidence(each[[row]]) for row in range(len(table)))
    values = np.asarray(model.numbers(table) if model.coordinates == "columns" else seen)
    unusual, features = unusual_values(model, table, seen), pd.Index(model.feature_names, name="feature")
    for row, behind in enumerate(evidence):
        view = _View(model, each[[row]], behind, features)
        why = _explained(view, values[row], unusual[row])
        if model.encoder is not None and model.coordinates == "columns":
            why = summed_by_column(why, model.with_dates(model.shown(table.iloc[[row]])), model.encoder)
        yield why


def _explained(view: _View, values: Array, unusual: list[UnusualValue]) -> Explanation:
    model = view.model
    prediction, probabilities = view.predicted()
    nearest = view.nearest(prediction, other=False)
    assert nearest is not None, "the predicted class has a case"
    other = view.nearest(prediction, other=True)
    gap = view.series([]) if other is None else other.contributions - nearest.contributions
    classes = pd.Index(model.learner.classes_, name="class")
    return Explanation(
        prediction=python_value(prediction),
        probabilities=pd.Series(probabilities, classes, name="probability"),
        support=pd.Series(view.evidence.support()[0], classes, name="support"),
        values=pd.Series(values, view.features, name="value"),
        neighbors=view.neighbors().assign(for_prediction=view.labels == prediction),
        neighbor_values=view.by_neighbor(view.values(view.numbers)),
        contributions=view.by_neighbor(view.contributions(view.numbers)),
        relevances=view.relevances(),
        nearest=nearest,
        nearest_other=other,
        held_off_by=gap.sort_values(ascending=False, kind="stable").rename("held_off_by"),
        coordinates=model.coordinates,
        units=model.units,
        unusual=tuple(unusual),
        preprocessing=model.preprocessing,
    )


@dataclass(frozen=True, eq=False)
class _View:
    """One case in the coordinates of the learner, and the cases behind its prediction."""

    model: FittedPipeline
    seen: Any
    evidence: Evidence
    features: pd.Index[Any]

    @cached_property
    def x(self) -> Array:
        return np.asarray(self.seen, dtype=np.float64)[0]

    @property
    def metric(self) -> Metric:
        return self.model.learner.metric_

    @property
    def numbers(self) -> NDArray[np.intp]:
        return self.evidence.indices[0]

    @property
    def labels(self) -> NDArray[Any]:
        return self.evidence.labels[self.numbers]

    def predicted(self) -> tuple[Any, Array]:
        """Return the prediction and the probabilities of the classes, from the evidence if possible."""
        learner = self.model.learner
        if hasattr(learner, "predictions_from"):
            labels, probabilities = learner.predictions_from(self.evidence)
        else:
            labels, probabilities = learner.predict(self.seen), learner.predict_proba(self.seen)
        return labels[0], probabilities[0]

    def series(self, values: Any, name: str | None = None) -> pd.Series[float]:
        return pd.Series(values, self.features if len(values) else [], dtype=np.float64, name=name)

    def neighbors(self) -> pd.DataFrame:
        sq = self.evidence.sq_distances[0]
        return pd.DataFrame(
            {
                self.evidence.kind: self.evidence.names(self.numbers),
                "label": self.labels,
                "distance": np.sqrt(sq),
                "sq_distance": sq,
                "vote": self.evidence.votes[0],
            }
        )

    def by_neighbor(self, values: Array) -> pd.DataFrame:
        """Return values of the features, a row for each case that votes."""
        names = pd.Index(self.evidence.names(self.numbers), name=self.evidence.kind)
        return pd.DataFrame(values, names, self.features)

    def values(self, numbers: NDArray[np.intp]) -> Array:
        """Return cases in the units of the columns made; NaN where their rows are known to lack a value."""
        return values_of_cases(self.model, self.evidence.cases, numbers)

    def contributions(self, numbers: NDArray[np.intp]) -> Array:
        """Return what each feature adds to the squared distances of the cases with these numbers."""
        return self.model.spread(self.metric.contributions_at(self.x, self.evidence.cases, numbers))

    def relevances(self) -> pd.Series[float]:
        metric = self.metric
        maps = [metric[int(i)] if isinstance(metric, LocalMetric) else metric for i in self.numbers]
        each = np.array([one.relevances() for one in maps])
        votes = self.evidence.votes[0]
        share = mean_share(each, votes if votes.any() else np.ones(len(votes)))
        return self.series(self.model.spread(share), "relevance")

    def nearest(self, label: Any, *, other: bool) -> NearCase | None:
        """Return the nearest case of a class, or of any other class: among the neighbours, if none there among all."""
        wanted = np.flatnonzero((self.labels == label) ^ other)
        if len(wanted):
            return self._near(int(self.numbers[wanted[0]]), float(self.evidence.sq_distances[0, wanted[0]]))
        listed = np.flatnonzero((self.evidence.labels == label) ^ other)
        if not len(listed):
            return None
        sq = self.metric.sq_distances_at(self.x[None], self.evidence.cases, listed[None])[0]
        place = int(sq.argmin())
        return self._near(int(listed[place]), float(sq[place]))

    def _near(self, number: int, sq_distance: float) -> NearCase:
        return NearCase(
            name=python_value(self.evidence.names(np.array([number]))[0]),
            kind=self.evidence.kind,
            label=python_value(self.evidence.labels[number]),
            distance=float(np.sqrt(sq_distance)),
            sq_distance=sq_distance,
            values=self.series(self.values(np.array([number]))[0], "value"),
            contributions=self.series(self.contributions(np.array([number]))[0], "contribution"),
        )
