"""Which features several methods call relevant on generated data, how correctly and how consistently."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.base import ClassifierMixin
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegressionCV
from sklearn.model_selection import StratifiedShuffleSplit, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from papers.computations import Result
from whynear.datasets import make_truth
from whynear.interpret import effective_dimension, relevance_floor, relevance_intervals
from whynear.learn import GMLVQ
from whynear.study.methods import fewest_directions
from whynear.utils.arrays import Array
from whynear.verdict import verdicts
from whynear.verdict.rules import INDISPENSABLE, NO_EVIDENCE, REPLACEABLE

Labels = NDArray[np.int64]
LEAST_FLOOR = 0.1
STRENGTHS = {INDISPENSABLE: "strong", REPLACEABLE: "weak", NO_EVIDENCE: "irrelevant"}


class Findings(NamedTuple):
    """For each feature: whether it is called relevant, its importance, and its strength if the method gives one."""

    relevant: NDArray[np.bool_]
    importance: Array
    strength: NDArray[np.str_] | None = None


def scores(method: str, kind: str, settings: dict[str, Any], seed: int) -> Result:
    """The scores of a method on one data set."""
    data = make_truth(kind, seed)
    return score_findings(METHODS[method](data.X, data.y, seed, **settings), data.strength)


def score_findings(findings: Findings, truth: NDArray[np.str_]) -> dict[str, float]:
    """The shares of correct answers, by the true strength of the features."""
    found = {name: float(findings.relevant[truth == name].mean()) for name in ("strong", "weak", "irrelevant")}
    is_relevant = truth != "irrelevant"
    shares = {
        "strong found": found["strong"],
        "weak found": found["weak"],
        "irrelevant left out": 1 - found["irrelevant"],
        "relevant or not": float(findings.relevant[is_relevant].mean() + 1 - found["irrelevant"]) / 2,
    }
    if findings.strength is None:
        return shares
    exact = findings.strength == truth
    return shares | {"exact strength": exact.mean(), "exact strength, strong or weak": exact[is_relevant].mean()}


def agreement(method: str, kind: str, settings: dict[str, Any], seed: int, n_halves: int) -> Result:
    """The agreement of a method on random halves of the rows of one data set."""
    data = make_truth(kind, seed)
    halves = StratifiedShuffleSplit(n_halves, train_size=0.5, random_state=seed).split(data.X, data.y)
    findings = [METHODS[method](data.X.iloc[rows], data.y[rows], seed, **settings) for rows, _ in halves]
    return mean_agreement(findings)


def mean_agreement(findings: Sequence[Findings]) -> dict[str, float]:
    """Means over all pairs: the Jaccard index of the relevant features, and the rank correlation of importances."""
    shared = [_shared(one.relevant, other.relevant) for one, other in combinations(findings, 2)]
    ranks = rankdata([each.importance for each in findings], axis=1)
    with np.errstate(invalid="ignore"):
        correlations = np.nan_to_num(np.corrcoef(ranks))[np.triu_indices(len(ranks), 1)]
    return {"same features": float(np.mean(shared)), "same order": float(correlations.mean())}


def _shared(one: NDArray[np.bool_], other: NDArray[np.bool_]) -> float:
    return float((one & other).sum() / max(1, (one | other).sum()))


def by_verdicts(X: pd.DataFrame, y: Labels, seed: int, n_prototypes: int) -> Findings:
    """Verdicts by refitting, GMLVQ on z-scores among the models."""
    learner = make_pipeline(StandardScaler(), GMLVQ(n_prototypes=n_prototypes, random_state=seed))
    found = verdicts(learner, X, y, n_jobs=1, random_state=seed)
    strength = np.array([STRENGTHS.get(str(word), "unknown") for word in found.verdict])
    return Findings(np.isin(strength, ["strong", "weak"]), found.effect, strength)


def intervals(X: pd.DataFrame, y: Labels, seed: int, n_prototypes: int, slack: float, n_probes: int) -> Findings:
    """Relevance intervals of GMLVQ on z-scores, on the directions of the data that held-out rows support."""
    model = make_pipeline(StandardScaler(), GMLVQ(n_prototypes=n_prototypes, random_state=seed)).fit(X, y)
    kept = fewest_directions(effective_dimension(model, X, y), len(X))
    probes = relevance_floor(model, X, y, n_probes, seed, effective_dim=kept, slack=slack)
    floor = max(LEAST_FLOOR, min(float(probes), 0.9))
    found = relevance_intervals(model, X, kept, slack, floor, n_jobs=1)
    return Findings(np.isin(found.strength, ["strong", "weak"]), found.upper, found.strength)


def shap_of_boosting(X: pd.DataFrame, y: Labels, seed: int) -> Findings:
    """Shapley values of gradient boosting."""
    return _shap(HistGradientBoostingClassifier(random_state=seed), X.to_numpy(), y, seed)


def shap_of_trees(X: pd.DataFrame, y: Labels, seed: int, n_trees: int) -> Findings:
    """Shapley values of extremely randomized trees."""
    return _shap(ExtraTreesClassifier(n_trees, max_features=None, random_state=seed), X.to_numpy(), y, seed)


def _shap(model: ClassifierMixin, X: Array, y: Labels, seed: int) -> Findings:
    """Mean absolute values over rows and classes, compared with those of permuted columns in the same table."""
    try:
        from shap import TreeExplainer
    except ImportError:
        raise ImportError("SHAP is not installed: pip install shap boruta") from None
    columns = np.hstack([X, np.random.default_rng(seed).permuted(X, axis=0)])
    with threadpool_limits(1, "openmp"):
        values = TreeExplainer(model.fit(columns, y)).shap_values(columns)
    importance, of_noise = np.split(np.abs(values).reshape(*columns.shape, -1).mean(axis=(0, 2)), 2)
    return Findings(importance > of_noise.max(), importance)


def permutation(X: pd.DataFrame, y: Labels, seed: int, n_trees: int, n_repeats: int) -> Findings:
    """The loss of accuracy of a random forest on a held-out half when a column is permuted."""
    X_fit, X_out, y_fit, y_out = train_test_split(X.to_numpy(), y, test_size=0.5, stratify=y, random_state=seed)
    model = RandomForestClassifier(n_trees, max_features=None, random_state=seed).fit(X_fit, y_fit)
    cost = permutation_importance(model, X_out, y_out, n_repeats=n_repeats, random_state=seed)
    return Findings(cost.importances_mean > 2 * cost.importances_std, cost.importances_mean)


def lasso(X: pd.DataFrame, y: Labels, seed: int) -> Findings:
    """Weights of a logistic regression with an L1 penalty."""
    model = LogisticRegressionCV(l1_ratios=(1,), solver="liblinear", scoring="neg_log_loss", random_state=seed)
    weights = np.abs(model.fit(StandardScaler().fit_transform(X), y).coef_[0])
    return Findings(weights > 0, weights)


def boruta(X: pd.DataFrame, y: Labels, seed: int, n_trees: int, n_rounds: int) -> Findings:
    """Features that are more important than permuted ones more often than by chance, with their mean importance."""
    try:
        from boruta import BorutaPy
    except ImportError:
        raise ImportError("Boruta is not installed: pip install shap boruta") from None
    trees = ExtraTreesClassifier(max_features=None)
    model = BorutaPy(trees, n_estimators=n_trees, max_iter=n_rounds, random_state=seed)
    model.fit(X.to_numpy(), y)
    return Findings(model.support_, np.nanmean(model.importance_history_[1:], axis=0))


METHODS: dict[str, Callable[..., Findings]] = {
    "verdicts": by_verdicts,
    "intervals": intervals,
    "SHAP, boosting": shap_of_boosting,
    "SHAP, trees": shap_of_trees,
    "permutation": permutation,
    "lasso": lasso,
    "Boruta": boruta,
}
