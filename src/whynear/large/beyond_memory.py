"""The problem of a table beyond the memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from whynear.data.caveats import filled_in
from whynear.data.cells import is_missing
from whynear.data.column_types import class_names, unusable_target
from whynear.data.numbers import written_numbers
from whynear.data.options import Reading, Splitting, TableRefused, with_suggestion
from whynear.data.parquet import name_of_index
from whynear.data.problem import Problem, WholeTable, checked_target, problem_from
from whynear.data.reading import NamedTable, is_text_file
from whynear.data.rows import ROW_NUMBERS, names_in, note_on_repeated_names, note_on_unnamed
from whynear.data.text_files import AUTO
from whynear.large.all_rows import LargeRows
from whynear.large.parts import PartedTable, TablePart, has_parts, open_parts, rows_and_columns
from whynear.large.scan import MOST_CLASSES_COUNTED, Scan, joined_rows, scan
from whynear.learn.registry import Traits
from whynear.study.fits import TABLE_COPIES
from whynear.study.learning import check_learnable
from whynear.study.settings import COMPARED_ROWS, StudySettings
from whynear.utils.progress import Steps
from whynear.utils.text import bytes_of, counted, in_words, machine_bytes

MEMORY_SHARE = 0.5  # of the machine, if no other limit is given
STUDY_BYTES = 0.75e9  # of a study of a small table
PREDICTION_BYTES = 0.45e9  # of predictions for a small table
PREDICTED_ROW_BYTES = 4_000  # of a row, beside its values: its name, and texts on unusual values


@dataclass(frozen=True)
class MemoryLimit:
    """The memory that a study or a prediction may take.

    ``text`` is the limit as it was given, None if it is a share of the machine's memory; ``taken`` are the bytes
    without any rows, and ``row_bytes`` those of a row beside its values.
    """

    n_bytes: int
    text: str | None
    taken: float = STUDY_BYTES
    row_bytes: int = 0

    @classmethod
    def of(cls, given: str | int | None) -> MemoryLimit:
        """Return the limit that was given, or a share of what the machine has."""
        if given is None:
            return cls(int(MEMORY_SHARE * machine_bytes()), None)
        return cls(bytes_of(given), str(given))

    @classmethod
    def of_prediction(cls, given: str | int | None) -> MemoryLimit:
        """Return the same for predictions."""
        limit = cls.of(given)
        return cls(limit.n_bytes, limit.text, PREDICTION_BYTES, PREDICTED_ROW_BYTES)

    @property
    def room(self) -> float:
        """What is left for the rows of a table."""
        return self.n_bytes - self.taken

    def rows(self, n_columns: int) -> int:
        """Return how many rows of a table have room."""
        return max(0, int(self.room / self._bytes_of_rows(1, n_columns)))

    def check_room(self, n_rows: int, n_columns: int, what: str) -> None:
        """Refuse a limit that has no room for this number of rows."""
        if self.rows(n_columns) >= n_rows:
            return
        needed = self.taken + self._bytes_of_rows(n_rows, n_columns)
        given = f"memory={self.text} is allowed" if self.text else f"{in_words(self.n_bytes)} are allowed"
        raise ValueError(
            f"{what} takes at least {in_words(needed)} of memory, and {given}. Allow more "
            f"(--memory {int(needed / 1e8 + 1) / 10:.1f}GB), or leave out columns."
        )

    def check_text_file(self, path: Path) -> None:
        """Refuse a text file that does not fit under a limit that was given; its text is held beside its table."""
        needed = self.taken + 2 * path.stat().st_size
        if self.text is not None and needed > self.n_bytes:
            raise ValueError(
                f"{path} takes more than {in_words(needed)} of memory, and memory={self.text} is allowed. Save it as "
                "Parquet, or divide it into several files of one folder, which are read part by part."
            )

    def _bytes_of_rows(self, n_rows: int, n_columns: int) -> float:
        return (8.0 * TABLE_COPIES * n_columns + self.row_bytes) * n_rows


def problem_from_scan(
    table: PartedTable,
    scan: Scan,
    target: str,
    reading: Reading,
    splitting: Splitting,
    held_out: Collection[TablePart] = (),
) -> tuple[Problem, Problem]:
    """Return the problem of the sample, and that of the rare rows that are not held out.

    Columns are judged by both together, which hold what is rare in the table, so that a column is read and refused as
    if all rows were in memory. Missing values, different values, classes and faults of the target are those of all
    rows.
    """
    without_target = _check_target(table, scan, target, reading)
    frame = _rows(scan, target, without_target)
    index = table.index if reading.index is None else reading.index
    taken = replace(reading, drop=(*reading.drop, *([index] if index not in (None, target) else [])), index=None)
    try:
        _check_infinite(table, scan, taken)
        problem = problem_from(
            NamedTable(table.source, frame, table.notes, decimal=table.decimal), target, taken, splitting
        )
    except ValueError as error:
        if len(frame) == table.n_rows:
            raise
        message = f"{error} Counts are those of {len(frame):,} of the {table.n_rows:,} rows."
        if isinstance(error, TableRefused):
            raise TableRefused(message, **error.settings) from None
        raise ValueError(message) from None
    left_out = []
    if n_gone := sum(count for count, _ in without_target.values()):
        what = "no value of the target and"
        left_out = [f"{counted(n_gone, f'row has {what} was', f'rows have {what} were')} left out."]
    problem = _with_counts(problem, scan, reading, left_out, table.n_rows - n_gone)
    rows = problem.X.index.to_numpy()
    is_drawn = np.isin(rows, scan.sample.index)
    is_held_out = np.any([(part.before < rows) & (rows <= part.before + part.n_rows) for part in held_out], axis=0)
    labelled = _named(problem, frame, index)
    sample = labelled.rows(np.flatnonzero(is_drawn))
    return replace(sample, whole=labelled.whole), labelled.rows(np.flatnonzero(~is_drawn & ~is_held_out))


def _check_target(table: PartedTable, scan: Scan, target: str, reading: Reading) -> dict[str, tuple[int, list[int]]]:
    """Return the values of the target that are missing ones, with their rows; refuse those that cannot be used."""
    classes, source = scan.classes, table.source
    signs = () if target in reading.category else classes.signs
    gone = {"": (classes.n_missing, classes.rows.get("", []))}
    gone |= {sign: classes.faulty([sign]) for sign in signs}
    gone = {value: found for value, found in gone.items() if found[0]}
    if gone and not reading.drop_missing_target:
        count, rows = sum(n for n, _ in gone.values()), sorted(row for _, rows in gone.values() for row in rows)
        raise TableRefused(unusable_target(rows, count, "missing", target, source), drop_missing_target=True)
    if target not in table.texts:
        count, rows = classes.faulty(["inf", "-inf"])
        if count and not {"inf", "-inf"} & set(reading.missing):
            message = unusable_target(rows, count, "infinite", target, source)
            raise TableRefused(message, drop_missing_target=True, missing=("inf", "-inf"))
    if classes.too_many and target in table.texts and written_numbers(scan.sample[target]) is None:
        raise ValueError(
            f"{source}: the target {target!r} has more than {MOST_CLASSES_COUNTED:,} classes, too many to be "
            "compared. Merge classes, or choose another target."
        )
    return gone


def _rows(scan: Scan, target: str, without_target: Mapping[str, object]) -> pd.DataFrame:
    """Return sample and rare rows in their order, without those that have no target."""
    frame = joined_rows([piece for piece in (scan.sample, scan.rare_rows) if len(piece)]).sort_index()
    known = ~is_missing(frame[target])
    if len(without_target):
        known &= ~class_names(frame[target]).isin(list(without_target)).to_numpy()
    return frame[known].rename_axis(ROW_NUMBERS)


def _check_infinite(table: PartedTable, scan: Scan, reading: Reading) -> None:
    infinite = {name: found.infinite for name, found in scan.columns.items() if found.infinite}
    counts = {name: count for name, count in infinite.items() if name not in reading.drop}
    if counts and not {"inf", "-inf"} & set(reading.missing):
        shown = ", ".join(f"{count:,} in column {name!r}" for name, count in list(counts.items())[:5])
        more = f" and in {counted(len(counts) - 5, 'more column')}" if len(counts) > 5 else ""
        raise TableRefused(
            f"{table.source} contains infinity (inf): {shown}{more}. Replace these values or drop their rows.",
            missing=("-inf", "inf"),
        )


def _with_counts(problem: Problem, scan: Scan, reading: Reading, left_out: list[str], n_rows: int) -> Problem:
    """Return the problem with missing and different values, classes and range of all rows."""
    codes = {} if problem.encoder is None else problem.encoder.missing or {}
    columns, usual = problem.columns.set_index("column"), {}
    for name in columns.index:
        found = scan.columns[name]
        signs = [code for code in codes.get(name, ()) if code in found.levels]
        missing = found.missing + sum(found.levels[code] for code in signs)
        columns.loc[name, "missing"] = max(missing, int(columns.loc[name, "missing"]))
        columns.loc[name, "distinct"] = max(found.distinct - len(signs), int(columns.loc[name, "distinct"]))
        kept = {level: count for level, count in found.levels.items() if level not in signs}
        if kept and not found.has_many_levels:
            usual[name] = min(kept, key=lambda level: (-kept[level], level))
    impute = None if reading.strict and reading.impute == "auto" else reading.impute
    sampled = filled_in(problem.X, problem.y, impute)
    filled = filled_in(problem.X, problem.y, impute, columns["missing"], usual)
    known = problem.classes
    counted_classes = tuple((name, scan.classes.counts[name]) for name, _ in known if name in scan.classes.counts)
    is_counted = len(counted_classes) == len(known) > 0
    whole = WholeTable(
        sum(count for _, count in counted_classes) if is_counted else n_rows,
        counted_classes if is_counted else (),
        (scan.classes.least, scan.classes.most) if problem.kind == "numbers" else None,
    )
    return replace(
        problem,
        columns=columns.reset_index(),
        caveats=(*(said for said in problem.caveats if said not in sampled), *left_out, *filled),
        decisions=(*(said for said in problem.decisions if said not in sampled), *filled),
        whole=whole,
    )


def _named(problem: Problem, frame: pd.DataFrame, index: str | None) -> Problem:
    """Return the problem with the names of its rows: the values of a column, or their numbers in the table."""
    rows = problem.X.index
    names, said = rows.rename(None), []
    if index is not None:
        column = frame.loc[rows, index].rename(name_of_index(index))
        names = names_in(column)
        grouped_by = None if problem.groups is None else str(problem.groups.name)
        said = [*note_on_unnamed(column), *note_on_repeated_names(names, grouped_by)]
    about = {"groups": problem.groups, "times": problem.times, "weights": problem.weights}
    parts: dict[str, Any] = {key: None if part is None else part.set_axis(names) for key, part in about.items()}
    return replace(problem, X=problem.X.set_axis(names, axis=0), caveats=(*problem.caveats, *said), **parts)


MOST_SAMPLED = Traits().most_rows
MOST_BATCH_ROWS, FEWEST_BATCH_ROWS = 1 << 16, 1_000
BATCH_SHARE = 0.1  # of the memory beside that of a study of a small table
HELD_OUT_SHARE, HELD_OUT_ROWS = 0.1, 200_000  # at most, in whole parts
LARGEST_HELD_OUT_SHARE = 1 / 3  # of the rows, in a single part


def beyond_memory(table: Any, settings: StudySettings) -> PartedTable | None:
    """Return a table in parts if its study would take more memory than allowed, None if it fits or is no file.

    A text file that does not fit under a limit that was given is refused.
    """
    if not isinstance(table, str | PathLike):
        return None
    path, limit, encoding = Path(table), MemoryLimit.of(settings.running.memory), settings.reading.encoding
    if settings.reading.strict and encoding == AUTO:
        encoding = "utf-8"
    if path.is_file() and is_text_file(path):
        limit.check_text_file(path)
    if not has_parts(path):
        return None
    n_rows, n_columns = rows_and_columns(path, encoding)
    return None if n_rows <= limit.rows(n_columns) else open_parts(path, encoding)


def large_problem(table: PartedTable, target: Any, settings: StudySettings, steps: Steps) -> tuple[Problem, LargeRows]:
    """Scan a table once; return the problem of a sample of its rows, and how to get at all rows.

    ``target`` is the name of a column.
    """
    limit, reading, splitting = MemoryLimit.of(settings.running.memory), settings.reading, settings.splitting
    limit.check_room(COMPARED_ROWS, len(table.columns), f"A study of {table.source}")
    n_sample = min(MOST_SAMPLED, limit.rows(len(table.columns)))
    named = (reading.index, splitting.group, splitting.time, reading.weight)
    others = [name for name in named if name is not None]
    empty = NamedTable(table.source, pd.DataFrame(columns=list(table.columns)))
    predicted = checked_target(empty, target, (*reading.drop, *others), reading)
    n_batch = int(np.clip(BATCH_SHARE * limit.rows(len(table.columns)), FEWEST_BATCH_ROWS, MOST_BATCH_ROWS))
    held_out, why_none = _held_out(table, settings)

    def scanned() -> Scan:
        sizes = {"n_sample": n_sample, "n_rows": n_batch, "seed": settings.random_state}
        report = steps.within(0.0, 0.02)
        return scan(table, predicted, **sizes, report=report, held_out=held_out, missing=reading.missing)

    found = scanned()
    learned = found.classes.learned
    lost = (learned[name] < max(2, count / 2) for name, count in found.classes.counts.items() if count > 1)
    if held_out and not found.classes.too_many and any(lost):  # a class with less than half of its rows, or only one
        held_out, why_none = (), f"a class would be missing in the other {table.noun}"
        found = scanned()

    def learnable(reading: Reading) -> tuple[Problem, Problem]:
        problems = problem_from_scan(table, found, predicted, reading, splitting, held_out)
        check_learnable(problems[0], settings)
        return problems

    sample, rare_rows = with_suggestion(learnable, reading)
    if sample.kind == "numbers" and predicted in table.texts:
        held_out, why_none = (), "the target is text that was read as numbers"
    rows = LargeRows(
        table=table,
        target=predicted,
        kind=sample.kind,
        classes=frozenset(np.unique(sample.y).tolist()) if sample.kind == "classes" else frozenset(),
        held_out=held_out,
        why_none=why_none,
        rare_rows=rare_rows,
        missing=reading.missing,
        weight=reading.weight,
        n_rows=n_batch,
        n_sampled=len(sample.X),
        n_learnable=sum(found.classes.learned[name] for name in np.unique(sample.y).tolist()),
        room=limit.room,
    )
    return sample, rows


def _held_out(table: PartedTable, settings: StudySettings) -> tuple[tuple[TablePart, ...], str]:
    """Return the parts to hold out, drawn at random; or why there are none."""
    by = settings.splitting
    if by.group is not None or by.time is not None:
        return (), f"rows are held out by {(by.group or by.time)!r}"
    if settings.reading.bins is not None:
        return (), "the classes are bins of the sample"
    n_all = table.n_rows
    order = np.random.default_rng(settings.random_state).permutation(len(table.parts))
    held_out: list[TablePart] = []
    n_held = 0
    for part in (table.parts[place] for place in order):
        limit = LARGEST_HELD_OUT_SHARE * n_all if not held_out else min(HELD_OUT_SHARE * n_all, HELD_OUT_ROWS)
        if n_held + part.n_rows <= limit:
            held_out.append(part)
            n_held += part.n_rows
    parts = counted(len(table.parts), table.noun.removesuffix("s"), table.noun)
    why_none = "" if held_out else f"the table has only {parts}"
    return tuple(sorted(held_out, key=lambda part: part.before)), why_none
