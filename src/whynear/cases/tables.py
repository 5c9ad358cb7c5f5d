"""Tables as cases and as queries, and numbers outside of the range of the cases."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.cases.case_base import CaseBase
from whynear.cases.inputs import RowEncoding, case_metric, case_table, encoder_of
from whynear.cases.retrieval import Rerank
from whynear.data.column_reading import ColumnReader
from whynear.data.encoder import TableEncoder
from whynear.data.opening import Table, open_for
from whynear.data.options import Reading
from whynear.data.reading import ModelColumns
from whynear.data.rows import named_rows, place_of
from whynear.metric import Metric
from whynear.model.unusual import UnusualValue
from whynear.utils.arrays import Array, plain_values
from whynear.utils.files import StrPath
from whynear.utils.text import counted, listed

ROUNDING = 1e-6  # of the 32-bit numbers of a case base
MOST_COMPARED = 100_000  # cases, all of which are read


def numbers_out_of_range(base: CaseBase, case: Array | pd.DataFrame | Mapping[str, Any]) -> list[UnusualValue]:
    """Return the numbers of a case that lie outside the range of the stored ones; none for a base of many cases.

    >>> from whynear import DiagonalMetric
    >>> with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], ["width", "height"])) as base:
    ...     ids = base.add([[0, 0], [1, 1], [3, 0]])
    ...     [(value.column, value.range) for value in numbers_out_of_range(base, {"width": 7, "height": 1})]
    [('width', '0 to 3')]
    """
    if not 0 < len(base) <= MOST_COMPARED:
        return []
    if isinstance(case, np.ndarray):
        case = dict(zip(base.columns, case.tolist(), strict=True))
    named = (case.iloc[0] if isinstance(case, pd.DataFrame) else case).items()
    given = {str(name): number for name, value in named if np.isfinite(number := _as_number(value))}
    found = []
    for name, (low, high) in _ranges(base, list(given)).items():
        slack = ROUNDING * max(abs(low), abs(high))
        if not low - slack <= given[name] <= high + slack:
            found.append(UnusualValue(name, "out_of_range", given[name], low=low, high=high))
    return found


def _ranges(base: CaseBase, names: list[str]) -> dict[str, tuple[float, float]]:
    """Return the smallest and the largest stored number of each of these columns that is stored as numbers."""
    ends: dict[str, tuple[float, float]] = {}
    for block in base.blocks():
        for name in block.X.columns.intersection(names):
            low, high = ends.get(name, (np.inf, -np.inf))
            ends[name] = min(low, float(block.X[name].min())), max(high, float(block.X[name].max()))
    return ends


def _as_number(value: Any) -> float:
    """Return a value as a number; NaN if it is none."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return np.nan


def add_table(
    path: StrPath,
    table: Table,
    metric: Metric | BaseEstimator | None = None,
    *,
    payload: Sequence[str] | None = None,
    index: str | None = None,
    encoding: str = "auto",
) -> int:
    """Add the rows of a table to the case base at a path, which is made if it does not exist; return their number.

    Columns that are no features are stored as the payload of each case, or only those in ``payload``. The names of the
    rows are stored too. A warning counts the rows with missing values that the encoder of the base fills in. After
    an error a new base is deleted.

    Parameters
    ----------
    path : path
        The file of the case base.
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel) or the name of a data set.
    metric : metric, fitted learner or Pipeline, optional
        The new metric of the base; a new base needs one. See `CaseBase`.
    payload : list of str, optional
        Columns to store with each case.
    index : str, optional
        The column with the names of the rows. Without it they have their numbers, from 1, or the labels of the index of
        a DataFrame.
    encoding : str, default="auto"
        Encoding of a text file; ``"auto"`` finds it.
    """
    path = Path(path)
    is_new = not path.exists()
    if is_new and metric is None:
        raise ValueError(f"{path} does not exist, and a new case base needs a metric: --metric MODEL.")
    try:
        with CaseBase(path, metric) as base:
            columns = ModelColumns.behind(base.encoder, base.columns)
            opened = open_for(columns, table, encoding)
            frame, source = named_rows(opened.frame, index, opened.source), opened.source
            X = _features(frame, base.columns, source)
            ids = base.add(X, _payloads(frame, base.columns, payload, source), what=source)
            for note in () if base.encoder is None else _notes_on_reading(X, columns, base.encoder, source):
                warnings.warn(f"{source}: {note}", stacklevel=2)
            return len(ids)
    except BaseException:
        if is_new:
            for rest in ("", "-wal", "-shm", "-index", "-writer"):
                path.with_name(f"{path.name}{rest}").unlink(missing_ok=True)
        raise


def row_of(
    table: Table,
    row: object,
    columns: Sequence[str],
    encoder: TableEncoder | None = None,
    *,
    index: str | None = None,
    encoding: str = "auto",
) -> Array | pd.DataFrame:
    """Return the columns of a case base in the row of a table with this name; see `add_table`.

    They are numbers; with the encoder of the base, a table of one row that it takes.
    """
    opened = open_for(ModelColumns.behind(encoder, columns), table, encoding)
    frame = named_rows(opened.frame, index, opened.source)
    place = place_of(row, frame, opened.source)
    source = f"{opened.source}, row {row},"
    found = _features(frame.iloc[[place]], columns, source)
    return case_table(found, columns, source)[0] if encoder is None else found


def rerank_by(model: Any, encoder: TableEncoder | None = None) -> Rerank:
    """Return a function for ``rerank`` of `CaseBase.retrieve` that ranks by the distance under another metric.

    With the encoder of the base, a model that encodes one of the columns in another way is refused.
    """
    if encoder is not None:
        RowEncoding(encoder).check(encoder_of(model), part=True)
    metric = case_metric(model)

    def rerank(query: pd.Series, cases: pd.DataFrame, _payloads: list[dict[str, Any]]) -> Array:
        names = list(metric.feature_names)
        known = set(names) <= set(cases.columns)
        rows, wanted = (cases[names], query[names]) if known else (cases, query)
        return -metric.sq_distances(wanted.to_numpy()[None], rows)[0]

    return rerank


def _notes_on_reading(X: pd.DataFrame, columns: ModelColumns, encoder: TableEncoder, source: str) -> Iterator[str]:
    """Yield how numbers written as text were read, and how many rows have missing values that were filled in."""
    for decimal, names in columns.written.items():
        reader = ColumnReader(source, Reading(), decimal)
        for name in names:
            reader.read(X[name])
        yield from reader.notes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # given when the rows were added
        filled = int(encoder.read(X)[list(encoder.filled_columns)].isna().any(axis=1).sum())
    if filled:
        yield f"{counted(filled, 'row has', 'rows have')} missing values that were filled in."


def _features(frame: pd.DataFrame, columns: Sequence[str], source: str) -> pd.DataFrame:
    """Return the columns of a case base."""
    if missing := [name for name in columns if name not in frame.columns]:
        encoded = dict.fromkeys(name.partition("=")[0] for name in missing if "=" in name)
        if made_of := [name for name in encoded if name in frame.columns]:
            raise ValueError(
                f"{source}: the metric was learned with the categories of {listed(made_of)}, and the case base has no "
                "encoder for them. Make it with the whole model, not with the metric alone. Or: Learn the metric "
                f"without {'it' if len(made_of) == 1 else 'them'} "
                f"({' '.join(f'--drop {name!r}' for name in made_of[:5])}), or add encoded rows in Python."
            )
        raise ValueError(
            f"{source} lacks {listed(missing)} of the case base. Its columns are {listed(list(frame.columns))}."
        )
    return frame[list(columns)]


def _payloads(
    frame: pd.DataFrame, columns: Sequence[str], chosen: Sequence[str] | None, source: str
) -> list[dict[str, Any]]:
    """Return the chosen columns of each row, or all that are no features, in types that JSON has."""
    names = [name for name in frame.columns if name not in set(columns)] if chosen is None else list(chosen)
    if missing := [name for name in names if name not in frame.columns]:
        raise ValueError(f"{source} has no column {missing[0]!r} for --payload.")
    fields = [[_plain_value(value) for value in frame[name].tolist()] for name in names]
    return [dict(zip(names, row, strict=True)) for row in zip(*fields, strict=True)] or [{} for _ in range(len(frame))]


def _plain_value(value: Any) -> Any:
    return None if value is pd.NA or value is pd.NaT else plain_values(value)
