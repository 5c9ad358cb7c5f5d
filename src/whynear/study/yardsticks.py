"""How the learner of a study stands to models that measure no distances, on the same held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from whynear.data.rows import error_of_mean
from whynear.study.comparison import Comparison
from whynear.study.methods import BOOSTING, FOREST, LOGISTIC, RIDGE
from whynear.study.score import AS_SHARES, Measure, counting, direction, parts_of

IN_WORDS = {FOREST: "a forest", BOOSTING: "boosting", LOGISTIC: "logistic regression", RIDGE: "ridge"}


@dataclass(frozen=True)
class Standing:
    """The learner of a study beside the best yardstick, by the score of the study.

    Attributes
    ----------
    yardstick : str
        The yardstick of the best score.
    gain : float
        By how much the score of the study is better; negative where it is worse.
    error : float
        The standard error of the mean paired difference over held-out rows, or over their groups.
    measure : str
        The kind of score.
    """

    yardstick: str
    gain: float
    error: float
    measure: Measure

    @property
    def side(self) -> Literal["better", "as good", "worse"]:
        """Better or worse by more than one standard error, and by a difference that shows when it is rounded."""
        if not abs(self.gain) > self.error or not float(self._size):
            return "as good"
        return "better" if self.gain > 0 else "worse"

    @property
    def clause(self) -> str:
        """Where the learner stands, in words.

        >>> Standing("boosting", 0.002, 0.004, "r2").clause, Standing("random forest", -0.021, 0.004, "accuracy").clause
        ('as good as the best yardstick, boosting', '2.1 points below a forest')
        """
        name, shares = IN_WORDS[self.yardstick], self.measure in AS_SHARES
        by = f"{self._size} points" if shares else self._size
        match self.side:
            case "as good":
                return f"as good as the best yardstick, {name}"
            case "better":
                return f"better than the best yardstick, {name}, by {by}"
        return f"{by} below {name}" if shares else f"worse than {name} by {by}"

    @property
    def _size(self) -> str:
        return f"{100 * abs(self.gain):.1f}" if self.measure in AS_SHARES else f"{abs(self.gain):.3f}"


def standing_of(comparison: Comparison) -> Standing | None:
    """Return how the learner chosen without each row stands to the best yardstick; None where no score is known."""
    measure, sign = comparison.measure, direction(comparison.measure)
    scores = {name: sign * comparison.score_of(name).value for name in comparison.yardsticks}
    if not scores or not np.isfinite([*scores.values(), comparison.expected]).all():
        return None
    best = max(scores, key=lambda name: scores[name])
    true, weights = comparison.predictions["true"].to_numpy(), comparison.weights
    own, other = (
        parts_of(true, predicted.to_numpy(), measure, shares, weights)
        for predicted, shares in (
            (comparison.predictions["predicted"], comparison.probabilities),
            (comparison.by_method[best], comparison.probabilities_by_method.get(best)),
        )
    )
    groups = None if comparison.groups is None else comparison.groups.to_numpy()[counting(weights)]
    gains = sign * (own - other)
    return Standing(best, float(gains.mean()), float(error_of_mean(gains, groups)), measure)
