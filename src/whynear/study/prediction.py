"""Saved models that predict, and the cases of a table as such a model takes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.utils.validation import check_is_fitted

from whynear.metric import Metric, load
from whynear.metric.pipeline import encoder_and_rest, estimators_of
from whynear.utils.arrays import Array
from whynear.utils.columns import check_finite, check_magnitudes
from whynear.utils.text import listed


def predictor_from(path: Path) -> Any:
    """The fitted model in a file, refused where it cannot predict."""
    model = load(path)
    if isinstance(model, Metric) or not hasattr(model, "predict"):
        held = "a metric alone" if isinstance(model, Metric) else f"a {type(model).__name__} without a learner"
        raise TypeError(
            f"{path} holds {held}, which predicts nothing. Save the learner itself: whynear learn, or "
            "whynear.save(learner, path)."
        )
    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ValueError(f"{path} holds a model that was never fitted. Fit it, then save it again.") from None
    return model


def takes_names(model: Any) -> bool:
    """Whether a model knows the names of its columns."""
    return hasattr(estimators_of(model)[0], "feature_names_in_")


def cases_for(model: Any, frame: pd.DataFrame, source: str, index: str | None = None) -> pd.DataFrame:
    """The columns a model takes: by name in any order, or by place where it knows no names.

    What else the table holds does not matter to names; places must fit but for the column that names the rows.
    """
    first, has = estimators_of(model)[0], f"Its columns are {listed(list(frame.columns), most=8)}."
    if not takes_names(model):
        frame = frame if index is None else frame.drop(columns=index)
        if frame.shape[1] != first.n_features_in_:
            raise ValueError(
                f"{source} has {frame.shape[1]} columns, and the model takes {first.n_features_in_} by place, having "
                f"learned no names. Keep the columns it was learned from, in their order. {has}"
            )
        return frame
    names = list(first.feature_names_in_)
    if missing := [name for name in names if name not in frame.columns]:
        them = "it" if len(missing) == 1 else "them"
        raise ValueError(
            f"{source} lacks {listed(missing)}, which the model was learned from. Add {them}, or rename what holds "
            f"{them}. {has}"
        )
    return frame[names]


@contextmanager
def faults_by_name(model: Any, cases: pd.DataFrame, source: str) -> Iterator[None]:
    """Refuse by column and row what a model cannot take: behind a scaler it knows neither, and dates pass for numbers.

    A model that starts with an encoder takes text, and fills in what is missing where it learned to.
    """
    encoder, _ = encoder_and_rest(model)
    if encoder is not None:
        _check_gaps(cases[list(encoder.categories_)], source, list(encoder.fill_values_))
        cases = cases.drop(columns=list(encoder.categories_))
    names, values = list(cases.columns), _numbers(cases, source)
    filled = encoder.fill_values_ if encoder is not None else {}
    imputed = any(isinstance(step, SimpleImputer) for step in estimators_of(model))
    mended = np.isnan(values) & np.array([imputed or name in filled for name in names], dtype=bool)
    check_finite(np.where(mended, 0.0, values), names, source)
    try:
        yield
    except ValueError:
        known = np.where(np.isnan(values), 0.0, values)
        check_magnitudes(known, names, source)  # not before: a scaler may bring them to a size that can be squared
        raise


def _check_gaps(cases: pd.DataFrame, source: str, filled: list[str]) -> None:
    for name in cases.columns.difference(filled, sort=False):
        if (missing := np.flatnonzero(cases[name].isna())).size:
            raise ValueError(
                f"{source} lacks a value in column {name!r}, row {missing[0] + 1}, and the model fills in none. "
                "Fill it in, or leave out the row."
            )


def _numbers(cases: pd.DataFrame, source: str) -> Array:
    for name in cases.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in cases.dtypes]]:
        for row, value in enumerate(cases[name], 1):
            if not _is_number(value):
                where = f", row {row}" if len(cases) > 1 else ""
                raise ValueError(
                    f"{source} holds {str(value)[:40]!r} in column {name!r}{where}, and the model takes numbers there. "
                    "Correct the value, or leave out the row."
                )
    return cases.to_numpy(dtype=np.float64, na_value=np.nan)


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None or value is pd.NA
    return True
