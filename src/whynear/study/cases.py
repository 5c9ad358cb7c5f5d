"""Selected cases, and short explanations of many, each by a model fitted without them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from whynear.explain import Explanation, ValueExplanation
from whynear.explain.case_explanation import ranked_places
from whynear.explain.explanation import NearCase
from whynear.explain.near_cases import RowsOfPrototypes
from whynear.explain.why import explain_each
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualValue, unusual_values
from whynear.study.bands import Bands
from whynear.study.comparison import Comparison
from whynear.utils.arrays import Indices, plain_values, python_value
from whynear.utils.columns import plain_name
from whynear.utils.progress import Report
from whynear.utils.text import label
from whynear.work.pieces import Piece
from whynear.work.processes import Processes
from whynear.work.workers import Workers, results_of

MOST_CLASSES = 6  # the largest ones, of which cases are explained
MOST_CASES = 3  # of a class
LARGEST_SHARE = 0.2  # of the rows of a class, but at least one row
MOST_EXPLAINED = 250  # cases
MOST_PARTS = 250_000  # features of all explained cases, because each takes time
SHOWN_PARTS = 8  # features of a case
MOST_VOTERS = 8
MOST_FEATURES = 6  # of voters
CASES_AT_ONCE = 20  # in a piece of work
SECONDS_OF_A_CASE = 0.005


@dataclass(frozen=True)
class Case:
    """A selected row of the table, with its class or measured value and the explanation of its prediction.

    ``kind`` is "typical", "wrong" or "borderline"; for a measured target "typical", "overestimate", "underestimate" or
    "unusual". ``row`` is the name of the row, ``place`` its position from 0.
    """

    row: Any
    kind: str
    true: Any
    why: Explanation | ValueExplanation
    place: int

    def neighbors_frame(self) -> pd.DataFrame:
        """Return a line per neighbour with what each feature adds to its distance, or for numbers to its prediction."""
        return pd.concat([self.why.neighbors, self.why.neighbor_parts.reset_index(drop=True)], axis=1)

    def facts(self) -> dict[str, Any]:
        """Return the case as a line of a table: its class, its prediction, and the features behind it.

        They are those that make the nearest other class distant; for a measured target, those of the largest
        contributions, by a kernel learner to the distance of the nearest row.
        """
        why, found = self.why, {"row": self.row, "kind": self.kind, "true": self.true, "predicted": self.why.prediction}
        if why.of_numbers:
            adds, _ = why.sides[0]
            moved_by = _first_three(adds.iloc[ranked_places(adds.abs())])
            return found | {"residual": self.true - why.prediction, "moved_by": moved_by}
        assert isinstance(why, Explanation), "a class is explained by cases"
        other = None if why.nearest_other is None else why.nearest_other.label
        found |= {"probability": float(why.probabilities.max()), "nearest_other": other}
        return found | {"held_off_by": _first_three(why.held_off_by)}


def _first_three(values: pd.Series[float]) -> str:
    return ", ".join(map(str, values.index[:3]))


def cases_frame(cases: Sequence[Case]) -> pd.DataFrame:
    """Return a row per case; see `Case.facts`."""
    columns = ["row", "kind", "true", "predicted", "probability", "nearest_other", "held_off_by"]
    return pd.DataFrame([case.facts() for case in cases], columns=None if cases else columns)


@dataclass(frozen=True)
class Voters:
    """A table of the cases that vote: its headings, the values of the explained case, and a line for each voter.

    Values are those of the features that contribute most to the distances. ``parts`` has for each voter what each of
    these features adds to its squared distance, or with a linear map to its prediction. ``remark`` is what the rows
    add that are not listed.
    """

    columns: tuple[str, ...]
    features: tuple[str, ...]
    values: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    parts: tuple[tuple[float, ...], ...]
    remark: str = ""


@dataclass(frozen=True)
class Near:
    """The class or measured value of a near row or prototype (``kind``), its name or number, and its distance.

    ``row`` is the row nearest to a prototype, whose values are shown.
    """

    label: Any
    distance: float
    kind: str
    name: Any
    row: Any = None


@dataclass(frozen=True)
class Part:
    """What a feature adds, and its values.

    It adds to the squared distances of the nearest case and, if there is one, of the nearest other class, and
    ``values`` are those of the explained case and of these. With a linear map it adds to the prediction, and ``values``
    are that of the case and the mean of the training rows.
    """

    feature: str
    adds: tuple[float, ...]
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Reason:
    """A short explanation of the prediction of a case by a model fitted without it.

    Attributes
    ----------
    place : int
        The position of the row, from 0.
    text : str
        The explanation in a sentence.
    parts : tuple of Part
        The features that contribute most to the distances or to the prediction, largest first.
    voters : Voters
        The rows or prototypes that vote, or the nearest rows of a measured target, with their values.
    unusual : tuple of UnusualValue
        Values of the case that are unlike the training rows.
    nearest, other : Near or None
        The nearest case of the predicted class and of any other; None where there is no other class. Both are None for
        a linear map.
    """

    place: int
    text: str
    parts: tuple[Part, ...]
    voters: Voters
    unusual: tuple[UnusualValue, ...]
    nearest: Near | None = None
    other: Near | None = None


def explained_cases(
    X: pd.DataFrame, comparison: Comparison, report: Report, bands: Bands | None = None
) -> tuple[Case, ...]:
    """Explain selected rows, each by the learner chosen without it.

    Of each class a typical, a borderline and a wrongly predicted row; of a measured target a typical row, the largest
    overestimate and underestimate, and the row with most unusual values. With ``bands`` explanations are stated in
    bands of a spectrum.
    """
    predictions, true = comparison.predictions, comparison.predictions["true"]
    if comparison.probabilities is None:
        chosen, true = selected_values(predictions, _unusual_counts(X, comparison)), true.astype(float)
    else:
        chosen = selected_rows(predictions)
    cases = []
    for number, (place, kind) in enumerate(chosen):
        report("explain cases", number / len(chosen))
        if (model := comparison.model_without(place)) is not None:
            (why,) = explanations(model, X.iloc[[place]], bands, rows_of_prototypes(X, comparison, model))
            cases.append(Case(plain_name(X.index[place]), kind, python_value(true.iloc[place]), why, place))
    return tuple(cases)


def explanations(
    model: FittedPipeline, rows: pd.DataFrame, bands: Bands | None = None, known: RowsOfPrototypes | None = None
) -> Iterator[Explanation | ValueExplanation]:
    """Explain each row of a `Problem` by a model fitted to others; ``known`` are the rows nearest to its prototypes."""
    for why in explain_each(model, rows, known):
        yield why if bands is None else bands.summed(why)


def rows_of_prototypes(X: pd.DataFrame, comparison: Comparison, model: FittedPipeline) -> RowsOfPrototypes | None:
    """Return the rows nearest to the prototypes of a model, of those that were not held out from it."""
    number = next(number for number, one in enumerate(comparison.fitted, start=1) if one is model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of categories in later rows, which the model was not fitted to
        return RowsOfPrototypes.of(model, X[comparison.predictions["fold"].to_numpy() != number])


def selected_rows(predictions: pd.DataFrame) -> list[tuple[int, str]]:
    """Return position and kind of the selected rows: none twice, and of a class at most a fifth, but one."""
    y = predictions["true"].to_numpy()
    right = y == predictions["predicted"].to_numpy()
    confidence = np.where(right, predictions["probability"].to_numpy(), -predictions["probability"].to_numpy())
    chosen: list[tuple[int, str]] = []
    classes, counts = np.unique(y, return_counts=True)
    for name in classes[np.argsort(-counts, kind="stable")][:MOST_CLASSES]:
        places = np.flatnonzero(y == name)
        wanted = int(min(MOST_CASES, max(1, LARGEST_SHARE * len(places))))
        good, bad = places[right[places]], places[~right[places]]
        kinds = []
        if len(good):
            order = np.argsort(confidence[good], kind="stable")
            kinds.append((int(good[order[len(order) // 2]]), "typical"))
        if len(bad):
            kinds.append((int(bad[np.argmin(confidence[bad])]), "wrong"))
        if len(good) > 1:
            kinds.append((int(good[np.argmin(confidence[good])]), "borderline"))
        if len(places) - len(dict(kinds[:wanted])) >= 2:
            chosen += list(dict(kinds[:wanted]).items())
    return chosen


def selected_values(predictions: pd.DataFrame, unusual: Indices) -> list[tuple[int, str]]:
    """Return position and kind of the selected rows of a measured target, none twice.

    The typical row has the median of the absolute errors, among rows without unusual values where there are such.
    Of rows with equally many unusual values, the one with the largest error is taken.
    """
    errors = (predictions["true"] - predictions["predicted"]).to_numpy()
    plain = np.flatnonzero(unusual == 0) if (unusual == 0).any() else np.arange(len(errors))
    order = plain[np.argsort(np.abs(errors[plain]), kind="stable")]
    chosen = {int(order[len(order) // 2]): "typical"}
    if errors.min() < 0:
        chosen.setdefault(int(errors.argmin()), "overestimate")
    if errors.max() > 0:
        chosen.setdefault(int(errors.argmax()), "underestimate")
    if unusual.max(initial=0):
        strangest = np.lexsort((-np.abs(errors), -unusual))
        chosen.setdefault(int(strangest[0]), "unusual")
    return list(chosen.items())


def _unusual_counts(X: pd.DataFrame, comparison: Comparison) -> Indices:
    """Return for each row the number of values unlike those of the rows that its model was fitted to."""
    counts = np.zeros(len(X), dtype=np.intp)
    for fitted, held_out in comparison.by_model(np.arange(len(X))):
        table = X.iloc[held_out]
        counts[held_out] = [len(found) for found in unusual_values(fitted, table, fitted.seen(table))]
    return counts


def reasons_of(
    X: pd.DataFrame,
    comparison: Comparison,
    cases: Sequence[Case],
    report: Report,
    bands: Bands | None = None,
    workers: Workers | None = None,
) -> tuple[Reason, ...]:
    """Explain rows predicted wrong, or with the largest errors, and others in even steps, in the order of the rows.

    ``cases`` have explanations.
    """
    known = {case.place: case.why for case in cases}
    places = explained_places(X.shape, known, comparison.worst_first)
    reasons = {place: _reason(place, why) for place, why in known.items()}
    pieces = []
    for model, left in comparison.by_model(np.setdiff1d(places, list(known))):
        whole = {"model": model, "known": rows_of_prototypes(X, comparison, model)}
        for few in np.array_split(left, -(-len(left) // CASES_AT_ONCE)):
            arguments = {**whole, "rows": X.iloc[few], "places": few}
            pieces.append(Piece(explain_rows, arguments, SECONDS_OF_A_CASE * len(few)))
    for _, done in results_of(Processes(1) if workers is None else workers, pieces, {"bands": bands}):
        reasons.update((reason.place, reason) for reason in done.result)
        report("explain cases", len(reasons) / len(places))
    return tuple(reasons[place] for place in sorted(reasons))


def explain_rows(
    model: FittedPipeline, rows: pd.DataFrame, places: Indices, known: RowsOfPrototypes | None, bands: Bands | None
) -> list[Reason]:
    """Explain rows by a model fitted without them."""
    return [_reason(*one) for one in zip(places.tolist(), explanations(model, rows, bands, known), strict=True)]


def explained_places(shape: tuple[int, int], known: Iterable[int], first: Indices) -> Indices:
    """Return the positions of about 250 rows of a table, fewer if it has many columns, in their order.

    These are the rows in ``known``, those of ``first`` up to half of all, and others in even steps.
    """
    most = min(MOST_EXPLAINED, max(10, MOST_PARTS // shape[1]))
    return spread(shape[0], most, [*known, *first[: most // 2]])


def spread(n_cases: int, most: int, first: list[int]) -> Indices:
    """Return about ``most`` positions: those in ``first``, and others in even steps."""
    left = max(1, most - len(first))
    return np.union1d(np.array(first, dtype=np.intp), np.arange(0, n_cases, max(1, -(-n_cases // left))))


def _reason(place: int, why: Explanation | ValueExplanation) -> Reason:
    adds = np.array([added for added, _ in why.sides])
    most = ranked_places(np.abs(adds).max(axis=0))[:SHOWN_PARTS]
    values = [plain_values(held.iloc[most].tolist()) for held in (why.values, *(held for _, held in why.sides))]
    columns = map(str, why.values.index[most]), map(tuple, adds[:, most].T.tolist()), zip(*values, strict=True)
    near = [why.nearest, why.nearest_other] if isinstance(why, Explanation) else []
    return Reason(place, repr(why), tuple(map(Part, *columns)), voters_of(why), why.unusual, *map(_near, near))


def _near(case: NearCase | None) -> Near | None:
    return None if case is None else Near(case.label, case.distance, case.kind, case.name, case.nearest_row)


FORMS = {"measured": ".4g", "predicted": ".4g", "distance": ".4g", "vote": ".3g"}
HEADINGS = {"label": "class", "nearest_row": "nearest row"}


def voters_of(why: Explanation | ValueExplanation) -> Voters:
    """Return the nearest of the cases that vote: name, class, distance, vote, and their values.

    Of a measured target the nearest rows: name, measured value, what is predicted or added, distance, and their values.
    """
    # By places, since looking up names takes most of the time.
    most, facts = why.most_shown[:MOST_FEATURES], why.facts
    forms = FORMS if why.of_numbers else {"distance": ".3g", "vote": ".3g"}
    columns = (
        [format(one, forms[name]) if name in forms else str(one) for one in why.neighbors[name].tolist()[:MOST_VOTERS]]
        for name in facts
    )
    held = why.neighbor_values.iloc[:MOST_VOTERS, most].to_numpy()
    parts = why.neighbor_parts.iloc[:MOST_VOTERS, most].to_numpy().tolist()
    return Voters(
        columns=tuple(HEADINGS.get(name, name) for name in facts),
        features=tuple(map(str, why.values.index[most])),
        values=tuple(map(label, why.values.iloc[most])),
        lines=tuple((*line, *map(label, values)) for *line, values in zip(*columns, held, strict=True)),
        parts=tuple(map(tuple, parts)),
        remark=why.remark,
    )
