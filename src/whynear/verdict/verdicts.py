"""Verdicts on the features of a table, by refitting without them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from whynear.interpret import Relevance
from whynear.learn.inputs import checked_weights
from whynear.utils import html
from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import Seed, generator, whole
from whynear.utils.progress import ProgressArgument, Report, listener, within
from whynear.utils.threads import one_blas_thread
from whynear.utils.values import ByValue
from whynear.verdict.decisions import INDISPENSABLE, UNDECIDED, WORDS, decide, needed_features, without_contradiction
from whynear.verdict.feature_columns import FeatureColumns, chosen_rows, feature_columns, owners_of
from whynear.verdict.information import Information, information
from whynear.verdict.leaving_out import Cost, Costs, cost_of, costs_without
from whynear.verdict.models import KernelModels, Refits, beats_guessing, rows_of
from whynear.verdict.stability import AGREED, resampled_verdicts
from whynear.verdict.stand_ins import StandIns
from whynear.verdict.sufficient import MOST_ROWS, SufficientSets, find_sets
from whynear.verdict.targets import Answers, Target, target_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROWS_OF_INFORMATION = 2_000
REPEATS = 4  # of the learner's cross-validation, for features that look indispensable
MANY_FEATURES = 1_000  # from which fewer resamples are drawn
FEW_RESAMPLES = 5


@dataclass(frozen=True, eq=False)
class Verdicts(ByValue):
    """What refitting says about each feature.

    Attributes
    ----------
    feature_names : tuple of str
        The features.
    verdict : ndarray of str
        "indispensable": no model does as well without it. "replaceable": it carries information, and leaving it out
        costs at most two points. "no evidence": nothing shows that it helps, and an effect of the usual size would have
        shown. "undecided": the rows do not settle it.
    loss, error : ndarray
        Points of accuracy (R2 for a measured target) lost without each feature, and their standard errors.
    p_value : ndarray
        Of no increase of the held-out loss without the feature, before the correction for the number of features.
    effect, q_value : ndarray
        The largest share of the target's variance that a test of the feature alone, or with one other, explains; and
        the false discovery rate at which it counts as information.
    stability : ndarray
        Share of resamples with the same verdict, before "undecided" took its place.
    n_resamples : int
        Number of resamples.
    score : float
        Accuracy (R2) of the best model on held-out rows with all features.
    works : bool
        Whether that beats the class shares (the mean).
    sets : SufficientSets
        The fewest features that suffice, and who can stand in for whom.
    relevance : Relevance or None
        Intervals of the same features, where they were given.
    """

    feature_names: tuple[str, ...]
    verdict: NDArray[np.str_]
    loss: Array
    error: Array
    p_value: Array
    effect: Array
    q_value: Array
    stability: Array
    n_resamples: int
    score: float
    works: bool
    measure: str
    sets: SufficientSets
    relevance: Relevance | None = None

    @property
    def stand_ins(self) -> StandIns:
        """Which features can stand in for which, at which price."""
        return self.sets.stand_ins

    @property
    def order(self) -> Indices:
        """The indispensable features, the others of the smallest set, then the rest by verdict; largest loss first."""
        ranks = np.array([1.0 + WORDS.index(str(word)) for word in self.verdict])
        if len(self.sets.best) < len(self.feature_names):
            ranks[np.isin(self.feature_names, self.sets.best) & (ranks > 1)] = 1.5
        return np.lexsort((self.p_value, -self.loss, ranks)).astype(np.intp)

    def named(self, word: str) -> tuple[str, ...]:
        """Return the features with a verdict, members of the smallest set first, then by what their absence costs."""
        return tuple(self.feature_names[j] for j in self.order if self.verdict[j] == word)

    def frame(self) -> pd.DataFrame:
        """Return one row per feature; with its interval where relevance was given."""
        frame = pd.DataFrame(
            {
                "feature": self.feature_names,
                "verdict": self.verdict,
                "loss_without": self.loss,
                "loss_error": self.error,
                "p_value": self.p_value,
                "effect": self.effect,
                "q_value": self.q_value,
                "stability": self.stability,
            }
        )
        if self.relevance is None:
            return frame
        bounds = self.relevance.frame().set_index("feature")[["lower", "upper"]]
        return frame.join(bounds, on="feature")

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists."""
        return {
            "features": replace(self, relevance=None).frame().to_dict("records"),
            "resamples": self.n_resamples,
            "score": self.score,
            "works": self.works,
            "measure": self.measure,
            "sufficient": list(self.sets.best),
            "alternatives": {name: list(others) for name, others in self.sets.alternatives.items()},
            "curve": self.sets.frame().drop(columns="features").to_dict("records"),
            "stand_ins": self.stand_ins.frame().to_dict("records"),
        }

    def plot(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw what leaving out each feature costs, with its error, coloured by its verdict."""
        from whynear.verdict.drawing import draw_verdicts

        return draw_verdicts(self, ax, most)

    def plot_intervals(self, ax: Axes | None = None, most: int = 40) -> Axes:
        """Draw the intervals of the features, coloured by their verdicts."""
        from whynear.verdict.drawing import draw_bounds

        if self.relevance is None:
            raise ValueError("No intervals were given: call verdicts(..., relevance=relevance_intervals(...)).")
        return draw_bounds(self, ax, most)

    def __repr__(self) -> str:
        counts = ", ".join(f"{np.count_nonzero(self.verdict == word)} {word}" for word in WORDS)
        return f"Verdicts({len(self.feature_names)} features: {counts})"

    def _repr_html_(self) -> str:
        lost = [f"{loss:.1f} ± {error:.1f}" for loss, error in zip(self.loss, self.error, strict=True)]
        stable = [f"{share:.0%}" if self.n_resamples else "not resampled" for share in self.stability]
        rows = [(self.feature_names[j], self.verdict[j], lost[j], stable[j]) for j in self.order[: html.MOST_ROWS]]
        more = html.more_of(len(self.order), len(rows), "feature")
        return html.block(
            html.heading(repr(self)),
            f"{self.measure} {self.score:.1%} with all features; points lost without each, and the share of "
            f"{self.n_resamples} resamples with the same verdict.",
            html.table(["feature", "verdict", "points lost without it", "stability"], rows, more),
        )


def verdicts(
    learner: BaseEstimator,
    X: Any,
    y: Any,
    *,
    relevance: Relevance | None = None,
    groups: Any = None,
    sample_weight: Any = None,
    features: Sequence[str] | None = None,
    n_jobs: int | None = None,
    random_state: Seed = None,
    n_resamples: int | None = None,
    progress: ProgressArgument = None,
) -> Verdicts:
    """Say of each feature whether it is indispensable, replaceable, without evidence, or undecided.

    Every feature is left out and models are refitted: kernel ridge models of several shapes, whose held-out predictions
    have a closed form, and the learner itself where a feature looks indispensable. When a feature is left out, the best
    of all models may answer: what only one model needs is not indispensable. Blocks of like features are left out
    together first where there are hundreds.

    Parameters
    ----------
    learner : classifier or regressor
        Any of scikit-learn's, also a Pipeline; it is cloned.
    X : DataFrame or array-like of shape (n_samples, n_features)
        The table that the learner takes. A column is one feature, also one of categories.
    y : array-like of shape (n_samples,)
        The target: classes, or measurements for a regressor.
    relevance : Relevance, optional
        Intervals of the same features; the frame then has their bounds too. They take no part in the verdicts.
    groups : array-like of shape (n_samples,) or TimeOrder, optional
        Rows of one group are held out together. With a `TimeOrder`, rows are held out forward in time.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts when the learner is refitted. Kernel ridge models and losses count each row once.
    features : sequence of str, optional
        For each column the feature it belongs to, such as a band of a spectrum: columns of one feature are left out
        together. Each column is a feature without it.
    n_jobs : int, optional
        Number of threads; all cores without it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of resamples and folds.
    n_resamples : int, optional
        Number of resamples; 20 without it, 5 from a thousand features on. What fewer than three quarters of them agree
        on is undecided.
    progress : bool or callable, optional
        True writes the steps to stderr; a function is called with the name of the step and the share of the work done.

    Returns
    -------
    Verdicts

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from whynear.datasets import make_relevance
    >>> data = make_relevance(n_irrelevant=2, random_state=0)
    >>> found = verdicts(KNeighborsClassifier(), data.X, data.y, random_state=0)
    >>> found.named("indispensable"), sorted(found.named("replaceable"))
    (('strong_0',), ['weak_0_0', 'weak_0_1', 'weak_0_2'])
    """
    report = listener(progress)
    rng = generator(random_state)
    columns = feature_columns(X, features)
    target = target_of(learner, y, groups, len(columns.values))
    if n_resamples is None:
        n_resamples = 20 if columns.n_features < MANY_FEATURES else FEW_RESAMPLES
    whole("n_resamples", n_resamples, 0)
    with one_blas_thread():
        weights = None if sample_weight is None else checked_weights(sample_weight, len(columns.values), X)
        owners = None if features is None else owners_of(features)[1]
        table = _Table(learner, X, np.asarray(y), columns, target, owners, weights)
        found = _judged(table, n_resamples, n_jobs, rng, report)
    return replace(found, relevance=relevance)


@dataclass(frozen=True, eq=False)
class _Table:
    learner: BaseEstimator
    X: Any
    y: NDArray[Any]
    columns: FeatureColumns
    target: Target
    owners: Indices | None
    weights: Array | None


def _judged(table: _Table, n_resamples: int, n_jobs: int | None, rng: np.random.Generator, report: Report) -> Verdicts:
    columns, target = table.columns, table.target
    report("test every feature for information", 0.0)
    # A stream of its own for each part, so that none depends on how much another one draws.
    rng, of_refits, of_resamples, of_sets = rng.spawn(4)
    some = chosen_rows(len(target.Y), ROWS_OF_INFORMATION, target.strata, rng)
    evidence = information(columns.rows(some), target.rows(some))
    rows = chosen_rows(len(target.Y), MOST_ROWS, target.strata, rng)
    own, aim = columns.rows(rows), target.rows(rows)
    report("fit models with all features", 0.05)
    models = KernelModels(own, aim)
    costs = costs_without(models, n_jobs=n_jobs, report=within(report, 0.1, 0.3))
    report("refit the learner", 0.3)
    weights = None if table.weights is None else table.weights[rows]
    refits = Refits(
        table.learner, rows_of(table.X, rows), table.y[rows], aim, int(of_refits.integers(2**31)),
        owners=table.owners, weights=weights,
    )  # fmt: skip
    full, costs = _confirmed(models, costs, refits, evidence, within(report, 0.3, 0.5))
    works = beats_guessing(full, aim)
    decided = decide(evidence, costs, works, len(rows))
    again = resampled_verdicts(own, aim, models, n_resamples, of_resamples, n_jobs, within(report, 0.5, 0.8))
    stability = (again == decided).mean(axis=0) if n_resamples else np.full(len(decided), np.nan)
    agreed = ~(stability < AGREED)
    sets = find_sets(
        own, aim, np.ones(columns.n_features), None, refits, of_sets, n_jobs,
        within(report, 0.8, 1.0), np.flatnonzero((decided == INDISPENSABLE) & agreed),
    )  # fmt: skip
    report("done", 1.0)
    return Verdicts(
        feature_names=columns.names,
        verdict=without_contradiction(np.where(agreed, decided, UNDECIDED), columns.names, sets.best),
        loss=costs.losses,
        error=costs.errors,
        p_value=costs.p_values,
        effect=evidence.shares,
        q_value=evidence.q_values,
        stability=stability,
        n_resamples=n_resamples,
        score=float(full.score.mean()),
        works=works,
        measure="R2" if aim.measured else "accuracy",
        sets=sets,
    )


def _confirmed(
    models: KernelModels, costs: Costs, refits: Refits, evidence: Information, report: Report
) -> tuple[Answers, Costs]:
    """Let the learner answer too: for all features where it is clearly the best model, else where it could object."""
    target, best = models.target, models.answers
    alone = refits.without()
    gain, error = target.mean_and_error(best.loss - alone.loss)
    if gain > 2 * error:
        best = alone
        asked = np.flatnonzero(evidence.found)
    else:
        asked = np.flatnonzero(needed_features(costs))
    made: dict[int, Cost] = {}
    for place, feature in enumerate(asked):
        report(f"refit the learner, without {models.columns.names[feature]}", place / len(asked))
        repeats = REPEATS if best is not alone else 1
        answers = [refits.without([int(feature)], repeats), models.without([int(feature)], tune=True)]
        made[int(feature)] = cost_of(min(answers, key=lambda one: float(one.loss.mean())), best, target)
    changed = {
        name: np.array([getattr(made[j], one) if j in made else old for j, old in enumerate(getattr(costs, name))])
        for name, one in (("losses", "loss"), ("errors", "error"), ("deviations", "deviation"), ("most", "most"))
    }
    return best, replace(costs, **changed)
