"""The smallest changes of a case that change its prediction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.explain.flip_search import FlipSearch, Movable, Point, nearest_first
from whynear.metric.pipeline import FittedPipeline
from whynear.tables.dates import days_between
from whynear.utils.plain import plain_values, python_value
from whynear.utils.text import listed, short_number

MOST_FEATURES = 200  # that are tried, those of the largest weight
MOST_DISCRETE = 20  # different whole numbers of a feature that takes no others
ROWS_PREDICTED = 2_000  # of the table, to find cases of another prediction


@dataclass(frozen=True)
class Flip:
    """A change of a case that changes its prediction.

    Attributes
    ----------
    features : tuple of str
        The features that change.
    before, after : tuple
        Their values in the case, and the new ones; dates are texts, such as "2022-03-04".
    deviations : tuple of float
        By how many standard deviations of the table each of them changes; 1 for another category.
    size : float
        The Euclidean length of ``deviations``.
    prediction : object
        What is predicted after the change.

    Examples
    --------
    >>> flip = Flip(("height",), (1.7,), (1.9,), (2.0,), 2.0, "tall")  # `flips` finds them
    >>> print(flip)
    'height' from 1.7 to 1.9: 'tall' (2 standard deviations)
    """

    features: tuple[str, ...]
    before: tuple[Any, ...]
    after: tuple[Any, ...]
    deviations: tuple[float, ...]
    size: float
    prediction: Any

    def __str__(self) -> str:
        """Return the change in a sentence."""
        moves = zip(self.features, self.before, self.after, strict=True)
        words = ", ".join(f"{name!r} from {_move(old, new)}" for name, old, new in moves)
        size = f"{self.size:.2g}"
        return f"{words}: {self.prediction!r} ({size} standard deviation{'s' * (size != '1')})"


@dataclass(frozen=True)
class Flips(Sequence[Flip]):
    """The smallest changes found for a case: with one feature, with two if that is shorter, or with as few as needed.

    Attributes
    ----------
    prediction : object
        What is predicted for the case as it is.
    found : tuple of Flip
        Fewest features first; empty if no change within the range of the table was found.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> found = wn.flips(wn.GRLVQ(random_state=0).fit(iris.X, iris.y), iris.X.iloc[70], iris.X)
    >>> found.prediction, [flip.prediction for flip in found][:1]
    (2, [1])
    >>> found.frame().columns.tolist()
    ['change', 'feature', 'before', 'after', 'deviations', 'size', 'prediction']
    """

    prediction: Any
    found: tuple[Flip, ...]

    def __len__(self) -> int:
        return len(self.found)

    def __getitem__(self, place: Any) -> Any:
        return self.found[place]

    def __iter__(self) -> Iterator[Flip]:
        return iter(self.found)

    def frame(self) -> pd.DataFrame:
        """Return one row for each feature of each change."""
        rows = [
            (number, name, before, after, deviations, flip.size, flip.prediction)
            for number, flip in enumerate(self.found)
            for name, before, after, deviations in zip(
                flip.features, flip.before, flip.after, flip.deviations, strict=True
            )
        ]
        names = ["change", "feature", "before", "after", "deviations", "size", "prediction"]
        return pd.DataFrame(rows, columns=names)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        flips = [{**vars(flip), "sentence": str(flip)} for flip in self.found]
        return plain_values({"prediction": self.prediction, "flips": flips})


def flips(
    learner: Any,
    x: ArrayLike | pd.Series[Any] | pd.DataFrame,
    X: ArrayLike | pd.DataFrame,
    *,
    to: Any = None,
    features: Iterable[str] | None = None,
) -> Flips:
    """Find the smallest changes of a case that change its prediction, within the range of a table.

    Parameters
    ----------
    learner : fitted classifier or Pipeline
        A learner of this library, or a Pipeline ending in one.
    x : array-like of shape (n_features,)
        The case: an array, a row of a table (a Series), or a table of one row.
    X : array-like of shape (n_samples, n_features)
        The table that says which values are usual: features stay within its range, and sizes are in its standard
        deviations. Whole numbers of few different values, and categories, take only values of the table.
    to : object, optional
        The class that is to be predicted; any other than the prediction for the case without it.
    features : iterable of str, optional
        The features that may change; all without it. Missing values of the case are never changed.

    Returns
    -------
    Flips
        Each change was verified by predicting the changed case.

    Notes
    -----
    One feature at a time is moved to both ends of its range, in 48 steps; the first step that changes the prediction is
    divided until the change is exact. So the smallest change of one feature is found unless the prediction changes and
    changes back within one step. Two features are moved along 16 directions, which are then refined: their change may
    be a little longer than the smallest. Where neither changes the prediction, values are taken from the nearest rows
    of the table that are predicted otherwise, of as few features as possible. All of this takes a few thousand
    predictions.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from whynear import GRLVQ
    >>> iris = load_iris(as_frame=True)
    >>> model = GRLVQ(random_state=0).fit(iris.data, iris.target_names[iris.target])
    >>> found = flips(model, iris.data.iloc[70], iris.data)
    >>> found.prediction, found[0].prediction, found[0].features
    ('virginica', 'versicolor', ('petal length (cm)',))
    """
    model = FittedPipeline.of_classifier(learner)
    row, table = model.table(x, "x"), model.table(X)
    if len(row) != 1:
        raise ValueError(f"x must be one case, got {len(row)} rows instead. Take one of them: X.iloc[i] or X[i].")
    row, table = model.read(row), model.read(table)
    prediction = _predicted(model, row)[0]
    if to is not None and to not in model.learner.classes_:
        raise ValueError(f"to={to!r} is no class of the learner. Use one of {listed(list(model.learner.classes_))}.")

    def flipped(rows: pd.DataFrame) -> NDArray[np.bool_]:
        made = _predicted(model, rows)
        return np.asarray(made != prediction if to is None else made == to)

    if to is not None and to == prediction:
        return Flips(python_value(prediction), ())
    search = FlipSearch(row, tuple(_movable(model, row, table, features)), flipped)
    points = _smallest(search, table)
    return Flips(python_value(prediction), tuple(_flip(search, model, point) for point in points))


def _smallest(search: FlipSearch, table: pd.DataFrame) -> list[Point]:
    """Return the smallest change of one feature, and one of two if it is shorter; else one of as few as needed."""
    single = search.along_one()
    points = single[:1]
    first = [name for point in single for name in point]
    names = [*first, *(one.name for one in search.features if one.name not in first)]
    pair = search.along_two(names, search.size(points[0]) if points else np.inf)
    points += [] if pair is None else [pair]
    if points:
        return points
    some = table.iloc[nearest_first(table, search.row, search.features)[:ROWS_PREDICTED]]
    taken = search.towards(some[search.flipped(some)])
    return [] if taken is None else [taken]


def _movable(
    model: FittedPipeline, row: pd.DataFrame, table: pd.DataFrame, features: Iterable[str] | None
) -> Iterator[Movable]:
    """Yield the features that may change, those of the largest weight first."""
    dates, allowed = model.date_columns, set(model.columns if features is None else features)
    if unknown := sorted(allowed - set(model.columns)):
        raise ValueError(f"features has {listed(unknown)}, which the learner does not take.")
    for name in _by_weight(model)[:MOST_FEATURES]:
        if name not in allowed or pd.isna(row[name].iloc[0]):
            continue
        if name in model.text_columns:
            yield Movable(name, values=tuple(model.known_categories[name]), is_number=False)
            continue
        values = table[name].dropna().to_numpy(dtype=np.float64)
        if not len(values) or (deviation := float(values.std())) == 0:
            continue
        different = np.unique(values)
        discrete = len(different) <= MOST_DISCRETE and bool((different == np.round(different)).all())
        kept = tuple(different.tolist()) if discrete else ()
        per_unit = dates[name].per_day if name in dates else 0
        yield Movable(name, float(values.min()), float(values.max()), deviation, kept, per_unit=per_unit)


def _by_weight(model: FittedPipeline) -> list[str]:
    """Return the columns of the table, those of the largest weight in the metric first."""
    if model.reached is None:
        return list(model.columns)
    relevances = np.atleast_2d(model.learner.metric_.relevances()).max(axis=0)
    weights = model.sums(model.spread(np.asarray(relevances, dtype=np.float64)))
    return [model.columns[place] for place in np.argsort(-weights, kind="stable")]


def _predicted(model: FittedPipeline, rows: pd.DataFrame) -> NDArray[Any]:
    return np.asarray(model.learner.predict(model.seen(rows)))


def _flip(search: FlipSearch, model: FittedPipeline, point: Point) -> Flip:
    point = {name: value for name, value in point.items() if value != search.case[name]}  # of two, one may stay
    sizes = {one.name: one.size for one in search.features}
    before = tuple(python_value(model.shown_value(name, search.case[name])) for name in point)
    after = tuple(python_value(model.shown_value(name, value)) for name, value in point.items())
    changed = search.row.assign(**{name: [value] for name, value in point.items()})
    return Flip(
        features=tuple(point),
        before=before,
        after=after,
        deviations=tuple(sizes[name](search.case[name], value) for name, value in point.items()),
        size=search.size(point),
        prediction=python_value(_predicted(model, changed)[0]),
    )


def _move(before: Any, after: Any) -> str:
    """Return a change in words; that of a date with the number of days."""
    if (later := days_between(before, after)) is None:
        return f"{_shown(before)} to {_shown(after)}"
    number = f"{abs(later):.4g}"
    return f"{before} to {after} ({number} day{'s' * (number != '1')} {'later' if later > 0 else 'earlier'})"


def _shown(value: Any) -> str:
    return short_number(value) if isinstance(value, float) else repr(value)
