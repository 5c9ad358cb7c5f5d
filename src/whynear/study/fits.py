"""The fits of methods in folds, the time and memory that a study needs for them, and the time that is left."""

from __future__ import annotations

import math
from collections import defaultdict
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
from whynear.learn.inputs import far_rows_unsaid
from whynear.learn.registry import COMPARED, LEARNERS, OF_NUMBERS, REGRESSORS, Traits
from whynear.study.methods import BOOSTING, FOREST, LOGISTIC, NCA, NCA_ROWS, KeptFits, Methods, chosen_settings
from whynear.study.settings import COMPARED_ROWS
from whynear.utils.arrays import Array, Indices
from whynear.utils.progress import Report
from whynear.verdict.outside import n_rounds, trees_for
from whynear.work.pieces import Piece, run_piece
from whynear.work.processes import Processes
from whynear.work.workers import Workers, results_of

# Constants of the estimate, from timed fits
START_SECONDS = 12.0  # to import, to draw and to write
NCA_PAIR_SECONDS = 8e-7  # NCA compares all rows with all rows
TREE_SECONDS, TREE_CELL_SECONDS = 1e-3, 3e-8  # of a forest; a cell is one of the columns tried, at each level
ROUND_SECONDS, ROUND_CELL_SECONDS, ROUND_LEAF_SECONDS = 3e-4, 1.5e-8, 6e-7  # of a tree of boosting
LEAVES, ROWS_OF_A_LEAF = 31, 20  # at most, and at least
INNER_FOLDS, INNER_ROWS = 3, 1_000  # by which a learner is chosen within a fold
JUDGED_ENTRY_SECONDS, JUDGED_ROWS, JUDGED_COLUMNS = 1e-3, 800, 70  # of verdicts and sets
REFITS = 40  # of the learner, by verdicts
FITS_AT_ONCE = 1.6  # on two cores
FITTED_ENTRY_SECONDS = 7e-6  # of all rows
MAP_SECONDS, MAPPED_ROWS = 20.0, 1_000  # a map by UMAP, for the local metrics that often win on more rows
PROGRAM_BYTES = 0.35e9  # Python and the libraries
TABLE_COPIES = 25  # in float64, including what the learners keep
SHORT_SECONDS = 90  # up to which seconds are said, in tens
Saying: TypeAlias = Callable[[Piece, float | None], None]


@dataclass(frozen=True)
class Estimate:
    """Seconds and bytes; the seconds are right within a factor of two on the machine where fits were timed."""

    seconds: float
    n_bytes: float

    def __str__(self) -> str:
        minutes, tens = max(1, round(self.seconds / 60)), max(10, round(self.seconds, -1))
        time = f"{tens:.0f} seconds" if tens <= 50 else f"{minutes} minute{'s' if minutes > 1 else ''}"
        return f"about {time} and {self.n_bytes / 1e9:.1f} GB of memory"


def fit_seconds(
    method: str, n_rows: int, n_columns: int, n_classes: int, spectra: bool = False, *, settled: bool = False
) -> float:
    """Estimate how long one fit takes; a ``settled`` one repeats what an earlier fit has chosen."""
    if method == NCA:
        return fit_seconds("", n_rows, n_columns, n_classes) + NCA_PAIR_SECONDS * min(n_rows, NCA_ROWS) ** 2
    if method == FOREST:
        tried = n_rows * (n_columns**0.5 if n_classes else n_columns) * math.log2(n_rows + 1)
        return trees_for(n_rows, n_columns, not n_classes) * (TREE_SECONDS + TREE_CELL_SECONDS * tried)
    if method == BOOSTING:
        leaves = n_columns * min(LEAVES, n_rows / ROWS_OF_A_LEAF)
        tree = ROUND_SECONDS + ROUND_CELL_SECONDS * n_rows * n_columns + ROUND_LEAF_SECONDS * leaves
        return tree * n_rounds(n_columns, n_classes) * (n_classes if n_classes > 2 else 1)
    traits = LEARNERS[method].traits if method in LEARNERS else Traits()
    seconds: float = traits.cost.seconds(n_rows, n_columns, n_classes, spectra)
    return seconds * (traits.settled if settled else 1.0)


def planned_fits(
    learners: Sequence[str],
    others: Sequence[str],
    n_folds: int,
    n_rows: int,
    n_columns: int,
    n_classes: int,
    spectra: bool = False,
) -> list[tuple[str, float]]:
    """Return the fits of a comparison, each with its method and its seconds.

    All methods are fitted on every fold. Several learners are also compared within every fold, to choose one of them.
    """
    shape = n_columns, n_classes, spectra
    train = n_rows * (n_folds - 1) // n_folds
    inner = min(train, INNER_ROWS) * (INNER_FOLDS - 1) // INNER_FOLDS
    of_fold = [(name, fit_seconds(name, train, *shape)) for name in (*learners, *others)]
    if len(learners) > 1:
        seconds = [(name, fit_seconds(name, inner, *shape, settled=True)) for name in learners]
        of_fold += [one for one in seconds for _ in range(INNER_FOLDS)]
    return of_fold * n_folds


def estimate(
    n_rows: int,
    n_columns: int,
    n_classes: int,
    learners: Sequence[str] = COMPARED,
    n_folds: int = 5,
    *,
    spectra: bool = False,
) -> Estimate:
    """Estimate what a study of a table of this shape needs on two cores; ``n_classes=0`` is a numeric target.

    >>> print(estimate(100_000, 40, 2))
    about 3 minutes and 1.1 GB of memory
    """
    compared, judged = min(n_rows, COMPARED_ROWS), min(n_rows, JUDGED_ROWS)
    names = learners if n_classes else OF_NUMBERS
    others = (NCA, FOREST, BOOSTING, LOGISTIC) if n_classes else (*("",) * 4, FOREST, BOOSTING)
    fits = planned_fits(names, others, n_folds, compared, n_columns, n_classes, spectra)
    refits = [fit_seconds(name, judged, n_columns, n_classes, spectra, settled=True) for name in names]
    seconds = (
        START_SECONDS
        + sum(seconds for _, seconds in fits) / FITS_AT_ONCE
        + JUDGED_ENTRY_SECONDS * judged * min(n_columns, JUDGED_COLUMNS)
        + REFITS * sum(refits) / len(refits)  # one of them is chosen
        + FITTED_ENTRY_SECONDS * n_rows * n_columns
        + (MAP_SECONDS if n_classes and n_rows >= MAPPED_ROWS else 0.0)
    )
    return Estimate(seconds, PROGRAM_BYTES + TABLE_COPIES * 8.0 * n_rows * n_columns)


class TimeLeft:
    """The fits of each method that are planned, with the seconds expected, and how long the finished ones took.

    A method that has been fitted takes as many times the expected seconds as it took so far, one that has not as many
    as all others. ``n_at_once`` is how many fits run at the same time.

    >>> left = TimeLeft([("gmlvq", 2.0), ("gmlvq", 2.0), ("lann", 4.0)])
    >>> left.done("gmlvq", expected=2.0, seconds=1.0)
    >>> left.seconds, left.share
    (3.0, 0.25)
    """

    def __init__(self, planned: Iterable[tuple[str, float]], n_at_once: int = 1) -> None:
        self.n_at_once, self._reported = n_at_once, 0.0
        self._left: dict[str, float] = defaultdict(float)
        self._expected: dict[str, float] = defaultdict(float)
        self._spent: dict[str, float] = defaultdict(float)
        for method, seconds in planned:
            self._left[method] += seconds

    def done(self, method: str, expected: float, seconds: float) -> None:
        """Count a fit as done, which took these seconds instead of those expected."""
        self._left[method] = max(0.0, self._left[method] - expected)
        self._expected[method] += expected
        self._spent[method] += seconds

    def tell(self, report: Report, step: str, method: str) -> None:
        """Report the first fit that is not done, and the time left; the share of the work is that of the time."""
        shown = method.upper() if method in LEARNERS else method
        self._reported = max(self._reported, self.share)  # no smaller where fits take longer than those before
        report(f"{step}: {shown}, {self} for this step", self._reported)

    def skip(self, method: str, expected: float) -> None:
        """Leave out a fit of these expected seconds, which is not needed."""
        self._left[method] = max(0.0, self._left[method] - expected)

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


def aligned(probabilities: Array, known: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return a column for each of the sorted classes, zero for those not known to the model; each row sums to one.

    ``probabilities`` are those of the ``known`` classes; values outside [0, 1] are clipped.

    >>> aligned(np.array([[0.25, 0.75]]), np.array(["u", "w"]), np.array(["u", "v", "w"]))
    array([[0.25, 0.  , 0.75]])
    """
    found = np.zeros((len(probabilities), len(classes)))
    found[:, np.searchsorted(classes, known)] = np.clip(np.nan_to_num(probabilities), 0.0, 1.0)
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.full_like(found, 1.0 / len(classes)), where=total > 0)


def of_predictions(probabilities: Array, predicted: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return the probability of each prediction."""
    return np.asarray(probabilities[np.arange(len(predicted)), np.searchsorted(classes, predicted)])


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
class FitPredictions:
    """What a method predicts for the held-out rows of a part."""

    part: FitRows
    name: str  # of the method
    predicted: NDArray[Any]
    shares: Array | None  # the probabilities of the classes of the model, where they are wanted
    classes: NDArray[Any] | None  # of the model, in the order of the shares
    model: Any  # the fitted method, where it may be needed again

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

    def predictions(self, part: FitRows, name: str, model: Any) -> FitPredictions:
        """Return what a fitted method predicts."""
        rows, classes = self.X.iloc[part.test], getattr(model, "classes_", None)
        shares = model.predict_proba(rows) if self.probabilities else None
        with far_rows_unsaid():
            return FitPredictions(part, name, model.predict(rows), shares, classes, model)


def fit_and_predict(
    name: str, part: int, keep: bool, fits: Fits, chosen: Mapping[str, Any] = MappingProxyType({})
) -> tuple[Any, NDArray[Any], NDArray[Any] | None, Any]:
    """Fit a method to the rows of a part; return its predictions, and the model if it is to be kept.

    ``chosen`` are parameters of a learner that it does not choose again.
    """
    rows = fits.parts[part]
    model = replace(fits.methods, chosen=chosen).fitted(name, *fits.known(rows))
    made = fits.predictions(rows, name, model)
    return model if keep else None, made.predicted, made.shares, made.classes


def held_out_predictions(
    fits: Fits, wanted: Sequence[str], report: Report, workers: Workers | None = None
) -> Iterator[FitPredictions]:
    """Yield those of the methods of every part, in any order; with the models of those wanted, outside of choices.

    Fits that are kept of an interrupted study are not repeated. What a wanted learner chooses in folds of its own, it
    chooses once for a fold: it is fitted within the fold at last, with these parameters.
    """
    workers = Processes(1) if workers is None else workers
    pieces = _pieces(fits, wanted)
    later = [piece for piece in pieces if piece.arguments["name"] in wanted and _follows(piece, fits)]
    say = _saying(fits, pieces, report, workers.n_workers)
    chosen: dict[tuple[int, str], dict[str, Any]] = {}
    for found in _predictions_of([piece for piece in pieces if piece not in later], fits, say, workers):
        if found.model is not None:
            chosen[found.part.fold, found.name] = chosen_settings(found.model)
        yield found
    settled = [
        replace(piece, arguments={**piece.arguments, "chosen": chosen[fold, piece.arguments["name"]]})
        for piece in later
        for fold in [fits.parts[piece.arguments["part"]].fold]
    ]
    yield from _predictions_of(settled, fits, say, workers)


def _follows(piece: Piece, fits: Fits) -> bool:
    """Return whether a fit within a fold is one of a learner that chooses parameters in folds of its own."""
    learners = LEARNERS if kind_of_target(fits.y) == "classes" else REGRESSORS
    name = piece.arguments["name"]
    within = fits.parts[piece.arguments["part"]].within
    return within and name in learners and hasattr(learners[name], "chosen_settings")


def _predictions_of(pieces: Sequence[Piece], fits: Fits, say: Saying, workers: Workers) -> Iterator[FitPredictions]:
    """Yield the predictions of some fits, those that are kept first."""
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
            yield run_piece(Piece(shared.predictions, {"part": part, "name": name, "model": model})).result
            say(piece, None)
    for piece, done in results_of(workers, todo, {"fits": shared}):
        part, name = fits.parts[piece.arguments["part"]], piece.arguments["name"]
        model, predicted, shares, classes = done.result
        if kept.worth(done.elapsed) and name in LEARNERS:
            kept.keep(path_of(piece), model, done.elapsed)
        yield FitPredictions(part, name, predicted, shares, classes, None if part.within else model)
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
    left = TimeLeft(((piece.arguments["name"], piece.weight) for piece in todo), n_at_once)
    places = {_key(piece): place for place, piece in enumerate(todo)}
    n_folds = max(part.fold for part in fits.parts)
    furthest, n_left = 0, len(todo)

    def begin() -> None:
        if n_left:
            begun = todo[min(furthest, len(todo) - 1)].arguments
            fold = fits.parts[begun["part"]].fold
            left.tell(report, f"compare learners, fold {fold} of {n_folds}", begun["name"])

    def done(piece: Piece, seconds: float | None) -> None:
        nonlocal furthest, n_left
        furthest, n_left = max(furthest, places[_key(piece)] + 1), n_left - 1
        if seconds is None:
            left.skip(piece.arguments["name"], piece.weight)
            return
        left.done(piece.arguments["name"], piece.weight, seconds)
        begin()

    begin()
    return done


def _key(piece: Piece) -> tuple[int, str]:
    return piece.arguments["part"], piece.arguments["name"]
