"""The fits of a comparison as pieces of work: each fits one method to some rows, and predicts others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.engine.pieces import Piece, run_piece
from whynear.engine.processes import Processes
from whynear.engine.running import results_of
from whynear.engine.workers import Workers
from whynear.learn.registry import LEARNERS
from whynear.study.estimate import fit_seconds
from whynear.study.kept_fits import KeptFits
from whynear.study.methods import Methods
from whynear.study.probabilities import aligned
from whynear.study.time_left import FitWatch
from whynear.tables.problem import kind_of_target
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report
from whynear.utils.row_order import Separation, taken


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
    """What the fits of a comparison share: the table, the methods, and the parts of the rows.

    ``finish`` are functions of a model and of what it was fitted to, which return the model to predict with.
    """

    X: pd.DataFrame
    y: NDArray[Any]
    groups: Separation | None
    weights: pd.Series | None
    methods: Methods
    parts: tuple[FitRows, ...]
    probabilities: bool = False
    finish: Mapping[str, Callable[..., Any]] = field(default_factory=dict)

    def known(self, part: FitRows) -> tuple[pd.DataFrame, NDArray[Any], Separation | None, pd.Series | None]:
        """Return features, targets, groups and weights of the rows to fit to, copied."""
        rows = part.train
        return self.X.iloc[rows], self.y[rows], taken(self.groups, rows), taken(self.weights, rows)

    def answer(self, part: FitRows, name: str, model: Any) -> Answer:
        """Return what a fitted method predicts."""
        rows = self.X.iloc[part.test]
        shares = model.predict_proba(rows) if self.probabilities else None
        return Answer(part, name, model.predict(rows), shares, getattr(model, "classes_", None), model)


def fit_and_predict(name: str, part: int, keep: bool, fits: Fits) -> tuple[Any, NDArray[Any], NDArray[Any] | None, Any]:
    """Fit a method to the rows of a part; return its predictions, and the model if it is to be kept."""
    rows = fits.parts[part]
    known = fits.known(rows)
    model = fits.methods.fitted(name, *known)
    if name in fits.finish:
        model = fits.finish[name](model, *known)
    made = fits.answer(rows, name, model)
    return model if keep else None, made.predicted, made.shares, made.classes


def answers(fits: Fits, wanted: Sequence[str], report: Report, workers: Workers | None = None) -> Iterator[Answer]:
    """Yield the answers of the methods of every part, in any order; the models of those wanted, outside of choices.

    Fits that are kept of an interrupted study are not repeated.
    """
    kept, todo = fits.methods.kept, []
    shared = replace(fits, X=fits.X.copy(), methods=replace(fits.methods, kept=KeptFits()))
    for piece in _pieces(fits, wanted):
        part, name = fits.parts[piece.arguments["part"]], piece.arguments["name"]
        may_be_kept = kept.any_found and name in LEARNERS
        model = kept.find(fits.methods.path_of(name, *fits.known(part))) if may_be_kept else None
        if model is None:
            todo.append(piece)
        else:
            yield run_piece(Piece(shared.answer, {"part": part, "name": name, "model": model})).result
    workers = Processes(1) if workers is None else workers
    say = _saying(fits, todo, report, workers.n_workers)
    for piece, done in results_of(workers, todo, {"fits": shared}):
        part, name = fits.parts[piece.arguments["part"]], piece.arguments["name"]
        model, predicted, shares, classes = done.result
        if kept.worth(done.elapsed) and name in LEARNERS:
            kept.keep(fits.methods.path_of(name, *fits.known(part)), model, done.elapsed)
        yield Answer(part, name, predicted, shares, classes, None if part.within else model)
        say(piece, done.elapsed)


def _pieces(fits: Fits, wanted: Sequence[str]) -> list[Piece]:
    """Return all fits, fold by fold, the longest of each first, so that no process is left with a long one at last."""
    keeping = fits.methods.kept.folder is not None
    n_classes = len(np.unique(fits.y)) if kind_of_target(fits.y) == "classes" else 0
    pieces = [
        Piece(
            fit_and_predict,
            {"name": name, "part": number, "keep": name in wanted and (keeping or not part.within)},
            fit_seconds(name, len(part.train), fits.X.shape[1], n_classes),
        )
        for number, part in enumerate(fits.parts)
        for name in part.names
    ]
    return sorted(pieces, key=lambda piece: (fits.parts[piece.arguments["part"]].fold, -piece.weight))


def _saying(fits: Fits, todo: Sequence[Piece], report: Report, n_at_once: int) -> Callable[[Piece, float], None]:
    """Report the first fit; return what reports the next one after each that is done."""
    watch = FitWatch(report, [(piece.arguments["name"], piece.weight) for piece in todo], n_at_once)
    places, n_folds = {piece: place for place, piece in enumerate(todo)}, max(part.fold for part in fits.parts)
    furthest, n_left = 0, len(todo)

    def begin() -> None:
        if n_left:
            begun = todo[min(furthest, len(todo) - 1)].arguments
            fold = fits.parts[begun["part"]].fold
            watch.begin(f"compare learners, fold {fold} of {n_folds}", begun["name"])

    def done(piece: Piece, seconds: float) -> None:
        nonlocal furthest, n_left
        furthest, n_left = max(furthest, places[piece] + 1), n_left - 1
        watch.done(piece.arguments["name"], piece.weight, seconds)
        begin()

    begin()
    return done
