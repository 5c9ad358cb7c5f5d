"""The choice of the preprocessing of spectra, from the training rows of a model alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.pipeline import make_pipeline

from whynear.data.problem import kind_of_target
from whynear.data.rows import Separation, n_different
from whynear.data.spectra import NONE, SpectralAxis, SpectralTransformer, recipe_name, recipes
from whynear.utils.arrays import Array
from whynear.verdict import kernel_ridge
from whynear.verdict.table import Answers, Target, best_of, chosen_rows, target_of

MOST_ROWS = 500  # from which the choice is made
NEGLIGIBLE = 0.05  # relative difference of losses


@dataclass(frozen=True, eq=False)
class PreprocessingChoice:
    """How well spectra predict after each preprocessing, and which one was chosen.

    Attributes
    ----------
    chosen : str
        The simplest whose loss on held-out rows exceeds the least by at most a standard error of the difference, or by
        at most 5%.
    scores : Series
        By preprocessing, the simplest first: the share of held-out rows predicted right by ridge regression on the
        classes, or the share of variance explained.
    """

    chosen: str
    scores: pd.Series

    def frame(self) -> pd.DataFrame:
        """Return one row for each preprocessing, with its score."""
        return self.scores.rename_axis("preprocessing").rename("score").reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return both as plain values."""
        return {"chosen": self.chosen, "scores": {str(name): float(score) for name, score in self.scores.items()}}


class Preprocessing:
    """Chooses the preprocessing of spectra for sets of training rows; remembers it for each set.

    Parameters
    ----------
    axis : SpectralAxis
        The channels.
    seed : int
        Of the sample, where there are many rows.
    """

    def __init__(self, axis: SpectralAxis, seed: int) -> None:
        self.axis, self.seed = axis, seed
        self._steps = {recipe_name(steps): steps for steps in recipes(axis.columns)}
        self._known: dict[bytes, PreprocessingChoice] = {}

    def fitted(
        self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None
    ) -> tuple[list[tuple[str, SpectralTransformer]], pd.DataFrame]:
        """Return the fitted steps chosen for these rows, each with its name, and the rows after them."""
        steps = self._steps[self.choice(X, y, groups).chosen]
        if not steps:
            return [], X
        pipeline = make_pipeline(*map(clone, steps))
        return pipeline.steps, pipeline.fit_transform(X)

    def choice(self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None = None) -> PreprocessingChoice:
        """Return the choice for these rows.

        Ridge regression predicts each row, or the rows of each group, from all others, in closed form.
        """
        key = hashlib.blake2b(X.to_numpy().tobytes()).digest()
        if key not in self._known:
            self._known[key] = self._choose(X, y, groups)
        return self._known[key]

    def _choose(self, X: pd.DataFrame, y: NDArray[Any], groups: Separation | None) -> PreprocessingChoice:
        if len(np.unique(y)) < 2:
            return PreprocessingChoice(NONE, pd.Series(dtype=float))
        kind = DummyRegressor() if kind_of_target(y) == "numbers" else DummyClassifier()
        apart = groups.to_numpy() if isinstance(groups, pd.Series) else groups
        known = None if apart is None or n_different(apart) < 2 else apart
        target = target_of(kind, y, known)
        some = chosen_rows(len(y), MOST_ROWS, target.strata, np.random.default_rng(self.seed))
        rows, target = X.iloc[some], target.rows(some)
        answers = {
            name: _answers((make_pipeline(*map(clone, steps)).fit_transform(rows) if steps else rows), target)
            for name, steps in self._steps.items()
        }
        best = best_of(answers.values())
        near = [name for name, one in answers.items() if _is_near(one, best, target)]
        return PreprocessingChoice(near[0], pd.Series({name: float(one.score.mean()) for name, one in answers.items()}))


def _is_near(found: Answers, best: Answers, target: Target) -> bool:
    excess, error = target.mean_and_error(found.loss - best.loss)
    return excess <= max(error, NEGLIGIBLE * float(best.loss.mean())) + 1e-12


def _answers(X: pd.DataFrame, target: Target) -> Answers:
    """Return what ridge regression with the best penalty says about rows that it was not fitted to."""
    values = _standardised(X.to_numpy(dtype=np.float64))
    K = kernel_ridge.kernel("linear", values @ values.T, values.shape[1])
    return target.answers(kernel_ridge.tuned(K, target.Y, target.groups, target.forward).predicted)


def _standardised(values: Array) -> Array:
    centred = values - values.mean(axis=0)
    deviations = centred.std(axis=0)
    varies = deviations > 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    return np.asarray(np.where(varies, centred / np.where(varies, deviations, 1.0), 0.0))
