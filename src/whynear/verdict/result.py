"""What refitting says about the features of a table."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.interpret import Relevance
from whynear.utils import html
from whynear.utils.arrays import Array, Indices
from whynear.utils.text import counted
from whynear.utils.values import ByValue
from whynear.verdict.decisions import WORDS
from whynear.verdict.stand_ins import StandIns
from whynear.verdict.sufficient import SufficientSets

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    Examples
    --------
    >>> import whynear as wn
    >>> data = wn.datasets.make_truth("sick", random_state=0)  # sick if weight / height**2 is large
    >>> found = wn.verdicts(wn.GMLVQ(random_state=0), data.X, data.y, random_state=0, n_resamples=4)
    >>> dict(zip(found.feature_names, found.verdict.tolist()))
    {'weight': 'indispensable', 'height': 'indispensable', 'age': 'no evidence'}
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
            "check": None if self.sets.check is None else asdict(self.sets.check),
            "better_model": None if self.sets.better_model is None else asdict(self.sets.better_model),
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
        return f"Verdicts({counted(len(self.feature_names), 'feature')}: {counts})"

    def _repr_html_(self) -> str:
        lost = [f"{loss:.1f} ± {error:.1f}" for loss, error in zip(self.loss, self.error, strict=True)]
        stable = [f"{share:.0%}" if self.n_resamples else "not resampled" for share in self.stability]
        rows = [(self.feature_names[j], self.verdict[j], lost[j], stable[j]) for j in self.order[: html.MOST_ROWS]]
        more = html.more_of(len(self.order), len(rows), "feature")
        return html.block(
            html.heading(repr(self)),
            f"{self.measure} {self.score:.1%} with all features; points lost without each, and the share of "
            f"{counted(self.n_resamples, 'resample')} with the same verdict.",
            html.table(["feature", "verdict", "points lost without it", "stability"], rows, more),
        )
