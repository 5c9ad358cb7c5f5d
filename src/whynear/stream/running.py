"""A whole stream from a file or standard input: each row is predicted and then learned, and a killed run goes on."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.metric import save
from whynear.stream.estimator import SelfAdjustingMemory
from whynear.stream.result import StreamResult, write_result
from whynear.stream.rows import MISSING_CELLS, Rows, StreamPart, numbers_of_rows, opened_rows, times_of
from whynear.stream.unfinished import (
    FILES,
    PART_OF_PREDICTIONS,
    PREDICTIONS,
    UNFINISHED,
    Counts,
    continued,
    opened_predictions,
    remove_run,
)
from whynear.tables.writing import csv_text
from whynear.tables.written_numbers import DECIMALS, Decimal
from whynear.utils.checks import choice, whole
from whynear.utils.files import StrPath, check_folder, make_folder, remove_halves, sync_folder
from whynear.utils.progress import ProgressArgument, listener
from whynear.utils.text import listed

REMEMBERED_NAMES = 5_000  # of the latest rows, among which a name is found again


def run_stream(
    table: str,
    target: str | None,
    out: StrPath,
    *,
    drop: Sequence[str] = (),
    index: str | None = None,
    time: str | None = None,
    every: int = 5_000,
    overwrite: bool = False,
    encoding: str = "auto",
    decimal: Decimal = ".",
    progress: ProgressArgument = None,
    **settings: Any,
) -> StreamResult:
    """Predict each row of a table before it is learned, and write the results to a folder.

    Parameters
    ----------
    table : str
        A text file (CSV, TSV), a ``.parquet`` file, or ``-`` for standard input, of which a part at a time is in
        memory; or the name of a data set.
    target : str or None
        The column with the classes; None for that of a data set.
    out : str or path
        The folder for the results. If it holds an unfinished run of the same table, that one goes on, without
        predicting or learning a row twice; standard input must then begin at the same row again.
    drop : sequence of str
        Columns to leave out.
    index : str, optional
        The column with the names of the rows. A row whose name is among those of the latest 5,000 is counted as
        repeated, and is neither predicted nor learned.
    time : str, optional
        The column with the times of the rows. A row of an earlier time than one before it is counted as late, and is
        predicted and learned when it comes.
    every : int, default=5000
        Rows between two states on disk, from which a killed run goes on.
    overwrite : bool, default=False
        Whether to begin anew where the folder holds a finished or another run.
    encoding : str, default="auto"
        The encoding of the text; "auto" is UTF-8.
    decimal : {".", ","}, default="."
        The sign before the decimals in a text.
    progress : callable or bool, optional
        Called with a text and the share of the file that is done; True prints lines.
    **settings
        Parameters of `SelfAdjustingMemory`.

    Returns
    -------
    StreamResult
        What was counted, the history and the learner.
    """
    whole("every", every)
    choice("decimal", decimal, DECIMALS)
    folder, report = Path(out), listener(progress)
    check_folder(folder, FILES)
    with opened_rows(table, encoding, decimal) as rows:
        wanted = Counts(rows.source, _target(rows, target), index, time, list(drop))
        run = _Run.begun(folder, rows, wanted, SelfAdjustingMemory(**settings), overwrite=overwrite)
        for part in run.parts_left(every):
            run.learn(part)
            run.keep(part.digest)
            report(f"row {run.counts.n_rows:,}", part.share)
    return run.finish()


def _target(rows: Rows, given: str | None) -> str:
    target = given or rows.target
    if target is None:
        columns = listed(rows.columns, 10)
        raise ValueError(f"{rows.source} needs a target. Name one of its columns (--target COLUMN): {columns}.")
    return target


class _Run:
    """A run: the model, the counts, and the file of predictions."""

    def __init__(self, folder: Path, rows: Rows, counts: Counts, model: SelfAdjustingMemory) -> None:
        self.folder, self.rows, self.counts, self.model = folder, rows, counts, model
        self.target = rows.place(counts.target)
        self.index, self.time = (None if name is None else rows.place(name) for name in (counts.index, counts.time))
        aside = set(map(rows.place, counts.columns))
        self.places = [place for place in range(len(rows.columns)) if place not in aside]
        self.features = [rows.columns[place] for place in self.places]
        if not self.features:
            raise ValueError(f"{rows.source} must have a column beside those named, got none. Name fewer columns.")
        if not hasattr(model, "n_seen_"):
            model.begin(self.features)
        self.names: deque[str] = deque(counts.names, REMEMBERED_NAMES)
        self.file = opened_predictions(folder, counts.n_bytes)

    @classmethod
    def begun(cls, folder: Path, rows: Rows, wanted: Counts, model: SelfAdjustingMemory, *, overwrite: bool) -> _Run:
        """Begin a run, or go on with the unfinished one in the folder."""
        for name in wanted.columns:
            rows.place(name)  # refuses unknown ones before anything is removed
        make_folder(folder)
        if overwrite:
            remove_run(folder)
        model, counts = continued(folder, model, wanted)
        for name in (UNFINISHED, *FILES):
            remove_halves(folder / name)
        return cls(folder, rows, counts, model)

    def parts_left(self, every: int) -> Iterator[StreamPart]:
        """Yield the parts that are not yet learned; those before them must be the same as in the run before."""
        done, n_rows = self.counts.n_rows, 0
        for part in self.rows.parts(every):
            n_rows = part.last
            if part.first <= done < part.last:
                raise ValueError(
                    f"The unfinished run in {self.folder} ended after row {done:,}, where no part of every={every} "
                    "rows ends: its parts were of another size, or rows were added since. Give the same --every and "
                    "the same rows, or --overwrite."
                )
            if part.last == done and part.digest != self.counts.digest:
                raise ValueError(
                    f"The first {done:,} rows of {self.rows.source} differ from those of the unfinished run in "
                    f"{self.folder}. Give the same rows, or --overwrite."
                )
            if part.first > done:
                yield part
        if n_rows < done:
            raise ValueError(
                f"{self.rows.source} has {n_rows:,} rows, and the unfinished run in {self.folder} has learned "
                f"{done:,}. Give the same rows, or --overwrite."
            )

    def learn(self, part: StreamPart) -> None:
        """Predict and learn the rows of a part, and write the predictions."""
        rows, numbers = self._kept_rows(part)
        if rows:
            values = numbers_of_rows(rows, self.places, self.features, numbers, self.rows.decimal)
            labels = np.array([row[self.target].strip() for row in rows])
            found = self._predicted(values, labels)
            self._count(labels, found)
            names = numbers if self.index is None else [row[self.index] for row in rows]
            frame = pd.DataFrame({"row": names, "actual": labels, "predicted": found})
            text = csv_text(frame.assign(right=[int(a == b) for a, b in zip(labels, found, strict=True)]))
            self._write(text if self.counts.n_bytes == 0 else text.partition("\n")[2])
        self.counts.n_rows = part.last

    def _kept_rows(self, part: StreamPart) -> tuple[list[list[str]], list[int]]:
        """Return the rows to predict and their numbers: none that repeats another, none without a target."""
        self._count_late(part)
        rows, numbers = [], []
        known = set(self.names)
        for number, row in enumerate(part.rows, part.first):
            if self.index is not None:
                if row[self.index] in known:
                    self.counts.n_repeated += 1
                    self._note(number, f"row {row[self.index]!r} came again, and was left out")
                    continue
                if len(self.names) == self.names.maxlen:
                    known.discard(self.names[0])
                known.add(row[self.index])
                self.names.append(row[self.index])
            if row[self.target].strip() in MISSING_CELLS:
                self.counts.n_without_target += 1
                continue
            rows.append(row)
            numbers.append(number)
        return rows, numbers

    def _count_late(self, part: StreamPart) -> None:
        if self.time is None:
            return
        for number, now in enumerate(times_of([row[self.time] for row in part.rows]), part.first):
            latest = self.counts.latest
            if latest is not None and type(latest) is type(now) and now < latest:
                self.counts.n_late += 1
                self._note(number, "late: its time is before that of an earlier row")
            elif now is not None:
                self.counts.latest = now

    def _note(self, number: int, text: str) -> None:
        """Note what happened in a row of the table."""
        self.model.note(f"row {number:,}: {text}")

    def _predicted(self, values: Any, labels: NDArray[Any]) -> list[str]:
        """Return the predictions, empty before the first case; rows with missing values are learned one by one."""
        first = self.model.n_seen_ == 0
        if not np.isnan(values).any():
            found = [
                str(label) for label in self.model.prequential(pd.DataFrame(values, columns=self.features), labels)
            ]
            return ["", *found[1:]] if first else found
        found = []
        for row, label in zip(values.tolist(), labels.tolist(), strict=True):
            case = dict(zip(self.features, row, strict=True))
            predicted = self.model.predict_one(case)
            found.append("" if predicted is None else str(predicted))
            self.model.learn_one(case, label)
        return found

    def _count(self, labels: NDArray[Any], found: list[str]) -> None:
        counts = self.counts
        before = [counts.last_label, *labels[:-1].tolist()]
        counts.n_predicted += sum(label != "" for label in found)
        counts.n_right += sum(a == b for a, b in zip(labels.tolist(), found, strict=True))
        counts.n_same += sum(a == b for a, b in zip(labels.tolist(), before, strict=True))
        counts.last_label = str(labels[-1])

    def _write(self, text: str) -> None:
        data = text.encode()
        with self._named_faults():
            self.file.write(data)
        self.counts.n_bytes += len(data)

    @contextmanager
    def _named_faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OSError(
                error.errno,
                f"{self.folder / PART_OF_PREDICTIONS} could not be written ({error.strerror}). Free some space on the "
                "disk: the same command goes on after the latest part that is complete.",
            ) from error

    def keep(self, digest: str) -> None:
        """Bring predictions and then the state to the disk; a killed run goes on from here."""
        with self._named_faults():
            self.file.flush()
            os.fsync(self.file.fileno())
        self.counts.digest, self.counts.names = digest, list(self.names)
        self.model.counts_ = asdict(self.counts)
        save(self.model, self.folder / UNFINISHED)

    def finish(self) -> StreamResult:
        """Write all results, and remove the state of the unfinished run last."""
        self.file.close()
        if not self.counts.n_predicted:
            raise ValueError(f"{self.rows.source} must have at least two rows with a target, got fewer instead.")
        del self.model.counts_
        result = StreamResult(
            source=self.rows.source,
            target=self.counts.target,
            n_rows=self.counts.n_rows,
            n_predicted=self.counts.n_predicted,
            n_right=self.counts.n_right,
            n_same=self.counts.n_same,
            n_late=self.counts.n_late,
            n_repeated=self.counts.n_repeated,
            n_without_target=self.counts.n_without_target,
            history=self.model.history,
            model=self.model,
        )
        write_result(result, self.folder)
        os.replace(self.folder / PART_OF_PREDICTIONS, self.folder / PREDICTIONS)
        sync_folder(self.folder)
        (self.folder / UNFINISHED).unlink()
        return result
