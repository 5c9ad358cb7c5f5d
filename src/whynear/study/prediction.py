"""Predictions and explanations of a fitted model for the rows of a table; errors name the column and the row."""

from __future__ import annotations

import warnings
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any, get_args

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from whynear.data.opening import Table, open_for
from whynear.data.rows import named_rows, place_of
from whynear.explain import Explanation, ValueExplanation
from whynear.explain.why import explain_each, explainable
from whynear.metric import Metric
from whynear.model.files import load
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualKind, UnusualValue, kinds_known, unusual_values
from whynear.reject.option import RejectOption
from whynear.study.methods import column_of_names
from whynear.study.rejection import option_of
from whynear.utils.arrays import Array
from whynear.utils.columns import check_finite, check_magnitudes, first_non_number, names_of_rows
from whynear.utils.files import StrPath
from whynear.utils.text import counted, listed

MOST_UNUSUAL = 5  # values that a cell names
MOST_WHOLE = 10**308  # of whole numbers, which may have any number of digits


def predict_table(
    model: BaseEstimator | StrPath,
    table: Table,
    *,
    index: str | None = None,
    encoding: str = "auto",
    accuracy: float | None = None,
    confidence: float = 0.9,
) -> pd.DataFrame:
    """Predict every row of a table with a fitted model.

    Parameters
    ----------
    model : fitted estimator or path
        A learner, a Pipeline that ends in one, or the file that `save` or a study wrote.
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set. Columns are found by name, in any order;
        other columns are ignored.
    index : str, optional
        The column with the names of the rows. Without it, the column that named the rows of the training table, if the
        table has it; otherwise the index of a DataFrame. Rows of a file, and of a DataFrame with the default index, are
        numbered from 1.
    encoding : str, default="auto"
        Encoding of a text file; ``"auto"`` finds it.
    accuracy : float, optional
        Accept only so many rows that at least this share of them is predicted right, and reject the others. The model
        must be that of a study of classes, or a `RejectOption`.
    confidence : float, default=0.9
        The confidence of that promise.

    Returns
    -------
    DataFrame
        For each row its name (``row``), its prediction (``predicted``) and, for classes, the ``probability`` of the
        predicted class. For a numeric target, ``low`` and ``high``: of the values measured in held-out rows 90% lay in
        such an interval around their predictions; without them if the model was not made by `study` or `learn_table`,
        or from fewer than 19 rows. Three columns say on which unusual values the prediction rests, empty where there
        are none: ``filled_in`` (missing values, and what was taken instead), ``out_of_range`` (numbers, with their
        training range) and ``unseen_category``. A column is left out if it does not concern the model: for example
        ``out_of_range`` for a model of an older file, which has no ranges. With an accuracy, ``accepted`` says whether
        the prediction is accepted, ``certainty`` is the probability that it is right, and ``reason`` why it is
        rejected: "ambiguous" between classes, an "outlier", far from all training rows, or "no promise".
        ``attrs["source"]`` is the name of the table, ``attrs["index"]`` the column of the names, ``attrs["promise"]``
        what is promised.

    Raises
    ------
    ValueError
        If a column is missing or holds values that the model cannot use; the message names the column and the row.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> learner = wn.GRLVQ(random_state=0).fit(iris.X, iris.y)
    >>> wn.predict_table(learner, iris.X.iloc[[0, 60]])[["row", "predicted"]]
      row  predicted
    0   0          0
    1  60          1
    """
    predictor, option = with_option(predictor_from(model), accuracy, confidence)
    frame, source, index = _named_table(predictor, table, index, encoding)
    check_any_rows(len(frame), source)
    found = predicted_rows(predictor, frame, source, index, option)
    found.attrs |= {"source": source, "index": index}
    if option is not None:
        found.attrs["promise"] = option.promise.sentence
    return found


def headed_by(found: pd.DataFrame, index: str | None) -> pd.DataFrame:
    """Return predictions whose column of row names is called as in the table, unless another column is called so."""
    return found if index is None or index in found else found.rename(columns={"row": index})


def check_any_rows(n_rows: int, source: str) -> None:
    """Refuse a table without rows."""
    if not n_rows:
        raise ValueError(f"{source} has no rows to predict. Give a table with at least one row.")


def with_option(model: Any, accuracy: float | None, confidence: float) -> tuple[Any, RejectOption | None]:
    """Return the model to predict with, and its reject option: with an accuracy, or if the model is one."""
    if accuracy is None and not isinstance(model, RejectOption):
        return model, None
    option = model if accuracy is None else option_of(model, accuracy, confidence)
    return option.learner_, option


def predicted_rows(
    predictor: Any, frame: pd.DataFrame, source: str, index: str | None, option: RejectOption | None = None
) -> pd.DataFrame:
    """Return the predictions for a table whose index holds the names of its rows; see `predict_table`."""
    cases = cases_for(predictor, frame, source, index)
    fitted = FittedPipeline.of(predictor)
    X = cases if fitted.named else cases.to_numpy()
    with faults_by_name(predictor, cases, source):
        predicted = np.asarray(predictor.predict(X))
        columns = {"row": pd.Series(names_of_rows(frame), dtype=object), "predicted": predicted}
        if hasattr(predictor, "predict_proba"):
            places = pd.Index(predictor.classes_).get_indexer(predicted)
            columns["probability"] = predictor.predict_proba(X)[np.arange(len(X)), places]
        if option is not None:
            decided = option.decide(X)
            columns |= {"accepted": decided.accepted, "certainty": decided.certainty, "reason": decided.reason}
        errors = getattr(fitted.learner, "error_interval_", None)
        if errors is not None:
            columns |= {"low": predicted + errors[0], "high": predicted + errors[1]}
        columns |= _unusual_columns(fitted, cases)
    return pd.DataFrame(columns)


def _unusual_columns(model: FittedPipeline, cases: pd.DataFrame) -> dict[str, list[str]]:
    """Return a column of text for each kind of unusual value that a model knows of."""
    kinds = kinds_known(model)
    if not kinds:
        return {}
    table = model.table(cases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of new categories, which the prediction has given
        found = unusual_values(model, table, model.seen(table))
    return {
        kind: [_in_one_cell([value for value in row if value.kind == kind]) if row else "" for row in found]
        for kind in kinds
    }


def unusual_rows(predicted: pd.DataFrame) -> Counter[str]:
    """Return how many predictions rest on unusual values of each kind, are accepted, and both (``accepted_unusual``).

    >>> found = pd.DataFrame({"accepted": [True, True, False], "filled_in": ["", "a (3)", "a (3)"]})
    >>> dict(unusual_rows(found))
    {'filled_in': 2, 'accepted': 2, 'accepted_unusual': 1}
    """
    kinds = [kind for kind in get_args(UnusualKind) if kind in predicted]
    count = Counter({kind: int((predicted[kind] != "").sum()) for kind in kinds})
    if "accepted" in predicted:
        accepted = predicted[predicted["accepted"]]
        count["accepted"] = len(accepted)
        count["accepted_unusual"] = int((accepted[kinds] != "").any(axis=1).sum())
    return count


def _in_one_cell(values: list[UnusualValue]) -> str:
    more = [f"{len(values) - MOST_UNUSUAL} more"] if len(values) > MOST_UNUSUAL else []
    return "; ".join([*(value.short for value in values[:MOST_UNUSUAL]), *more])


def explain_row(
    model: BaseEstimator | StrPath, table: Table, row: object = 1, *, index: str | None = None, encoding: str = "auto"
) -> Explanation | ValueExplanation:
    """Explain the prediction of a fitted model for one row of a table.

    Parameters
    ----------
    model : fitted classifier, MinimumNormRegressor or path
        A learner, a Pipeline that ends in one, or the file that `save` or a study wrote.
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set; see `predict_table`.
    row : int or str, default=1
        The name of the row, as `predict_table` gives it.
    index : str, optional
        The column with the names of the rows; see `predict_table`.
    encoding : str, default="auto"
        Encoding of a text file; ``"auto"`` finds it.

    Returns
    -------
    Explanation or ValueExplanation
        The latter for a measured target; see `explain`.

    Examples
    --------
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> learner = wn.GRLVQ(random_state=0).fit(iris.X, iris.y)
    >>> wn.explain_row(learner, iris.X, row=60).prediction
    1
    """
    predictor = predictor_from(model)
    fitted = explainable(predictor)
    frame, source, index = _named_table(predictor, table, index, encoding)
    place = place_of(row, frame, source)
    source = f"{source}, row {row},"
    # A table of one row, because a Series would give whole numbers and text the same type.
    cases = cases_for(predictor, frame.iloc[[place]], source, index)
    with faults_by_name(predictor, cases, source):
        return next(explain_each(fitted, fitted.table(cases, "x")))


def _named_table(model: Any, table: Table, index: str | None, encoding: str) -> tuple[pd.DataFrame, str, str | None]:
    """Return a table with the names of its rows as index, its own name, and the column that holds the names, if any."""
    opened = open_for(FittedPipeline.of(model).given, table, encoding)
    if index is None:
        known = column_of_names(model)
        index = known if known in opened.frame.columns else None
    return named_rows(opened.frame, index, opened.source), opened.source, index


def predictor_from(model: BaseEstimator | StrPath) -> Any:
    """Return a fitted model, or the one in a file; an error if it cannot predict."""
    is_path = isinstance(model, str | PathLike)
    name, found = (str(model), load(model)) if is_path else ("model", model)
    if isinstance(found, Metric) or not hasattr(found, "predict"):
        held = "only a metric" if isinstance(found, Metric) else f"a {type(found).__name__} without a learner"
        raise TypeError(
            f"{name} holds {held}, which cannot predict. Save the learner instead: whynear learn, or "
            "whynear.save(learner, path)."
        )
    try:
        check_is_fitted(found)
    except NotFittedError:
        raise ValueError(f"{name} holds a model that is not fitted. Fit it, then save it again.") from None
    return found


def cases_for(model: Any, frame: pd.DataFrame, source: str, index: str | None = None) -> pd.DataFrame:
    """Return the columns that a model takes: by name, or by position if it was fitted without names.

    By name, other columns are ignored. By position, the table must have exactly these columns, beside ``index``.
    """
    fitted, has = FittedPipeline.of(model), f"Its columns are {listed(list(frame.columns), most=8)}."
    names = list(fitted.columns)
    if not fitted.named:
        frame = frame if index is None else frame.drop(columns=index, errors="ignore")  # it may be the index
        if frame.shape[1] != len(names):
            raise ValueError(
                f"{source} has {counted(frame.shape[1], 'column')}, and the model takes {len(names)} by position, "
                f"because it was fitted without names. Keep the columns it was fitted to, in their order. {has}"
            )
        return frame
    if missing := [name for name in names if name not in frame.columns]:
        them = "it" if len(missing) == 1 else "them"
        raise ValueError(
            f"{source} lacks {listed(missing)}, which the model was fitted to. Add {them}, or rename the columns that "
            f"hold {them}. {has}"
        )
    return fitted.read(frame[names])


@contextmanager
def faults_by_name(model: Any, cases: pd.DataFrame, source: str) -> Iterator[None]:
    """Raise errors that name the column and the row of a value which the model cannot use.

    The model itself cannot name them behind a scaler, and would take dates as numbers. A model that starts with an
    encoder takes text, and fills in missing values where it was fitted to.
    """
    fitted = FittedPipeline.of(model)
    # By place: a model that was fitted without names has names of its own for the columns.
    is_text, is_filled = (np.isin(fitted.columns, names) for names in (fitted.text_columns, fitted.filled_columns))
    _check_gaps(cases.loc[:, is_text & ~is_filled].isna(), source)
    cases = cases.loc[:, ~is_text]
    names, values = list(cases.columns), _numbers(cases, source, fitted)
    _check_gaps(pd.DataFrame(np.isnan(values), cases.index, names).loc[:, ~is_filled[~is_text]], source)
    filled = np.isnan(values) & is_filled[~is_text]
    check_finite(np.where(filled, 0.0, values), names, source)
    try:
        yield
    except ValueError:
        known = np.where(np.isnan(values), 0.0, values)
        check_magnitudes(known, names, source)  # not before: a scaler may make large values small enough to be squared
        raise


def _check_gaps(is_missing: pd.DataFrame, source: str) -> None:
    """Refuse values that are missing in columns where the model fills in nothing."""
    for place, name in enumerate(is_missing.columns):
        rows = is_missing.index[is_missing.iloc[:, place]]
        if len(rows):
            others = f" and {counted(len(rows) - 1, 'other row')}" if len(rows) > 1 else ""
            where = f", row {rows[0]}{others}" if len(is_missing) > 1 else ""
            raise ValueError(
                f"{source} lacks a value in column {name!r}{where}, and the model does not fill in missing values "
                f"there, because it was fitted to none. Fill {'them' if others else 'it'} in, or leave out the "
                f"{'rows' if others else 'row'}."
            )


def _numbers(cases: pd.DataFrame, source: str, fitted: FittedPipeline) -> Array:
    for name in cases.columns[[not pd.api.types.is_numeric_dtype(kind) for kind in cases.dtypes]]:
        if (found := first_non_number(cases[name])) is not None:
            row, value = found
            if is_date := name in fitted.date_columns:
                row = _first_not_a_date(cases[[name]], fitted)
                value = cases[name].iloc[row]
            where = f", row {cases.index[row]}" if len(cases) > 1 else ""
            taken = "dates such as 2022-03-04" if is_date else "numbers"
            raise ValueError(
                f"{source} holds {str(value)[:40]!r} in column {name!r}{where}, and the model takes {taken} there. "
                "Correct the value, or leave out the row."
            )
    try:
        return cases.to_numpy(dtype=np.float64, na_value=np.nan)
    except OverflowError:
        values = ((name, row, value) for name in cases for row, value in cases[name].items())
        column, place, _ = next(one for one in values if isinstance(one[2], int) and abs(one[2]) > MOST_WHOLE)
        where = f", row {place}" if len(cases) > 1 else ""
        raise ValueError(
            f"{source} holds a whole number above 1e308 in column {column!r}{where}, and the model takes smaller ones. "
            "Correct the value, or leave out the row."
        ) from None


def _first_not_a_date(column: pd.DataFrame, fitted: FittedPipeline) -> int:
    """Return the first row of a column that the model cannot read; one such value leaves the whole column unread."""

    def is_unread(row: int) -> bool:
        return not pd.api.types.is_numeric_dtype(fitted.read(column.iloc[: row + 1]).dtypes.iloc[0])

    return bisect_left(range(len(column)), True, key=is_unread)
