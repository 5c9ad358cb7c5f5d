"""The names of the rows that a model was fitted to, and their gaps, kept in its learner: the steps before drop them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from whynear.metric.steps import estimators_of
from whynear.utils.row_names import names_of_rows


def remember_rows(model: Any, X: pd.DataFrame) -> Any:
    """Return a model fitted to these rows, whose learner knows their names and the column that the names come from.

    If it keeps the rows, it also knows which values they lack: for each, the places of the row and of the column.
    """
    learner = estimators_of(model)[-1]
    if hasattr(learner, "case_places_"):
        X = X.iloc[learner.case_places_]
    if hasattr(learner, "row_names_"):
        learner.row_names_ = names_of_rows(X)
        learner.row_gaps_ = np.argwhere(X.isna().to_numpy())
    if hasattr(learner, "metric_"):
        learner.row_column_ = None if X.index.name is None else str(X.index.name)
    return model


def column_of_names(model: Any) -> str | None:
    """Return the column that held the names of the rows a model was fitted to; None if there was none."""
    return getattr(estimators_of(model)[-1], "row_column_", None)
