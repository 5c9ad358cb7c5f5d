"""Tables in Parquet files, read in batches of rows."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import pandas as pd

from whynear.data.delimited import distinct_names

BATCH_ROWS = 1 << 16
UNNAMED_INDEX = "__index_level_0__"  # the column of names of rows that have no name, as pandas calls it
READ_AHEAD_BYTES = 1 << 20  # of a column; without a limit whole row groups are loaded
NUMBERS, TEXT, DATES = "numbers", "text", "dates"


@dataclass(frozen=True)
class ParquetFacts:
    """The description of a table at the end of a Parquet file."""

    names: tuple[str, ...]  # of the columns, made unique
    notes: tuple[str, ...]  # what was changed in them
    kinds: tuple[str | None, ...]  # NUMBERS, TEXT, DATES, another type by its name; None where a column holds nothing
    rows_of_groups: tuple[int, ...]
    index: tuple[str, ...]  # the columns that pandas saved its index in

    @property
    def n_rows(self) -> int:
        """The number of rows of the file."""
        return sum(self.rows_of_groups)


def parquet_facts(path: Path) -> ParquetFacts:
    """Return what a Parquet file holds, without reading its rows."""
    with _opened(path) as file:
        schema, metadata = file.schema_arrow, file.metadata
        names, notes = distinct_names([str(name) for name in schema.names])
        return ParquetFacts(
            tuple(names),
            tuple(notes),
            tuple(_kind(kind) for kind in schema.types),
            tuple(metadata.row_group(group).num_rows for group in range(metadata.num_row_groups)),
            tuple(_saved_index(schema, names)),
        )


def parquet_batches(
    path: Path, group: int, n_rows: int, columns: Container[str] | None = None
) -> Iterator[pd.DataFrame]:
    """Yield a row group in tables of at most ``n_rows`` rows, with the names of `parquet_facts`.

    ``columns`` are the names of those to read; None for all.
    """
    with _opened(path) as file:
        stored = [str(name) for name in file.schema_arrow.names]
        names, _ = distinct_names(stored)
        wanted = [place for place, name in enumerate(names) if columns is None or name in columns]
        # Columns that are stored under one name cannot be read one by one.
        some = [stored[place] for place in wanted] if len(set(stored)) == len(stored) else None
        for batch in file.iter_batches(n_rows, row_groups=[group], columns=some, use_threads=False):
            batch.validate(full=True)
            places = wanted if some is None else [batch.schema.names.index(name) for name in some]
            yield pd.DataFrame(
                {names[to]: _series(batch.column(place)) for to, place in zip(wanted, places, strict=True)}
            )


def read_parquet(path: Path) -> tuple[pd.DataFrame, list[str]]:
    """Return the table and notes on changed names. Beside the table, one batch or one column is held at a time."""
    with _opened(path) as file:
        schema = file.schema_arrow
        names, notes = distinct_names([str(name) for name in schema.names])
        index = _saved_index(schema, names)
        parts: list[list[pd.Series]] = [[] for _ in names]
        for batch in file.iter_batches(BATCH_ROWS):
            batch.validate(full=True)  # pyarrow does not look at the bytes of texts by itself
            for place, column in enumerate(batch.columns):
                parts[place].append(_series(column))
    columns: dict[str, pd.Series] = {}
    for place, name in enumerate(names):
        columns[name] = joined(parts[place])
        parts[place] = []
    frame = pd.DataFrame(columns)
    if index:
        frame = frame.set_index(index).rename_axis([name_of_index(name) for name in index])
    if frame.empty:
        raise ValueError(
            f"{path} must have rows and columns, got a table of {frame.shape[0]} x {frame.shape[1]} instead. "
            "Export it again."
        )
    return frame, notes


def joined(parts: list[pd.Series]) -> pd.Series:
    """Return the batches of a column as one; batches of categories may have different ones."""
    # of one type: another file may hold the same column as text
    kinds = {part.dtype.categories.dtype if isinstance(part.dtype, pd.CategoricalDtype) else None for part in parts}
    if len(parts) > 1 and None not in kinds and len(kinds) == 1:
        is_same = all(part.dtype == parts[0].dtype for part in parts)
        return pd.Series(pd.api.types.union_categoricals(parts, ignore_order=not is_same))
    return pd.concat(parts, ignore_index=True) if parts else pd.Series(dtype=object)


def name_of_index(column: str) -> str | None:
    """Return the name of the index that pandas saved in a column; None if it has none."""
    return None if column.startswith("__index_level_") else column


def _saved_index(schema: Any, names: Iterable[str]) -> list[str]:
    """Return the columns that pandas saved its index in; none where its note in the file is of another kind."""
    known, note = set(names), schema.pandas_metadata
    saved = note.get("index_columns") if isinstance(note, dict) else None
    listed = saved if isinstance(saved, list) else []
    return list(dict.fromkeys(name for name in listed if isinstance(name, str) and name in known))


def _series(column: Any) -> pd.Series:
    """Return a column of a batch; bytes as text, as some programs store it, and those that are no text by numbers."""
    types = import_module("pyarrow.types")
    if types.is_dictionary(column.type) and _is_bytes(column.type.value_type):
        column = column.dictionary_decode()
    if not _is_bytes(column.type):
        return column.to_pandas()
    texts = [None if value is None else value.decode(errors="backslashreplace") for value in column.to_pylist()]
    return pd.Series(texts, dtype="str")


def _is_bytes(kind: Any) -> bool:
    types = import_module("pyarrow.types")
    checks = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(check(kind) for check in checks)


def _kind(kind: Any) -> str | None:
    types = import_module("pyarrow.types")
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    if types.is_null(kind):
        return None
    if types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind) or types.is_decimal(kind):
        return NUMBERS
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or _is_bytes(kind):
        return TEXT
    return DATES if types.is_date(kind) or types.is_timestamp(kind) else str(kind)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a Parquet file; errors name it."""
    try:
        pyarrow = import_module("pyarrow")
        parquet = import_module("pyarrow.parquet")
    except ImportError as error:
        raise ImportError(
            f'{path} needs pyarrow to be read; it is not installed. Type: pip install "whynear[parquet]"'
        ) from error
    try:
        with parquet.ParquetFile(path, buffer_size=READ_AHEAD_BYTES, pre_buffer=False) as file:
            yield file
    except PermissionError:
        raise
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError) as error:
        raise ValueError(
            f"{path} must be a whole parquet file, got a damaged one instead ({error}). Export it again."
        ) from error
