"""Studies of tables that do not fit in memory: which do not, and what of them is read, sampled and held out."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from whynear.study.large_rows import LargeRows
from whynear.study.learnable import check_learnable
from whynear.study.memory_limit import MemoryLimit
from whynear.study.methods import LEARNED_ROWS
from whynear.study.progress import Steps
from whynear.study.settings import COMPARED_ROWS, StudySettings
from whynear.tables.column_names import checked_target
from whynear.tables.folder import is_text_file
from whynear.tables.large_problem import problem_from_scan
from whynear.tables.parts import PartedTable, TablePart, has_parts, open_parts, rows_and_columns
from whynear.tables.problem import Problem
from whynear.tables.reading import NamedTable
from whynear.tables.refusal import with_suggestion
from whynear.tables.scan import Scan, scan
from whynear.tables.settings import Reading
from whynear.tables.text_encoding import AUTO
from whynear.utils.text import counted

MOST_SAMPLED = max(LEARNED_ROWS.values())  # rows
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
        return scan(
            table,
            predicted,
            n_sample=n_sample,
            seed=settings.random_state,
            n_rows=n_batch,
            report=steps.within(0.0, 0.02),
            held_out=held_out,
            missing=reading.missing,
        )

    found = scanned()
    if held_out and _loses_a_class(found):
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


def _loses_a_class(found: Scan) -> bool:
    """Return whether a class has less than half of its rows, or a single one, outside the parts that are held out."""
    counts, learned = found.classes.counts, found.classes.learned
    return not found.classes.too_many and any(
        learned[name] < max(2, count / 2) for name, count in counts.items() if count > 1
    )
