"""The explanation of the predictions of a learner, for one case or several."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from whynear.explain.explanation import Explanation
from whynear.explain.near_cases import RowsOfPrototypes, explain_cases
from whynear.explain.value_explanation import ValueExplanation, explain_values, is_linear_map
from whynear.metric.steps import estimators_of
from whynear.model.pipeline import FittedPipeline
from whynear.utils import html
from whynear.utils.arrays import ByValue, plain_values
from whynear.utils.columns import names_of_rows, plain_name
from whynear.utils.text import counted


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
    learner : fitted learner or Pipeline
        A classifier or regressor of this library, or a Pipeline ending in one. Features are the columns the Pipeline
        takes, as long as the steps before the learner shift, scale, select or impute columns. Behind a step that mixes
        them, such as PCA, they are the input coordinates of the learner, and ``coordinates`` is "steps". Columns that a
        `TableEncoder`, or a OneHotEncoder in a ColumnTransformer, makes of one column are summed.
    x : array-like of shape (n_features,) or (n_cases, n_features)
        The case: an array, a row of a table (a Series), or a table of one row; or a table of several. Names are matched
        in any order.

    Returns
    -------
    Explanation, ValueExplanation or Explanations
        For one case, also in a table of one row: the prediction, the cases behind it, what each feature adds to their
        distances, and which features make cases of other classes more distant; with ``frame()``, ``plot()`` and
        ``to_dict()``; for a kernel learner also what each training row adds to the prediction, a class or a number. For
        a linear map: the prediction, what each feature adds to it, with its sign, and the training rows to whose
        predictions all features add most nearly the same. For several: a sequence with the explanation of each row,
        with ``of(row)`` by the name of a row, ``frame()`` and ``to_dict()``.

    Notes
    -----
    For each case, time and memory are those of one prediction. If all neighbours are of the predicted class, the search
    for the nearest case of another among the n training cases adds O(n d) time and O(n) memory.

    Examples
    --------
    >>> import numpy as np
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
    model = explainable(learner)
    table = model.table(x, "x")
    if not len(table):
        raise ValueError("x must have at least one case to explain, got 0 rows instead.")
    each = tuple(explain_each(model, table))
    if len(each) == 1:
        return each[0]
    names = names_of_rows(x)
    return Explanations(tuple(range(1, len(table) + 1) if names is None else names.tolist()), each)


def explainable(learner: Any) -> FittedPipeline:
    """Return the parts of a model whose predictions can be explained; refuse others."""
    last = next(reversed(estimators_of(learner)), None)
    by_rows = isinstance(last, RegressorMixin) and hasattr(last, "evidence")
    return FittedPipeline.of(learner) if by_rows or is_linear_map(learner) else FittedPipeline.of_classifier(learner)


def explain_each(
    model: FittedPipeline, table: pd.DataFrame, rows: RowsOfPrototypes | None = None
) -> Iterator[Explanation | ValueExplanation]:
    """Explain each row of a table as `FittedPipeline.table` returns it; prototypes by ``rows``, if they are given."""
    return explain_values(model, table) if is_linear_map(model.learner) else explain_cases(model, table, rows)


@dataclass(frozen=True, eq=False, repr=False)
class Explanations(ByValue, Sequence[Explanation | ValueExplanation]):
    """The explanation of each row of a table, in its order; a place, from 0, gives one, a slice several.

    Attributes
    ----------
    rows : tuple of int or str
        The names of the explained rows: the labels of the index of a DataFrame, unless it is the default one, or
        numbers from 1.
    explanations : tuple of Explanation or of ValueExplanation
        Their explanations.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> several = wn.explain(wn.GRLVQ(random_state=0).fit(iris.X, iris.y), iris.X.iloc[[0, 60, 120]])
    >>> several, several.of(60).prediction
    (<explanations of 3 rows>, 1)
    >>> [why.prediction for why in several]
    [0, 1, 2]
    """

    rows: tuple[Any, ...]
    explanations: tuple[Explanation | ValueExplanation, ...]

    @overload
    def __getitem__(self, place: int) -> Explanation | ValueExplanation: ...
    @overload
    def __getitem__(self, place: slice) -> Explanations: ...
    def __getitem__(self, place: int | slice) -> Explanation | ValueExplanation | Explanations:
        if isinstance(place, slice):
            return Explanations(self.rows[place], self.explanations[place])
        return self.explanations[place]

    def __len__(self) -> int:
        return len(self.explanations)

    def __repr__(self) -> str:
        return f"<explanations of {counted(len(self), 'row', 'rows')}>"

    def of(self, row: Any) -> Explanation | ValueExplanation:
        """Return the explanation of the row with this name."""
        name = plain_name(row)
        places = [place for place, known in enumerate(self.rows) if known == name]
        if len(places) != 1:
            rows = counted(len(places), "row", "rows")
            raise ValueError(
                f"{rows} called {name!r} were explained, and one is needed. Take it by its place, from 0: [0]."
            )
        return self.explanations[places[0]]

    def frame(self) -> pd.DataFrame:
        """Return one line per row, with its name as index.

        For classes, its columns are the prediction and its probability, the name and the distance of the nearest case
        of the predicted class, the class and the distance of the nearest case of another (``other``,
        ``other_distance``), the feature that makes this one most distant (``held_off_by``), and the number of unusual
        values. For numbers by a kernel learner: the prediction, what is predicted without any row, the name of the
        nearest row, what was measured there and its distance, and the number of unusual values. For a linear map: the
        prediction and the mean prediction, the feature of the largest contribution (``moved_by``) and this, the name of
        the nearest row, what was measured there and its distance, and the number of unusual values.
        """
        index = pd.Index(self.rows, name="row")
        return pd.DataFrame([why.summary() for why in self.explanations], index=index, columns=self._columns)

    @property
    def _columns(self) -> list[str]:
        return list(self.explanations[0].summary_names if self.explanations else Explanation.SUMMARY)

    def to_dict(self) -> list[dict[str, Any]]:
        """Return everything as plain numbers, strings and lists: for each row its name and its explanation."""
        return [{"row": row, **why.to_dict()} for row, why in zip(self.rows, self.explanations, strict=True)]

    def _repr_html_(self) -> str:
        frame = self.frame().head(html.MOST_ROWS)
        cells = [[str(row), *plain_values(line)] for row, line in zip(frame.index, frame.to_numpy(), strict=True)]
        shown = [["" if cell is None else cell for cell in line] for line in cells]
        more = html.more_of(len(self), len(frame), "row")
        return html.block(html.heading(repr(self)[1:-1].capitalize()), html.table(["row", *self._columns], shown, more))
