"""Predictions with the right to reject cases, as one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.utils.arrays import Array
from whynear.utils.values import ByValue

AMBIGUOUS, OUTLIER, UNPROMISED = "ambiguous", "outlier", "no promise"


@dataclass(frozen=True, eq=False)
class Decisions(ByValue):
    """What is predicted for each case, whether that is accepted, and why not.

    Attributes
    ----------
    predicted : ndarray of shape (n,)
        The predicted classes, of rejected cases too.
    accepted : ndarray of shape (n,)
        Whether the prediction is accepted.
    certainty : ndarray of shape (n,)
        The probability that the prediction is right.
    reason : ndarray of shape (n,)
        Why a case is rejected: "ambiguous" between classes, an "outlier", far from all cases, or "no promise" where
        nothing can be promised and all cases are rejected; empty if accepted.

    Examples
    --------
    >>> parts = np.array(["a", "b"]), np.array([True, False]), np.array([0.9, 0.6]), np.array(["", "outlier"])
    >>> decisions = Decisions(*parts)  # ``RejectOption.decide`` returns such a value
    >>> decisions.frame().loc[1].to_dict()
    {'predicted': 'b', 'accepted': False, 'certainty': 0.6, 'reason': 'outlier'}
    >>> print(decisions.masked())
    ['a' --]
    """

    predicted: NDArray[Any]
    accepted: NDArray[np.bool_]
    certainty: Array
    reason: NDArray[np.str_]

    def masked(self) -> np.ma.MaskedArray[Any, Any]:
        """Return the predicted classes with rejected cases masked."""
        return np.ma.MaskedArray(self.predicted, mask=~self.accepted)

    def frame(self) -> pd.DataFrame:
        """Return one row for each case."""
        return pd.DataFrame(
            {
                "predicted": self.predicted,
                "accepted": self.accepted,
                "certainty": self.certainty,
                "reason": self.reason,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return one list for each column of `frame`."""
        return {str(name): column.tolist() for name, column in self.frame().items()}


def reasons_for(accepted: NDArray[np.bool_], outlier: NDArray[np.bool_], *, promised: bool = True) -> NDArray[np.str_]:
    """Return why each case is rejected; empty for accepted ones.

    >>> reasons_for(np.array([True, False, False]), np.array([True, True, False])).tolist()
    ['', 'outlier', 'ambiguous']
    """
    return np.where(accepted, "", np.where(outlier, OUTLIER, AMBIGUOUS if promised else UNPROMISED))
