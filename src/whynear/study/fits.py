"""The fits of methods in folds, and the time left for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.problem import kind_of_target
from whynear.data.rows import Separation, taken
from whynear.learn.registry import LEARNERS, REGRESSORS
from whynear.study.estimate import fit_seconds
from whynear.study.methods import KeptFits, Methods, chosen_settings
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report
from whynear.work.pieces import Piece, run_piece
from whynear.work.processes import Processes
from whynear.work.workers import Workers, results_of

SHORT_SECONDS = 90  # up to which seconds are said, in tens
Saying: TypeAlias = Callable[[Piece, float | None], None]


class TimeLeft:
    """The fits of each method that are planned, with the seconds expected, and how long the finished ones took.

    A method that has been fitted takes as many times the expected seconds as it took so far, one that has not as many
    as all others. ``n_at_once`` is how many fits run at the same time.

    >>> left = TimeLeft([("gmlvq", 2.0), ("gmlvq", 2.0), ("lann", 4.0)])
    >>> left.done("gmlvq", expected=2.0, seconds=1.0)
    >>> left.seconds, left.share
    (3.0, 0.25)
    """

    def __init__(self, planned: Iterable[tuple[str, float]] = (), n_at_once: int = 1) -> None:
        self.n_at_once = n_at_once
        self._left: dict[str, float] = {}
        self._expected: dict[str, float] = {}
        self._spent: dict[str, float] = {}
        for method, seconds in planned:
            self._left[method] = self._left.get(method, 0.0) + seconds

    def done(self, method: str, expected: float, seconds: float) -> None:
        """Count a fit as done, which took these seconds instead of those expected."""
        self._left[method] = max(0.0, self._left.get(method, 0.0) - expected)
        self._expected[method] = self._expected.get(method, 0.0) + expected
        self._spent[method] = self._spent.get(method, 0.0) + seconds

    def skip(self, method: str, expected: float) -> None:
        """Leave out a fit of these expected seconds, which is not needed."""
        self._left[method] = max(0.0, self._left.get(method, 0.0) - expected)

    @property
    def seconds(self) -> float:
        """The seconds that the fits left will take."""
        return self._seconds_of_fits / self.n_at_once

    @property
    def share(self) -> float:
        """The share of the time that is spent, from 0 to 1."""
        spent = sum(self._spent.values())
        return spent / total if (total := spent + self._seconds_of_fits) else 1.0

    @property
    def _seconds_of_fits(self) -> float:
        of_all = self._pace(self._expected)
        return sum(left * (self._pace([method]) or of_all or 1.0) for method, left in self._left.items())

    def __str__(self) -> str:
        seconds = self.seconds
        if seconds <= SHORT_SECONDS:
            return f"about {max(10, 10 * round(seconds / 10))} s left"
        return f"about {round(seconds / 60)} min left"

    def _pace(self, methods: Iterable[str]) -> float:
        """Return how many times the expected seconds the finished fits took; 0 if there is none."""
        known = [method for method in methods if method in self._expected]
        expected = sum(self._expected[method] for method in known)
        return sum(self._spent[method] for method in known) / expected if expected else 0.0


class FitWatch:
    """Reports the fits of a comparison: the step, the method, and the time left.

    Parameters
    ----------
    report : callable
        Takes the step and the share of the work done.
    planned : iterable of (str, float)
        The method of each fit, and the seconds expected.
    n_at_once : int
        How many fits run at the same time.
    """

    def __init__(self, report: Report, planned: Iterable[tuple[str, float]], n_at_once: int = 1) -> None:
        self.report, self.left, self.share = report, TimeLeft(planned, n_at_once), 0.0

    def begin(self, step: str, method: str) -> None:
        """Report the first fit that is not done; the share of the work is that of the time."""
        shown = method.upper() if method in LEARNERS else method
        self.share = max(self.share, self.left.share)  # it is no smaller where fits take longer than those before
        self.report(f"{step}: {shown}, {self.left} for this step", self.share)

    def done(self, method: str, expected: float, seconds: float) -> None:
        """Count a fit as done."""
        self.left.done(method, expected, seconds)


def aligned(probabilities: Array, known: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return a column for each class, zero for classes that the model was not fitted to; each row sums to one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_known)
        What a model returns; values outside [0, 1] are clipped.
    known : ndarray of shape (n_known,)
        The classes of the model.
    classes : ndarray of shape (n_classes,)
        All classes, sorted.

    Examples
    --------
    >>> aligned(np.array([[0.25, 0.75]]), np.array(["u", "w"]), np.array(["u", "v", "w"]))
    array([[0.25, 0.  , 0.75]])
    """
    found = np.zeros((len(probabilities), len(classes)))
    found[:, np.searchsorted(classes, known)] = np.clip(np.nan_to_num(probabilities), 0.0, 1.0)
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.full_like(found, 1.0 / len(classes)), where=total > 0)


def of_predictions(probabilities: Array, predicted: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return the probability of each prediction."""
    found: Array = probabilities[np.arange(len(predicted)), np.searchsorted(classes, predicted)]
    return found


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows to fit some methods to, and rows to predict; the number of the fold that they belong to counts from 1.

    ``within`` tells rows by which a learner is chosen within a fold from those of the fold itself.
    """

    fold: int
    train: Indices
    test: Indices
    names: tuple[str, ...]
    within: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What a method predicts for the held-out rows of a part.

    Attributes
    ----------
    part : FitRows
        The rows.
    name : str
        The method.
    predicted : ndarray
        The predictions.
    shares : ndarray or None
        The probabilities of the classes of the model, where they are wanted.
    classes : ndarray or None
        The classes of the model, in the order of the shares.
    model : estimator or None
        The fitted method, where it may be needed again.
    """

    part: FitRows
    name: str
    predicted: NDArray[Any]
    shares: Array | None
    classes: NDArray[Any] | None
    model: Any

    def shares_of(self, classes: NDArray[Any]) -> Array:
        """Return the probabilities of these classes, which contain those of the model."""
        assert self.shares is not None, "probabilities are wanted"
        assert self.classes is not None, "the method predicts classes"
        return aligned(self.shares, self.classes, classes)


@dataclass(frozen=True, eq=False)
class Fits:
    """What the fits of a comparison share: the table, the methods, and the parts of the rows."""

    X: pd.DataFrame
    y: NDArray[Any]
    groups: Separation | None
    weights: pd.Series | None
    methods: Methods
    parts: tuple[FitRows, ...]
    probabilities: bool = False

    def known(self, part: FitRows) -> tuple[pd.DataFrame, NDArray[Any], Separation | None, pd.Series | None]:
        """Return features, targets, groups and weights of the rows to fit to, copied."""
        rows = part.train
        return self.X.iloc[rows], self.y[rows], taken(self.groups, rows), taken(self.weights, rows)

    def answer(self, part: FitRows, name: str, model: Any) -> Answer:
        """Return what a fitted method predicts."""
        rows = self.X.iloc[part.test]
        shares = model.predict_proba(rows) if self.probabilities else None
        return Answer(part, name, model.predict(rows), shares, getattr(model, "classes_", None), model)


def fit_and_predict(
    name: str, part: int, keep: bool, fits: Fits, chosen: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, NDArray[Any], NDArray[Any] | None, Any]:
    """Fit a method to the rows of a part; return its predictions, and the model if it is to be kept.

    ``chosen`` are parameters of a learner that it does not choose again.
    """
    rows = fits.parts[part]
    model = replace(fits.methods, chosen=chosen).fitted(name, *fits.known(rows))
    made = fits.answer(rows, name, model)
    return model if keep else None, made.predicted, made.shares, made.classes


def answers(fits: Fits, wanted: Sequence[str], report: Report, workers: Workers | None = None) -> Iterator[Answer]:
    """Yield the answers of the methods of every part, in any order; the models of those wanted, outside of choices.

    Fits that are kept of an interrupted study are not repeated. What a wanted learner chooses in folds of its own, it
    chooses once for a fold: it is fitted within the fold at last, with these parameters.
    """
    workers = Processes(1) if workers is None else workers
    pieces = _pieces(fits, wanted)
    later = [piece for piece in pieces if piece.arguments["name"] in wanted and _follows(piece, fits)]
    say = _saying(fits, pieces, report, workers.n_workers)
    chosen: dict[tuple[int, str], dict[str, Any]] = {}
    for answer in _answers([piece for piece in pieces if piece not in later], fits, say, workers):
        if answer.model is not None:
            chosen[answer.part.fold, answer.name] = chosen_settings(answer.model)
        yield answer
    settled = [
        replace(piece, arguments={**piece.arguments, "chosen": chosen[fold, piece.arguments["name"]]})
        for piece in later
        for fold in [fits.parts[piece.arguments["part"]].fold]
    ]
    yield from _answers(settled, fits, say, workers)


def _follows(piece: Piece, fits: Fits) -> bool:
    """Return whether a fit within a fold is one of a learner that chooses parameters in folds of its own."""
    learners = LEARNERS if kind_of_target(fits.y) == "classes" else REGRESSORS
    name = piece.arguments["name"]
    within = fits.parts[piece.arguments["part"]].within
    return within and name in learners and hasattr(learners[name], "chosen_settings")


def _answers(pieces: Sequence[Piece], fits: Fits, say: Saying, workers: Workers) -> Iterator[Answer]:
    """Yield the answers of some fits, those that are kept first."""
    kept, todo = fits.methods.kept, []
    shared = replace(fits, X=fits.X.copy(), methods=replace(fits.methods, kept=KeptFits()))

    def path_of(piece: Piece) -> Path:
        methods = replace(fits.methods, chosen=piece.arguments["chosen"])
        return methods.path_of(piece.arguments["name"], *fits.known(fits.parts[piece.arguments["part"]]))

    for piece in pieces:
        part, name = fits.parts[piece.arguments["part"]], piece.arguments["name"]
        model = kept.find(path_of(piece)) if kept.any_found and name in LEARNERS else None
        if model is None:
            todo.append(piece)
        else:
            yield run_piece(Piece(shared.answer, {"part": part, "name": name, "model": model})).result
            say(piece, None)
    for piece, done in results_of(workers, todo, {"fits": shared}):
        part, name = fits.parts[piece.arguments["part"]], piece.arguments["name"]
        model, predicted, shares, classes = done.result
        if kept.worth(done.elapsed) and name in LEARNERS:
            kept.keep(path_of(piece), model, done.elapsed)
        yield Answer(part, name, predicted, shares, classes, None if part.within else model)
        say(piece, done.elapsed)


def _pieces(fits: Fits, wanted: Sequence[str]) -> list[Piece]:
    """Return all fits, fold by fold, the longest of each first, so that no process is left with a long one at last."""
    keeping = fits.methods.kept.folder is not None
    n_classes = len(np.unique(fits.y)) if kind_of_target(fits.y) == "classes" else 0
    pieces = [
        Piece(
            fit_and_predict,
            {"name": name, "part": number, "keep": name in wanted and (keeping or not part.within), "chosen": {}},
            fit_seconds(name, len(part.train), fits.X.shape[1], n_classes, settled=part.within),
        )
        for number, part in enumerate(fits.parts)
        for name in part.names
    ]
    return sorted(pieces, key=lambda piece: (fits.parts[piece.arguments["part"]].fold, -piece.weight))


def _saying(fits: Fits, todo: Sequence[Piece], report: Report, n_at_once: int) -> Saying:
    """Report the first fit; return what reports the next one after each that is done, or kept, which takes no time."""
    watch = FitWatch(report, [(piece.arguments["name"], piece.weight) for piece in todo], n_at_once)
    places = {_key(piece): place for place, piece in enumerate(todo)}
    n_folds = max(part.fold for part in fits.parts)
    furthest, n_left = 0, len(todo)

    def begin() -> None:
        if n_left:
            begun = todo[min(furthest, len(todo) - 1)].arguments
            fold = fits.parts[begun["part"]].fold
            watch.begin(f"compare learners, fold {fold} of {n_folds}", begun["name"])

    def done(piece: Piece, seconds: float | None) -> None:
        nonlocal furthest, n_left
        furthest, n_left = max(furthest, places[_key(piece)] + 1), n_left - 1
        if seconds is None:
            watch.left.skip(piece.arguments["name"], piece.weight)
            return
        watch.done(piece.arguments["name"], piece.weight, seconds)
        begin()

    begin()
    return done


def _key(piece: Piece) -> tuple[int, str]:
    return piece.arguments["part"], piece.arguments["name"]
