"""In which direction features move a measured target, said only where refitting supports the feature and its sign."""

from __future__ import annotations

import numpy as np
from sklearn.dummy import DummyRegressor

from whynear.explain.linear_parts import LinearParts
from whynear.study.comparison import Comparison
from whynear.utils.text import printable
from whynear.verdict import Verdicts
from whynear.verdict.rules import INDISPENSABLE

MOST_NAMED = 5  # features
FEWEST_FOLDS = 3
STANDARD_ERRORS = 2.0  # by which a coefficient must differ from zero


def sign_sentence(target: str, comparison: Comparison, verdicts: Verdicts) -> str | None:
    """Return which indispensable features raise and lower the target; None where no sign is sure.

    The coefficients are the means over the models of the folds. A sign is sure if the mean differs from zero by two of
    its standard errors (the jackknife over the folds).
    """
    slopes = _slopes(comparison)
    if slopes is None:
        return None
    names, values = slopes
    mean, n_folds = values.mean(axis=0), len(values)
    error = np.sqrt((n_folds - 1) / n_folds * np.square(values - mean).sum(axis=0))
    sure = {name: m for name, m, e in zip(names, mean, error, strict=True) if abs(m) > STANDARD_ERRORS * e}
    shown = [(name, float(sure[name])) for name in verdicts.named(INDISPENSABLE) if name in sure][:MOST_NAMED]
    if not shown:
        return None
    parts = [f"higher “{printable(name)}” with {_side(slope)} ({slope:+.3g} per unit)" for name, slope in shown]
    first, slope = shown[0]
    parts[0] = f"higher “{printable(first)}” goes with {_side(slope)} “{printable(target)}” ({slope:+.3g} per unit)"
    joined = parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
    return f"With the other features equal, {joined}."


def _slopes(comparison: Comparison) -> tuple[tuple[str, ...], np.ndarray] | None:
    """Return the features, and their coefficients in the model of each fold, NaN for categories."""
    fitted = comparison.fitted
    if len(fitted) < FEWEST_FOLDS or any(isinstance(one.learner, DummyRegressor) for one in fitted):
        return None
    parts = [LinearParts(one) for one in fitted]
    return parts[0].features, np.array([one.coefficients for one in parts])


def _side(slope: float) -> str:
    return "higher" if slope > 0 else "lower"
