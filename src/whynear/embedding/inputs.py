"""Checks of an embedding and the classes of its points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, column_or_1d

from whynear.utils.arrays import Array
from whynear.utils.text import counted


def embedded_classes(embedding: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[Any], NDArray[np.intp]]:
    """Return the positions, the classes, and for each position the number of its class."""
    points: Array = check_array(embedding, dtype=np.float64, input_name="embedding")
    labels = column_or_1d(y)
    if len(labels) != len(points):
        raise ValueError(f"y must hold one class for each of the {len(points)} points, got {len(labels)} instead.")
    if missing := int(np.count_nonzero(pd.isna(labels))):
        raise ValueError(f"y lacks the class of {counted(missing, 'point. Leave it out', 'points. Leave them out')}.")
    classes, codes = np.unique(labels, return_inverse=True)
    return points, classes, codes
