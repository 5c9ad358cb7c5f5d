"""Predictions for tables of any size, from batch to batch into a Parquet file."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import IO, Any, get_args

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from whynear.data.numbers import Decimal
from whynear.data.opening import Table, open_table
from whynear.data.parquet import name_of_index
from whynear.data.reading import NamedTable, is_text_file
from whynear.data.rows import named_rows
from whynear.data.text_files import AUTO
from whynear.large.beyond_memory import MemoryLimit
from whynear.large.parts import has_parts, open_parts, rows_and_columns
from whynear.model.pipeline import FittedPipeline
from whynear.model.unusual import UnusualKind
from whynear.reject.option import RejectOption
from whynear.study.methods import column_of_names
from whynear.study.prediction import (
    check_any_rows,
    headed_by,
    predicted_rows,
    predictor_from,
    unusual_rows,
    with_option,
)
from whynear.utils.files import StrPath, check_file, write_whole
from whynear.utils.progress import ProgressArgument, Report, listener

MOST_BATCH_ROWS, FEWEST_BATCH_ROWS = 1 << 14, 500
BYTES_PER_PREDICTION = 32  # in the file, about
MOST_NOTES = 10


@dataclass(frozen=True)
class WrittenPredictions:
    """What was written: the file, the name of the table, the number of rows, and how many have unusual values.

    ``unusual`` has the number of rows for each kind: ``filled_in``, ``out_of_range`` and ``unseen_category``.
    ``promise`` says what is promised for accepted rows; empty where no accuracy was given. ``n_accepted`` rows are
    accepted; ``n_accepted_unusual`` of them have unusual values, and the promise is not for them.
    """

    path: Path
    source: str
    n_rows: int
    unusual: dict[str, int]
    promise: str = ""
    n_accepted: int = 0
    n_accepted_unusual: int = 0


@dataclass(frozen=True)
class _Batches:
    """A table in batches, whose index are the numbers or names of the rows."""

    source: str
    columns: tuple[str, ...]
    notes: tuple[str, ...]
    n_rows: int
    index: str | None
    frames: Iterator[pd.DataFrame]
    decimal: Decimal | None


def predict_to_parquet(
    model: BaseEstimator | StrPath,
    table: Table,
    out: StrPath,
    *,
    index: str | None = None,
    encoding: str = AUTO,
    memory: str | int | None = None,
    progress: ProgressArgument = None,
    accuracy: float | None = None,
    confidence: float = 0.9,
) -> WrittenPredictions:
    """Predict every row of a table with a fitted model, and write the predictions as Parquet.

    A Parquet file and a folder of files are read in batches, so that they may be larger than memory. The file is
    written completely or not at all.

    Parameters
    ----------
    model : fitted estimator or path
        A learner, a Pipeline that ends in one, or the file that `save` or a study wrote.
    table : DataFrame, path or str
        A table, a file (CSV, TSV, Parquet, Excel), a folder of files or the name of a data set; see `predict_table`.
    out : path
        The file to write. Its columns are those of `predict_table`; names of rows are text, unless they are the
        whole numbers of an index.
    index : str, optional
        The column with the names of the rows; see `predict_table`.
    encoding : str, default="auto"
        Encoding of text files; ``"auto"`` finds it.
    memory : str or int, optional
        The memory to keep within, such as ``"2GB"``; half of the machine's without it.
    progress : bool or callable, optional
        True writes the progress to stderr; a function is called with the step and the share.
    accuracy : float, optional
        The least share of the accepted rows that is right; see `predict_table`.
    confidence : float, default=0.9
        The confidence of that promise.

    Returns
    -------
    WrittenPredictions

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import whynear as wn
    >>> iris = wn.datasets.load("iris")
    >>> learner = wn.GRLVQ(random_state=0).fit(iris.X, iris.y)
    >>> with TemporaryDirectory() as folder:
    ...     written = wn.predict_to_parquet(learner, iris.X, f"{folder}/predictions.parquet")
    ...     pd.read_parquet(f"{folder}/predictions.parquet")["predicted"].nunique(), written.n_rows
    (3, 150)
    """
    check_file(out)
    if find_spec("pyarrow") is None:
        what = "needs pyarrow to be written; it is not installed"
        raise ImportError(f'{out} {what}. Type: pip install "whynear[parquet]"')
    predictor, option = with_option(predictor_from(model), accuracy, confidence)
    report, limit = listener(progress), MemoryLimit.of_prediction(memory)
    batches = _opened(predictor, table, index, encoding, limit)
    check_any_rows(batches.n_rows, batches.source)
    rows: Counter[str] = Counter()
    needed = BYTES_PER_PREDICTION * batches.n_rows
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        write_whole(out, lambda file: _write(predictor, option, batches, file, report, rows), needed)
    of_table = [f"{batches.source}: {note}" for note in batches.notes]
    notes = list(dict.fromkeys([*of_table, *(str(found.message) for found in caught)]))
    left_out = [f"{len(notes) - MOST_NOTES:,} more notes on batches were left out."] * (len(notes) > MOST_NOTES)
    for note in (*notes[:MOST_NOTES], *left_out):
        warnings.warn(note, stacklevel=2)
    promise = "" if option is None else option.promise.sentence
    unusual = {kind: rows[kind] for kind in get_args(UnusualKind) if kind in rows}
    accepted = rows["accepted"], rows["accepted_unusual"]
    return WrittenPredictions(Path(out), batches.source, batches.n_rows, unusual, promise, *accepted)


def is_too_large(table: Table, encoding: str = AUTO, memory: str | int | None = None) -> bool:
    """Return whether the predictions of a Parquet file or a folder take more memory than allowed."""
    if (path := _path_of_parts(table)) is None:
        return False
    n_rows, n_columns = rows_and_columns(path, encoding)
    return n_rows > MemoryLimit.of_prediction(memory).rows(n_columns)


def _path_of_parts(table: Table) -> Path | None:
    """Return the path of a table that can be read in parts; None for others."""
    return Path(table) if isinstance(table, str | PathLike) and has_parts(Path(table)) else None


def _opened(model: Any, table: Table, index: str | None, encoding: str, limit: MemoryLimit) -> _Batches:
    expected = FittedPipeline.of(model).given.expected
    if (path := _path_of_parts(table)) is None:
        if isinstance(table, str | PathLike) and is_text_file(Path(table)) and Path(table).is_file():
            limit.check_text_file(Path(table))
        opened = open_table(table, encoding, expected=expected)
        names = _index(model, index, tuple(opened.frame.columns), None)
        frame = named_rows(opened.frame, names, opened.source)
        step = _batch_rows(limit, frame.shape[1], opened.source)
        frames = (frame.iloc[start : start + step] for start in range(0, len(frame), step))
        decimal, notes = opened.decided(expected)
        return _Batches(opened.source, tuple(frame.columns), notes, len(frame), names, frames, decimal)
    parted = open_parts(path, encoding, expected)
    names = _index(model, index, parted.columns, parted.index)
    step = _batch_rows(limit, len(parted.columns), parted.source)
    frames = (named_rows(batch, names, parted.source) for part in parted.parts for batch in parted.batches(part, step))
    return _Batches(parted.source, parted.columns, parted.notes, parted.n_rows, names, frames, parted.decimal)


def _index(model: Any, given: str | None, columns: tuple[str, ...], saved: str | None) -> str | None:
    """Return the column of the names of rows: that given, that of the training table, or that which pandas saved."""
    known = column_of_names(model)
    return given if given is not None else known if known in columns else saved


def _batch_rows(limit: MemoryLimit, n_columns: int, source: str) -> int:
    limit.check_room(FEWEST_BATCH_ROWS, n_columns, f"A prediction for {source}")
    return int(np.clip(limit.rows(n_columns), FEWEST_BATCH_ROWS, MOST_BATCH_ROWS))


def _write(
    model: Any,
    option: RejectOption | None,
    batches: _Batches,
    file: IO[bytes],
    report: Report,
    rows: Counter[str],
) -> None:
    pyarrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    writer, n_done = None, 0
    columns = FittedPipeline.of(model).given
    try:
        for frame in batches.frames:
            report(f"predict, row {n_done + 1:,} of {batches.n_rows:,}", n_done / batches.n_rows)
            read = columns.read(NamedTable(batches.source, frame, decimal=batches.decimal))
            found = predicted_rows(model, read.frame, batches.source, batches.index, option)
            rows.update(unusual_rows(found))
            if batches.index is not None or frame.index.dtype.kind not in "iu":  # other names mix numbers and text
                found["row"] = found["row"].astype(str)
            if batches.index is not None:
                found = headed_by(found, name_of_index(batches.index))
            if writer is None:
                schema = pyarrow.Table.from_pandas(found.infer_objects(), preserve_index=False).schema.remove_metadata()
                writer = parquet.ParquetWriter(file, schema)
            writer.write_table(pyarrow.Table.from_pandas(found, schema=writer.schema, preserve_index=False))
            n_done += len(frame)
    finally:
        if writer is not None:
            writer.close()
    report("done", 1.0)
