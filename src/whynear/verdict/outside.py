"""Models that measure no distances: a forest, boosting and logistic regression, each of bounded cost."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression

MOST_TREES, TREE_CELLS = 300, 3_000_000  # a forest has as many trees as it can split these cells with
FEWEST_TREES, FEWEST_TREES_OF_CLASSES = 25, 100
MOST_ROUNDS, FEWEST_ROUNDS, ROUND_COLUMNS = 100, 25, 200_000  # of boosting, each with a tree for each class
MOST_STEPS, FEWEST_STEPS, STEP_CELLS = 300, 30, 300_000_000  # of logistic regression, over cells and classes


def random_forest(measured: bool, n_trees: int | None = None, random_state: int = 0) -> BaseEstimator:
    """Return an unfitted forest, with the number of trees that scikit-learn has without it."""
    trees = {} if n_trees is None else {"n_estimators": n_trees}
    if measured:
        return RandomForestRegressor(**trees, min_samples_leaf=2, random_state=random_state)
    return RandomForestClassifier(**trees, random_state=random_state)


def trees_for(n_rows: int, n_columns: int, measured: bool) -> int:
    """Return as many trees as are affordable: one of numbers tries every column at a split, others the root of them.

    >>> trees_for(400, 10, measured=True), trees_for(4_000, 40, measured=True), trees_for(4_000, 40, measured=False)
    (300, 25, 118)
    """
    cells = n_rows * (n_columns if measured else n_columns**0.5)
    return int(np.clip(TREE_CELLS / cells, FEWEST_TREES if measured else FEWEST_TREES_OF_CLASSES, MOST_TREES))


def n_rounds(n_columns: int, n_classes: int) -> int:
    """Return as many rounds of boosting as are affordable; one has a tree for each of more than two classes.

    >>> n_rounds(30, 2), n_rounds(2_000, 2), n_rounds(800, 10)
    (100, 100, 25)
    """
    trees = n_classes if n_classes > 2 else 1
    return int(np.clip(ROUND_COLUMNS / (n_columns * trees), FEWEST_ROUNDS, MOST_ROUNDS))


def boosting(n_columns: int, n_classes: int, random_state: int = 0) -> BaseEstimator:
    """Return unfitted boosting, of a measured target without classes; fewer rounds learn faster."""
    rounds = n_rounds(n_columns, n_classes)
    kind = HistGradientBoostingClassifier if n_classes else HistGradientBoostingRegressor
    rate = min(0.3, 0.1 * MOST_ROUNDS / rounds)
    return kind(learning_rate=rate, max_iter=rounds, early_stopping=False, random_state=random_state)


def logistic_regression(n_rows: int, n_columns: int, n_classes: int) -> BaseEstimator:
    """Return unfitted logistic regression, for standardised columns."""
    cells = n_rows * n_columns * n_classes
    return LogisticRegression(max_iter=int(np.clip(STEP_CELLS / cells, FEWEST_STEPS, MOST_STEPS)))
