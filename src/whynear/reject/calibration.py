"""The calibration of a classifier: the certainty of predictions, the rules that accept by it, and sets of classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression

from whynear.data.rows import split_rows
from whynear.reject.nearness import (
    NO_CASES,
    Measure,
    NearCases,
    Nearness,
    measures_of,
    own_and_best_other,
    usual_measures,
)
from whynear.reject.outcome import Promise, promise_of
from whynear.utils.arrays import Array, ByValue, Indices
from whynear.utils.checks import number

MOST_STEPS = 100
MOST_HALVINGS = 30
TOLERANCE = 1e-9


def fit_logistic(
    Z: Array, right: NDArray[np.bool_], penalties: Array, codes: Indices, n_classes: int, class_penalty: float
) -> tuple[Array, Array]:
    r"""Return the coefficients w and intercepts b that minimise the penalised log loss of the odds o = Z w + b_code.

    .. math:: \sum_i \log(1 + e^{o_i}) - t_i o_i + \tfrac12 \sum_j p_j w_j^2 + \tfrac12 q \sum_c b_c^2

    The targets t are smoothed as in Platt's method, (n+ + 1) / (n+ + 2) and 1 / (n- + 2), so that w is finite where all
    cases are right. Newton's method with halved steps; the intercepts, whose curvature is diagonal, are eliminated.
    Time O(n m^2 + C m^2) for a step, m coefficients and C classes.
    """
    n_right = np.count_nonzero(right)
    targets = np.where(right, (n_right + 1) / (n_right + 2), 1 / (len(right) - n_right + 2))

    def loss(w: Array, b: Array) -> float:
        odds = Z @ w + b[codes]
        penalty = penalties @ np.square(w) + class_penalty * np.square(b).sum()
        return float(np.logaddexp(0.0, odds).sum() - targets @ odds + penalty / 2)

    w, b = np.zeros(Z.shape[1]), np.zeros(n_classes)
    value = loss(w, b)
    for _ in range(MOST_STEPS):
        of_w, of_b = _newton_step(w, b, Z, targets, penalties, codes, class_penalty)
        for halving in range(MOST_HALVINGS):
            moved = w - of_w / 2**halving, b - of_b / 2**halving
            moved_value = loss(*moved)
            if moved_value <= value:
                break
        else:
            break
        done = value - moved_value <= TOLERANCE * (1 + abs(value))
        (w, b), value = moved, moved_value
        if done:
            break
    return w, b


def _newton_step(
    w: Array, b: Array, Z: Array, targets: Array, penalties: Array, codes: Indices, class_penalty: float
) -> tuple[Array, Array]:
    """Return the steps of w and b: for the curvature ((A, B), (B', D)), D diagonal, by the complement A - B D^-1 B'."""
    shares = expit(Z @ w + b[codes])
    curved = shares * (1 - shares)
    by_w = Z.T @ (shares - targets) + penalties * w
    by_b = np.bincount(codes, shares - targets, len(b)) + class_penalty * b
    A = (Z * curved[:, None]).T @ Z + np.diag(penalties)
    B = np.array([np.bincount(codes, curved * column, len(b)) for column in Z.T])
    D = np.bincount(codes, curved, len(b)) + class_penalty
    of_w = np.linalg.solve(A - (B / D) @ B.T, by_w - (B / D) @ by_b)
    return of_w, (by_b - B.T @ of_w) / D


FREE_PENALTY, SLOPE_PENALTY, CLASS_PENALTY, HELD_PENALTY = 1e-6, 10.0, 5.0, 1e12
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class CertaintyModel(ByValue):
    """P(right) = logistic of the intercept of the predicted class and of standardised measures times their slopes.

    Values of measures outside ``low`` to ``high``, the range in the cases it was fitted to, are taken as these.
    """

    names: tuple[Measure, ...]
    low: Array
    high: Array
    mean: Array
    scale: Array
    slopes: Array
    intercepts: Array

    def certainty(self, measures: Mapping[Measure, Array], predicted: Indices) -> Array:
        """Return the probability that each prediction is right, for the places of the predicted classes."""
        table = np.column_stack([measures[name] for name in self.names])
        return expit(
            (np.clip(table, self.low, self.high) - self.mean) / self.scale @ self.slopes + self.intercepts[predicted]
        )


def fit_certainty(
    measures: Mapping[Measure, Array],
    predicted: Indices,
    right: NDArray[np.bool_],
    names: Sequence[Measure],
    n_classes: int,
) -> CertaintyModel:
    """Fit the certainty to cases: a slope for each measure, and an intercept for each predicted class.

    The intercepts are shrunken to a common one: a class moves its own by as much as its cases show. They are the form
    of thresholds for each class that does not overfit. One measure alone gets no intercepts, and keeps its order.
    """
    table = np.column_stack([measures[name] for name in names])
    finite = np.isfinite(table)  # a column without a finite value is zero
    low, high = np.where(finite, table, np.inf).min(axis=0), np.where(finite, table, -np.inf).max(axis=0)
    low, high = np.where(finite.any(axis=0), low, 0.0), np.where(finite.any(axis=0), high, 0.0)
    table = np.clip(table, low, high)
    mean, scale = table.mean(axis=0), table.std(axis=0)
    scale = np.where(scale > 1e-12 * (np.abs(low) + np.abs(high)), scale, 1.0)
    Z = np.column_stack([np.ones(len(table)), (table - mean) / scale])
    penalties = np.array([FREE_PENALTY] + [SLOPE_PENALTY] * len(names))
    codes, class_penalty = (predicted, CLASS_PENALTY) if len(names) > 1 else (np.zeros_like(predicted), HELD_PENALTY)
    w, intercepts = fit_logistic(Z, right, penalties, codes, n_classes, class_penalty)
    return CertaintyModel(tuple(names), low, high, mean, scale, w[1:], w[0] + intercepts)


def certainty_folds(right: NDArray[np.bool_], groups: ArrayLike | None, seed: int) -> list[tuple[Indices, Indices]]:
    """Return the folds of the cases: ten, or as many as there are cases; a single case is both known and held out."""
    if len(right) < 2:
        return [(np.arange(len(right)), np.arange(len(right)))]
    return split_rows(right, min(N_FOLDS, len(right)), seed, stratified=False, groups=groups)


TIE_SHARE = 1e-6  # of the certainty itself, by which cases of equal shares are ordered
FEWEST_CASES = 20  # of a class, and one error: with fewer its certainty stays as it is


@dataclass(frozen=True, eq=False)
class ClassScales(ByValue):
    """For each predicted class the share of right predictions at each certainty, between knots.

    One threshold of these shares is another threshold of the certainty in each class. ``knots`` has two rows for each
    class, certainties and shares; none for a class whose certainty stays as it is.
    """

    knots: tuple[Array, ...]

    def scaled(self, certainty: Array, predicted: Indices) -> Array:
        """Return the share that is right at the certainty of each case in its predicted class."""
        found = certainty.copy()
        for code, knots in enumerate(self.knots):
            if knots.size:
                own = predicted == code
                shares = np.interp(certainty[own], knots[0], knots[1])
                found[own] = (1 - TIE_SHARE) * shares + TIE_SHARE * certainty[own]
        return found


def class_scales(certainty: Array, predicted: Indices, right: NDArray[np.bool_], n_classes: int) -> ClassScales:
    """Fit the scales of classes to cases.

    Of all thresholds t_c, those that reject most wrong cases at the price of p right ones for each wrong one are, for
    every p, where the share of right cases of class c passes p / (1 + p) on the convex hull of its cases by certainty.
    That share is the isotonic regression of right on certainty: the optimal thresholds of Fischer, Hammer and Wersing
    (2016) on the hull, where they are nested. Between the middles of the steps it is interpolated.
    """
    return ClassScales(tuple(_knots(certainty, right, predicted == code) for code in range(n_classes)))


def _knots(certainty: Array, right: NDArray[np.bool_], own: NDArray[np.bool_]) -> Array:
    if np.count_nonzero(own) < FEWEST_CASES or right[own].all():
        return np.empty((2, 0))
    fitted = IsotonicRegression().fit(certainty[own], right[own])
    # Each share once, at the middle of the certainties that have it.
    shares, first, counts = np.unique(fitted.y_thresholds_, return_index=True, return_counts=True)
    at = fitted.X_thresholds_
    return np.array([(at[first] + at[first + counts - 1]) / 2, shares])


MODEL_SHAPES: dict[str, tuple[int | str, ...]] = {
    **dict.fromkeys(("low", "high", "mean", "scale", "slopes"), ("measures",)),
    "intercepts": ("classes",),
}
NEAR_SHAPES: dict[str, tuple[int | str, ...]] = {"cases": ("cases", "coordinates"), "codes": ("cases",)}
FAR_FACTOR = 2.0  # a case farther than the farthest known case by this factor is not accepted


@dataclass(frozen=True, eq=False)
class CertaintyRule(ByValue):
    """Gives cases their certainty."""

    model: CertaintyModel
    scales: ClassScales  # empty unless each class has its own threshold
    near: NearCases  # whose classes count near a case, for learners with prototypes; empty for others
    farthest: float  # largest distance of a case that chose the rule to the nearest prototype or training case

    def certainty_of(self, nearness: Nearness) -> Array:
        """Return the certainty of cases; zero for one more than twice as far as any case that chose the rule."""
        if self.near and nearness.seen is not None:
            shares = self.near.shares(nearness.seen, nearness.probabilities.shape[1])
            nearness = replace(nearness, near_shares=shares)
        found = self.model.certainty(measures_of(nearness), nearness.predicted)
        found = self.scales.scaled(found, nearness.predicted)
        if nearness.sq_nearest is None:
            return found
        return np.where(np.sqrt(nearness.sq_nearest) > FAR_FACTOR * self.farthest, 0.0, found)

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, texts, arrays and lists of these, which a file can hold."""
        return {
            "model": {**vars(self.model), "names": list(self.model.names)},
            "scales": list(self.scales.knots),
            "near": dict(vars(self.near)),
            "farthest": None if np.isinf(self.farthest) else self.farthest,
        }

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> CertaintyRule:
        """Return the rule of which `to_dict` returned this; refuse one that does not fit together."""
        names = tuple(held["model"]["names"])
        sizes = {"measures": len(names)}
        model = {name: _numbers(name, held["model"][name], shape, sizes) for name, shape in MODEL_SHAPES.items()}
        cases, codes = (_numbers(name, held["near"][name], shape, sizes) for name, shape in NEAR_SHAPES.items())
        if not (model["scale"] > 0).all():
            raise ValueError("The certainty is damaged: its scale holds a number that is not positive.")
        if codes.dtype.kind != "i" or not ((codes >= -1) & (codes < sizes["classes"])).all():
            raise ValueError("The certainty is damaged: its codes are no places of classes.")
        return cls(
            CertaintyModel(names, **model),
            ClassScales(tuple(_numbers("scales", knots, (2, "knots"), {}) for knots in held["scales"])),
            NearCases(cases, codes.astype(np.intp)),
            np.inf if held["farthest"] is None else number("farthest", held["farthest"], least=0.0),
        )


def _numbers(name: str, value: Any, shape: tuple[int | str, ...], sizes: dict[str, int]) -> Array:
    """Return an array of finite numbers whose axes have the given sizes; a size that is not yet given is added."""
    found = np.asarray(value)
    fits = found.ndim == len(shape) and all(
        size == (wanted if isinstance(wanted, int) else sizes.setdefault(wanted, size))
        for size, wanted in zip(found.shape, shape, strict=True)
    )
    if not fits or found.dtype.kind not in "if" or not np.isfinite(found).all():
        raise ValueError(f"The certainty is damaged: its {name} is no array of finite numbers of the fitting shape.")
    return found


def strangeness(nearness: Nearness) -> Array:
    """Return how strange each class would be for each case, of shape (n, n_classes).

    log(d / d'), for the squared distances d to the class and d' to the nearest other one; for a classifier without
    distances log(p' / p) of the probabilities. Minus infinity at distance zero, infinity for a class without cases,
    zero where both are zero.

    >>> strangeness(Nearness(np.array([0]), np.array([[0.8, 0.2]]))).round(3)
    array([[-1.386,  1.386]])
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        if nearness.sq_by_class is None:
            logs = -np.log(nearness.probabilities)
        else:
            logs = np.log(nearness.sq_by_class)
        nearest = logs.argmin(axis=1)
        own, other = own_and_best_other(-logs, nearest)
        best_other = np.repeat(-own[:, None], logs.shape[1], axis=1)
        best_other[np.arange(len(logs)), nearest] = -other
        found = logs - best_other
    return np.where(np.isnan(found), 0.0, found)


def strangeness_of_true(scores: Array, codes: Indices) -> Array:
    """Return the strangeness of the true class of each case; infinite for a class that is new to the classifier."""
    return np.where(codes >= 0, scores[np.arange(len(scores)), np.maximum(codes, 0)], np.inf)


def strangest_accepted(of_true: Array, coverage: float) -> float:
    """Return the limit of strangeness below which the true class of a new case lies with this probability.

    That of the k-th of n calibration cases in rising order, k = ceil((n + 1) coverage); infinite where k > n.

    >>> strangest_accepted(np.arange(1.0, 10.0), 0.8), strangest_accepted(np.arange(1.0, 10.0), 0.95)
    (8.0, inf)
    """
    place = math.ceil((len(of_true) + 1) * coverage - 1e-9)
    return float(np.sort(of_true)[place - 1]) if place <= len(of_true) else np.inf


def fewest_for_sets(coverage: float) -> int:
    """Return how many calibration cases sets of this coverage need: with fewer they hold every class.

    >>> fewest_for_sets(0.9), fewest_for_sets(0.99)
    (9, 99)
    """
    return math.ceil(coverage / (1 - coverage) - 1e-9)


Thresholds = Literal["global", "class"]
CHOOSING_SHARE, MOST_CHOOSING = 0.4, 5_000  # of the cases, those that fit the certainty and do not count for promises
OUTLIER_SHARE = 0.95  # of the calibration cases are nearer than an outlier


@dataclass(frozen=True, eq=False)
class Calibration(ByValue):
    """The calibration of the predictions of a classifier by held-out cases."""

    classes: NDArray[Any]
    rule: CertaintyRule  # two fifths of the cases chose it
    chosen_by: Array  # the certainties of these, each by a model fitted to the others
    certainty: Array  # of each other case
    right: NDArray[np.bool_]  # whether their predictions are
    nearest: Array  # sorted distances of all cases to the nearest prototype or training case; empty without distances
    strangeness: Array  # of the true class of each case
    unit: str = "cases"  # what is counted: all "cases", or one of each of "groups"

    def promise(self, accuracy: float, confidence: float) -> Promise:
        """Return what can be promised for accepted cases: the counted cases had no part in choosing the certainty."""
        return promise_of(self.certainty, self.right, self.chosen_by, accuracy, confidence, self.unit)

    def is_outlier(self, nearness: Nearness) -> NDArray[np.bool_]:
        """Return which cases are farther from the nearest prototype or training case than 95% of the held-out ones."""
        if nearness.sq_nearest is None or not len(self.nearest):
            return np.zeros(len(nearness), dtype=bool)
        nearer = np.searchsorted(self.nearest, np.sqrt(nearness.sq_nearest), side="left")
        return nearer / len(self.nearest) >= OUTLIER_SHARE

    def to_dict(self) -> dict[str, Any]:
        """Return numbers, texts, arrays and lists of these, which a file can hold."""
        return {**vars(self), "rule": self.rule.to_dict()}

    @classmethod
    def from_dict(cls, held: dict[str, Any]) -> Calibration:
        """Return the calibration of which `to_dict` returned this."""
        return cls(**{**held, "rule": CertaintyRule.from_dict(held["rule"])})


def calibrated(
    nearness: Nearness,
    y: ArrayLike,
    classes: NDArray[Any],
    *,
    certainty: Measure | Literal["auto"] = "auto",
    thresholds: Thresholds = "global",
    groups: ArrayLike | None = None,
    seed: int = 0,
) -> tuple[Calibration, Array]:
    """Calibrate the predictions of held-out cases with known classes; return the certainty of each case too.

    Two fifths of the cases, drawn at random, choose the certainty; the others count for promises. All count for sets,
    which do not depend on the certainty. Of each group one case counts, drawn at random: cases of one group are not
    independent.
    """
    codes = pd.Index(classes).get_indexer(np.asarray(y))
    separate = np.arange(len(codes)) if groups is None else np.asarray(groups)
    chooses = choosing(separate, seed)
    near = NO_CASES if nearness.seen is None else NearCases(nearness.seen[chooses], codes[chooses])
    known = nearness.rows(chooses)
    if near:
        known = replace(known, near_shares=near.own_shares(len(classes)))
    measures, right = measures_of(known), codes[chooses] == known.predicted
    names = usual_measures(known) if certainty == "auto" else (certainty,)
    if missing := [name for name in names if name not in measures]:
        raise ValueError(
            f"certainty={certainty!r} needs {'near cases' if missing[0] == 'near_share' else 'distances'} that the "
            f"learner does not have. Use certainty='auto', or one of {', '.join(measures)}."
        )
    sq = nearness.sq_nearest if nearness.same_units else None
    farthest = np.inf if sq is None else float(np.sqrt(sq[chooses].max()))

    def fitted(some: Any) -> tuple[CertaintyModel, ClassScales]:
        own, predicted = {name: values[some] for name, values in measures.items()}, known.predicted[some]
        model = fit_certainty(own, predicted, right[some], names, len(classes))
        if thresholds == "global":
            return model, ClassScales(())
        return model, class_scales(model.certainty(own, predicted), predicted, right[some], len(classes))

    rule = CertaintyRule(*fitted(slice(None)), near, farthest)
    certainties, chosen_by = rule.certainty_of(nearness), np.empty(len(right))
    for train, test in certainty_folds(right, None if groups is None else separate[chooses], seed):
        (model, scales), predicted = fitted(train), known.predicted[test]
        others = {name: values[test] for name, values in measures.items()}
        chosen_by[test] = scales.scaled(model.certainty(others, predicted), predicted)
    certainties[chooses] = chosen_by
    one = one_of_each(separate, seed)
    counted = one[~chooses[one]]
    found = Calibration(
        classes,
        rule,
        certainties[chooses],
        certainties[counted],
        (codes == nearness.predicted)[counted],
        np.empty(0) if sq is None else np.sort(np.sqrt(sq)),
        strangeness_of_true(strangeness(nearness.rows(one)), codes[one]),
        "cases" if groups is None else "groups",
    )
    return found, certainties


def choosing(separate: NDArray[Any], seed: int) -> NDArray[np.bool_]:
    """Return which cases choose the certainty: two fifths of the groups, from one to 5,000.

    >>> choosing(np.array(["p", "p", "q", "q", "r", "r"]), seed=0).sum()
    np.int64(2)
    """
    groups = np.unique(separate)
    size = min(max(1, int(CHOOSING_SHARE * len(groups))), MOST_CHOOSING)
    return np.isin(separate, np.random.default_rng([seed, 1]).choice(groups, size, replace=False))


def one_of_each(groups: ArrayLike, seed: int) -> Indices:
    """Return the places of one case of each group, drawn at random, in rising order.

    >>> one_of_each(["p", "q", "p", "q"], seed=0).tolist() in ([0, 1], [0, 3], [1, 2], [2, 3])
    True
    """
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    return np.sort(shuffled[np.unique(codes[shuffled], return_index=True)[1]])
