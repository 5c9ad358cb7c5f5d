"""A whole stream from a file or standard input: each row is predicted and then learned, and a killed run goes on."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict
from operator import eq
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from whynear.data.cells import MISSING_SIGNS
from whynear.data.delimited import csv_text
from whynear.data.numbers import DECIMALS
from whynear.model.files import save
from whynear.stream.estimator import SelfAdjustingMemory
from whynear.stream.results import (
    COUNTED_ROWS,
    FILES,
    PART_OF_PREDICTIONS,
    PREDICTIONS,
    UNFINISHED,
    Counts,
    StreamResult,
    continued,
    opened_predictions,
    remove_run,
    write_result,
)
from whynear.stream.rows import MISSING_CLASSES, Rows, StreamPart, opened_rows
from whynear.stream.values import NumberReader, TimeReader, named_form
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
    decimal: Literal["auto", ".", ","] = "auto",
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
        repeated, and is neither predicted nor learned. A row without a name is counted as such, and is learned.
    time : str, optional
        The column with the times of the rows: numbers, dates or times of a day, of one form, which the first part
        decides; ``"day=%d/%m/%Y"`` gives the format of dates in the column ``day``. A row of an earlier time than one
        before it is counted as late, and is predicted and learned when it comes.
    every : int, default=5000
        Rows between two states on disk, from which a killed run goes on.
    overwrite : bool, default=False
        Whether to begin anew where the folder holds a finished or another run.
    encoding : str, default="auto"
        The encoding of a text; "auto" finds UTF-8, UTF-16, and Windows-1252 or latin-1.
    decimal : {"auto", ".", ","}, default="auto"
        The sign before the decimals in a text; "auto" takes the one that a number shows first. A number that
        contradicts it is refused.
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
    choice("decimal", decimal, ("auto", *DECIMALS))
    folder, report = Path(out), listener(progress)
    check_folder(folder, FILES)
    with opened_rows(table, encoding) as rows:
        sign, target = None if decimal == "auto" else decimal, target or rows.target
        if target is None:
            columns = listed(rows.columns, 10)
            raise ValueError(f"{rows.source} needs a target. Name one of its columns (--target COLUMN): {columns}.")
        time, form = (None, None) if time is None else named_form(time, rows.columns)
        wanted = Counts(rows.source, target, index, time, list(drop), decimal=sign, time_form=form)
        run = _Run.begun(folder, rows, wanted, SelfAdjustingMemory(**settings), overwrite=overwrite)
        with closing(run):
            for part in run.parts_left(every):
                run.learn(part)
                run.keep(part.digest)
                report(f"row {run.counts.n_rows:,}", part.share)
        commas = "The numbers are written with decimal commas; --decimal names the sign before the decimals."
        for note in (*rows.notes(), *([commas] if sign is None and run.numbers.decimal == "," else [])):
            warnings.warn(f"{rows.source}: {note}", stacklevel=2)
    return run.finish()


class _Run:
    """A run: the model, the counts, and the file of predictions."""

    def __init__(self, folder: Path, rows: Rows, counts: Counts, model: SelfAdjustingMemory) -> None:
        self.folder, self.rows, self.counts, self.model = folder, rows, counts, model
        self.target = rows.place(counts.target)
        self.index = None if counts.index is None else rows.place(counts.index)
        aside = set(map(rows.place, (*counts.columns, *rows.aside)))
        self.places = [place for place in range(len(rows.columns)) if place not in aside]
        self.features = [rows.columns[place] for place in self.places]
        if not self.features:
            raise ValueError(f"{rows.source} must have a column beside those named, got none. Name fewer columns.")
        if not hasattr(model, "n_seen_"):
            model.begin(self.features)
        self.names: deque[str] = deque(counts.names, REMEMBERED_NAMES)
        self.numbers = NumberReader(counts.decimal, set(map(rows.place, rows.stored)))
        self.times = None if counts.time is None else TimeReader(counts.time, counts.time_form)
        self.file = opened_predictions(folder, counts.n_bytes)

    @classmethod
    def begun(cls, folder: Path, rows: Rows, wanted: Counts, model: SelfAdjustingMemory, *, overwrite: bool) -> _Run:
        """Begin a run, or go on with the unfinished one in the folder."""
        rows.name(wanted.columns)  # refuses unknown ones before anything is removed
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
            values = self.numbers.read(rows, self.places, self.features, numbers)
            labels = np.array([row[self.target].strip() for row in rows])
            found = self._predicted(values, labels)
            self._count(labels, found)
            names = numbers if self.index is None else [self._name(row) for row in rows]
            frame = pd.DataFrame({"row": names, "actual": labels, "predicted": found})
            text = csv_text(frame.assign(right=list(map(int, map(eq, labels.tolist(), found)))))
            data = (text if self.counts.n_bytes == 0 else text.partition("\n")[2]).encode()
            with self._named_faults():
                self.file.write(data)
            self.counts.n_bytes += len(data)
        self.counts.n_rows = part.last

    def _kept_rows(self, part: StreamPart) -> tuple[list[list[str]], list[int]]:
        """Return the rows to predict and their numbers: none that repeats another, none without a target."""
        late = self._count_late(part)
        rows: list[list[str]] = []
        numbers: list[int] = []
        known = set(self.names)
        for number, row in enumerate(part.rows, part.first):
            case = self.model.n_seen_ + len(rows) + 1
            if number in late:
                self.model.note(f"row {number:,}: late: its time is before that of an earlier row", case)
            name = self._name(row)
            if name in known:
                self.counts.n_repeated += 1
                self.model.note(f"row {number:,}: row {name!r} came again, and was left out", case)
                continue
            if self.index is not None and not name:
                self.counts.n_unnamed += 1
            if name:
                if len(self.names) == self.names.maxlen:
                    known.discard(self.names[0])
                known.add(name)
                self.names.append(name)
            if row[self.target].strip() in MISSING_CLASSES:
                self.counts.n_without_target += 1
                continue
            rows.append(row)
            numbers.append(number)
        return rows, numbers

    def _name(self, row: list[str]) -> str:
        """Return the name of a row; an empty text if it has none."""
        return "" if self.index is None or row[self.index].strip() in MISSING_SIGNS else row[self.index]

    def _count_late(self, part: StreamPart) -> set[int]:
        """Return the numbers of the rows whose time is before that of an earlier row, and count them."""
        late: set[int] = set()
        if self.times is None:
            return late
        place, latest = self.rows.place(self.times.column), self.counts.latest
        for number, now in enumerate(self.times.read([row[place] for row in part.rows], part.first), part.first):
            if now is None:
                continue
            if latest is not None and now < latest:
                late.add(number)
            else:
                latest = now
        self.counts.latest, self.counts.time_form = latest, self.times.form
        self.counts.n_late += len(late)
        return late

    def _predicted(self, values: Any, labels: NDArray[Any]) -> list[str]:
        """Return the predictions, empty before the first case; rows with missing values are learned one by one."""
        first = self.model.n_seen_ == 0
        if not np.isnan(values).any():
            found = list(map(str, self.model.prequential(pd.DataFrame(values, columns=self.features), labels)))
            return ["", *found[1:]] if first else found
        found = []
        for row, label in zip(values.tolist(), labels.tolist(), strict=True):
            case = dict(zip(self.features, row, strict=True))
            predicted = self.model.predict_one(case)
            found.append("" if predicted is None else str(predicted))
            self.model.learn_one(case, label)
        return found

    def _count(self, labels: NDArray[Any], found: list[str]) -> None:
        counts, actual = self.counts, labels.tolist()
        counts.n_predicted += sum(label != "" for label in found)
        counts.n_right += sum(map(eq, actual, found))
        counts.n_same += sum(map(eq, actual, [counts.last_label, *actual[:-1]]))
        counts.last_label = str(labels[-1])

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
        self.counts.digest, self.counts.names, self.counts.decimal = digest, list(self.names), self.numbers.decimal
        self.model.counts_ = asdict(self.counts)
        save(self.model, self.folder / UNFINISHED)

    def close(self) -> None:
        """Close the file of predictions."""
        with self._named_faults():
            self.file.close()

    def finish(self) -> StreamResult:
        """Write all results, and remove the state of the unfinished run last."""
        if not self.counts.n_predicted:
            raise ValueError(f"{self.rows.source} must have at least two rows with a target, got fewer instead.")
        del self.model.counts_
        counted = {name: getattr(self.counts, name) for name in ("source", "target", "n_rows", *COUNTED_ROWS)}
        result = StreamResult(**counted, history=self.model.history, model=self.model)
        write_result(result, self.folder)
        os.replace(self.folder / PART_OF_PREDICTIONS, self.folder / PREDICTIONS)
        sync_folder(self.folder)
        (self.folder / UNFINISHED).unlink()
        return result
