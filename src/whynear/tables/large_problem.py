"""From the scan of a table that does not fit in memory to the problem of its sample, true for all rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from whynear.tables.caveats import filled_in
from whynear.tables.parquet import name_of_index
from whynear.tables.parts import PartedTable, TablePart
from whynear.tables.preview import WholeTable
from whynear.tables.problem import Problem, problem_from
from whynear.tables.reading import NamedTable
from whynear.tables.refusal import TableRefused
from whynear.tables.row_sample import joined_rows
from whynear.tables.rows import ROW_NUMBERS, names_in, note_on_repeated_names, note_on_unnamed
from whynear.tables.scan import MOST_CLASSES_COUNTED, Scan
from whynear.tables.settings import Reading, Splitting
from whynear.tables.target import class_names, is_missing, unusable_target
from whynear.tables.written_numbers import written_numbers
from whynear.utils.text import counted


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
        raise _about_these_rows(error, len(frame), table) from None
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


def _about_these_rows(error: ValueError, n_rows: int, table: PartedTable) -> ValueError:
    """Return the refusal with the number of rows that it counts."""
    if not n_rows < table.n_rows:
        return error
    message = f"{error} Counts are those of {n_rows:,} of the {table.n_rows:,} rows."
    return TableRefused(message, **error.settings) if isinstance(error, TableRefused) else ValueError(message)


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
