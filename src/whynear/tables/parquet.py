"""Tables in Parquet files, read in batches of rows."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.tables.header import distinct_names

BATCH_ROWS = 1 << 16


def read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the table and notes on changed names. Beside the table, one batch or one column is held at a time."""
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f'{path} needs pyarrow to be read; it is not installed. Type: pip install "whynear[parquet]"'
        ) from error
    try:
        with parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            names, notes = distinct_names([str(name) for name in schema.names])
            parts: list[list[pd.Series]] = [[] for _ in names]
            for batch in file.iter_batches(BATCH_ROWS):
                for place, column in enumerate(batch.columns):
                    parts[place].append(column.to_pandas())
    except PermissionError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise ValueError(
            f"{path} must be a whole parquet file, got a damaged one instead ({error}). Export it again."
        ) from error
    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(names):
        columns[name] = _joined(parts[place])
        parts[place] = []
    frame = _indexed(pd.DataFrame(columns), schema.pandas_metadata or {})
    if frame.empty:
        raise ValueError(
            f"{path} must have rows and columns, got a table of {frame.shape[0]} x {frame.shape[1]} instead. "
            "Export it again."
        )
    return frame, notes


def _joined(parts: list[pd.Series]) -> pd.Series:
    """Return the batches of a column as one; batches of categories may know different ones."""
    if len(parts) > 1 and isinstance(parts[0].dtype, pd.CategoricalDtype):
        values = pd.api.types.union_categoricals(parts, ignore_order=not _same_categories(parts))
        return pd.Series(values)
    return pd.concat(parts, ignore_index=True) if parts else pd.Series(dtype=object)


def _same_categories(parts: list[pd.Series]) -> bool:
    return all(part.dtype == parts[0].dtype for part in parts)


def _indexed(frame: pd.DataFrame, metadata: dict[str, Any]) -> pd.DataFrame:
    """Return the table with the index that pandas saved as columns."""
    saved = [name for name in metadata.get("index_columns", ()) if isinstance(name, str) and name in frame.columns]
    if not saved:
        return frame
    names = [None if name.startswith("__index_level_") else name for name in saved]
    return frame.set_index(saved).rename_axis(names)
