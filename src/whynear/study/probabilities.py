"""Probabilities of classes, aligned to all classes of a study."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from whynear.utils.arrays import Array


def aligned(probabilities: Array, known: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return a column for each class, zero for classes that the model does not know; each row sums to one.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_known)
        What a model returns; values outside [0, 1] are clipped.
    known : ndarray of shape (n_known,)
        The classes of the model.
    classes : ndarray of shape (n_classes,)
        All classes, sorted.

    Examples
    --------
    >>> aligned(np.array([[0.25, 0.75]]), np.array(["u", "w"]), np.array(["u", "v", "w"]))
    array([[0.25, 0.  , 0.75]])
    """
    found = np.zeros((len(probabilities), len(classes)))
    found[:, np.searchsorted(classes, known)] = np.clip(np.nan_to_num(probabilities), 0.0, 1.0)
    total = found.sum(axis=1, keepdims=True)
    return np.divide(found, total, out=np.full_like(found, 1.0 / len(classes)), where=total > 0)


def of_predictions(probabilities: Array, predicted: NDArray[Any], classes: NDArray[Any]) -> Array:
    """Return the probability of each prediction."""
    found: Array = probabilities[np.arange(len(predicted)), np.searchsorted(classes, predicted)]
    return found
