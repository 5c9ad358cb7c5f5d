"""The smallest changes of a case that change its prediction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from whynear.data.cells import days_between
from whynear.model.pipeline import FittedPipeline
from whynear.utils.arrays import Indices, plain_values, python_value
from whynear.utils.text import listed, short_number

MOST_FEATURES = 200  # that are tried, those of the largest weight
MOST_DISCRETE = 20  # different whole numbers of a feature that takes no others
ROWS_PREDICTED = 2_000  # of the table, to find cases of another prediction
STEPS = 48  # from the case to the end of the range of a feature
SHARES = np.arange(1, 16) / 16  # of the last step, at which it is divided again
ROUNDS = 5  # of dividing it, until the change is exact to 1e-6 of it
PAIRED_FEATURES = 6  # that are changed two at a time
ANGLES = 16  # of the directions in which two features change
CASES_TRIED = 8  # of another prediction, towards which a case is moved
Flipped = Callable[[pd.DataFrame], NDArray[np.bool_]]
Point = dict[str, Any]  # the new values of some features


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

    def frame(self) -> pd.DataFrame:
        """Return one row for each feature of each change."""
        rows = [
            (number, *move, flip.size, flip.prediction)
            for number, flip in enumerate(self.found)
            for move in zip(flip.features, flip.before, flip.after, flip.deviations, strict=True)
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
        The table from which usual values are taken: features stay within its range, and sizes are in its standard
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
    names = list(model.columns)
    if model.reached is not None:
        relevances = np.atleast_2d(model.learner.metric_.relevances()).max(axis=0)
        weights = model.sums(model.spread(np.asarray(relevances, dtype=np.float64)))
        names = [names[place] for place in np.argsort(-weights, kind="stable")]
    for name in names[:MOST_FEATURES]:
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


# The search


@dataclass(frozen=True)
class Movable:
    """A feature that may change: its range and standard deviation, or the values that it may take.

    ``values`` are those of a feature that is no continuous number, ``per_unit`` is how many numbers between 0 and 1 it
    can take: 1 for whole days, for example; 0 for any. A change of a category has the size of one standard deviation,
    since categories have no distances.
    """

    name: str
    low: float = 0.0
    high: float = 0.0
    deviation: float = 1.0
    values: tuple[Any, ...] = ()
    is_number: bool = True
    per_unit: int = 0

    def nearest(self, value: float) -> float:
        """Return the nearest number that the feature can take."""
        return round(value * self.per_unit) / self.per_unit if self.per_unit else value

    def size(self, before: Any, after: Any) -> float:
        """Return the length of a change in standard deviations."""
        if not self.is_number:
            return float(before != after)
        return abs(float(after) - float(before)) / self.deviation


@dataclass(frozen=True, eq=False)
class FlipSearch:
    """A case as a table of one row, the features that may change, and what says whether the prediction has changed."""

    row: pd.DataFrame
    features: tuple[Movable, ...]
    flipped: Flipped

    @cached_property
    def case(self) -> Point:
        """The values of the case."""
        return {str(name): self.row.iloc[0, place] for place, name in enumerate(self.row.columns)}

    def size(self, point: Point) -> float:
        """Return the Euclidean length of a change, each feature in its standard deviations."""
        sizes = (self._by_name[name].size(self.case[name], value) for name, value in point.items())
        return float(np.sqrt(sum(size**2 for size in sizes)))

    def flips(self, points: Sequence[Point]) -> NDArray[np.bool_]:
        """Return which changes of the case change its prediction."""
        if not points:
            return np.zeros(0, dtype=bool)
        table = self.row.iloc[np.zeros(len(points), dtype=np.intp)].reset_index(drop=True)
        changed = dict.fromkeys(name for point in points for name in point)
        columns: dict[str, Any] = {name: [point.get(name, self.case[name]) for point in points] for name in changed}
        return self.flipped(table.assign(**columns))

    def along_one(self) -> list[Point]:
        """Return the smallest change of each feature alone that flips, the smallest first; exact between grid points.

        Each feature moves to both ends of its range in `STEPS` steps; the first one that flips is divided again.
        """
        paths = [path for feature in self.features for path in self._paths(feature)]
        best: dict[str, Point] = {}
        for point in self._first_flips(paths):
            (name,) = point
            if name not in best or self.size(point) < self.size(best[name]):
                best[name] = point
        return sorted(best.values(), key=self.size)

    def along_two(self, names: Sequence[str], within: float = np.inf) -> Point | None:
        """Return the smallest change found of two of these features, smaller than ``within`` standard deviations."""
        known = [feature for feature in self.features if feature.name in names and not feature.values]
        pairs = list(combinations(known[:PAIRED_FEATURES], 2))
        first = 2 * np.pi / ANGLES
        angles = first * (np.arange(ANGLES) + 0.5)
        best = self._nearest_ray([(pair, angle) for pair in pairs for angle in angles], within)
        for width in (first / 5, first / 25) if best is not None else ():
            assert best is not None, "the loop is entered with one"
            near = [(best[0], best[1] + width * turn) for turn in (-2, -1, 0, 1, 2)]
            best = self._nearest_ray(near, within) or best
        return None if best is None else best[2]

    def towards(self, others: pd.DataFrame) -> Point | None:
        """Return the change towards one of these cases, which are predicted otherwise, that needs the fewest features.

        Features take the value of the other case one after the other, those that differ most first, until the
        prediction changes. Those that are not needed go back, and the others go back together as far as possible.
        """
        found = [point for place in range(min(len(others), CASES_TRIED)) if (point := self._taken_from(others, place))]
        return min(found, key=lambda point: (len(point), self.size(point)), default=None)

    def _taken_from(self, others: pd.DataFrame, place: int) -> Point | None:
        other: Point = {str(name): others.iloc[place, number] for number, name in enumerate(others.columns)}
        differing = [
            one for one in self.features if not pd.isna(other[one.name]) and other[one.name] != self.case[one.name]
        ]
        order = sorted(differing, key=lambda one: -one.size(self.case[one.name], other[one.name]))
        points = [{one.name: other[one.name] for one in order[: count + 1]} for count in range(len(order))]
        flips = np.flatnonzero(self.flips(points))
        if not len(flips):
            return None
        point = points[int(flips[0])]
        for name in list(point):
            less = {one: value for one, value in point.items() if one != name}
            if less and self.flips([less])[0]:
                point = less
        return self._narrowed([({}, point)])[0]

    def _paths(self, feature: Movable) -> Iterator[list[Point]]:
        """Yield for each direction the changes of one feature, from the smallest to the largest."""
        before = self.case[feature.name]
        if feature.values:
            others = [value for value in feature.values if value != before]
            yield from ([{feature.name: value}] for value in sorted(others, key=lambda one: feature.size(before, one)))
            return
        for end, start in ((feature.low, min(before, feature.high)), (feature.high, max(before, feature.low))):
            if start != end and (end - start) * (end - before) >= 0:
                steps = np.linspace(start, end, STEPS + 1)[int(start == before) :]
                yield [{feature.name: feature.nearest(float(value))} for value in steps]

    def _first_flips(self, paths: Sequence[list[Point]]) -> list[Point]:
        """Return the first point of each path that flips, moved back towards the one before it; none if none does."""
        flips = self.flips([point for path in paths for point in path])
        spans, first = [], 0
        for path in paths:
            found = np.flatnonzero(flips[first : first + len(path)])
            if len(found):
                place = int(found[0])
                spans.append((path[place - 1] if place else {}, path[place]))
            first += len(path)
        return self._narrowed(spans)

    def _narrowed(self, spans: list[tuple[Point, Point]]) -> list[Point]:
        """Move the second point of each span, which flips, towards the first, which does not, as far as it flips."""
        continuous = {one.name for one in self.features if not one.values}
        moving = [place for place, (_, end) in enumerate(spans) if continuous.issuperset(end)]
        for _ in range(ROUNDS if moving else 0):
            inner = [[self._between(*spans[place], share) for share in SHARES] for place in moving]
            flips = self.flips([point for points in inner for point in points]).reshape(len(moving), len(SHARES))
            for place, points, flip in zip(moving, inner, flips, strict=True):
                path = [spans[place][0], *points, spans[place][1]]
                first = 1 + int(flip.argmax()) if flip.any() else len(path) - 1
                spans[place] = path[first - 1], path[first]
        return [end for _, end in spans]

    @cached_property
    def _by_name(self) -> dict[str, Movable]:
        return {feature.name: feature for feature in self.features}

    def _between(self, start: Point, end: Point, share: float) -> Point:
        before = {**self.case, **start}
        return {
            name: self._by_name[name].nearest(float(before[name]) + share * (float(value) - float(before[name])))
            for name, value in end.items()
        }

    def _nearest_ray(
        self, rays: list[tuple[tuple[Movable, Movable], float]], within: float
    ) -> tuple[tuple[Movable, Movable], float, Point] | None:
        """Return the ray on which the smallest change flips: two features, an angle, and the change."""
        paths, used = [], []
        for ray in rays:
            if (length := self._length(*ray, within)) > 0:
                paths.append([self._on_ray(*ray, radius) for radius in np.linspace(0, length, STEPS // 2 + 1)[1:]])
                used.append(ray)
        if not paths:
            return None
        flips = self.flips([point for path in paths for point in path]).reshape(len(paths), -1)
        places = [int(flip.argmax()) if flip.any() else -1 for flip in flips]
        sizes = [self.size(path[place]) for path, place in zip(paths, places, strict=True) if place >= 0]
        nearest = min(sizes, default=0.0)
        spans, hit = [], []
        for ray, path, place in zip(used, paths, places, strict=True):
            start = path[place - 1] if place > 0 else {}
            if place >= 0 and self.size(start) < nearest:  # else another ray flips before this one can
                spans.append((start, path[place]))
                hit.append(ray)
        points = self._narrowed(spans)
        best = min(range(len(points)), key=lambda place: self.size(points[place]), default=None)
        if best is None or self.size(points[best]) >= within:
            return None
        return hit[best][0], hit[best][1], points[best]

    def _on_ray(self, pair: tuple[Movable, Movable], angle: float, radius: float) -> Point:
        shares = np.cos(angle), np.sin(angle)
        return {
            one.name: one.nearest(float(self.case[one.name]) + radius * float(share) * one.deviation)
            for one, share in zip(pair, shares, strict=True)
        }

    def _length(self, pair: tuple[Movable, Movable], angle: float, within: float) -> float:
        """Return how far a ray stays within the range of both features; 0 if the case is outside of it."""
        lengths: list[float] = [within]
        for one, share in zip(pair, (np.cos(angle), np.sin(angle)), strict=True):
            before = float(self.case[one.name])
            if not one.low <= before <= one.high:
                return 0.0
            room = (one.high - before) if share > 0 else (before - one.low)
            lengths.append(room / (abs(share) * one.deviation))
        return min(lengths)


def nearest_first(table: pd.DataFrame, row: pd.DataFrame, features: Sequence[Movable]) -> Indices:
    """Return the places of the rows of a table, those nearest to the row in standard deviations first."""
    total = np.zeros(len(table))
    for one in features:
        if one.is_number:
            values = table[one.name].to_numpy(dtype=np.float64, na_value=np.nan)
            total += np.nan_to_num((values - float(row[one.name].iloc[0])) / one.deviation) ** 2
        else:
            total += (table[one.name] != row[one.name].iloc[0]).to_numpy()
    return np.argsort(total, kind="stable")
