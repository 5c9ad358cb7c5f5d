"""A folder of files that together are one table: Parquet files, or text files of one header."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from whynear.data.cells import as_text, holds_strings
from whynear.data.parquet import joined, parquet_facts
from whynear.data.text_files import DELIMITERS, delimiter_of
from whynear.utils.columns import is_default
from whynear.utils.text import counted, listed

PARQUET = ".parquet"
TEXT = "text"
_HIDDEN = (".", "_")  # first letters of the files that Spark and others add, such as _SUCCESS
_NUMBER = re.compile(r"(\d+)")


def name_of_folder(folder: Path) -> str:
    """Return the name of a folder in messages and reports, with a slash."""
    return f"{folder.resolve().name}/"


def files_of_table(folder: Path) -> tuple[list[Path], list[str]]:
    """Return the files of a folder that hold its table, in order, and notes on others.

    Numbers within names count as numbers: ``part-2`` comes before ``part-10``.
    """
    shown = sorted((path for path in folder.iterdir() if not path.name.startswith(_HIDDEN)), key=_in_order)
    for path in shown:
        if path.is_dir() and (held := [inner for inner in path.iterdir() if _kind(inner)]):
            raise ValueError(
                f"{folder} holds the folder {path.name!r} with tables of its own, such as {held[0].name!r}. "
                "Move all files of the table into one folder."
            )
    files = [path for path in shown if path.is_file() and _kind(path)]
    others = [path.name for path in shown if path not in files]
    if not files:
        found = f"got {listed(others)}" if others else "got an empty folder"
        raise ValueError(
            f"{folder} must hold Parquet files ({PARQUET}) or text files ({', '.join(DELIMITERS)}, "
            f"each also with .gz), {found} instead. Name a folder with files of one table, or a file."
        )
    kinds = {_kind(path): path for path in reversed(files)}
    if len(kinds) > 1:
        one, another = list(kinds.values())[-2:]
        raise ValueError(
            f"{folder} holds files of different kinds, such as {one.name!r} and {another.name!r}. Keep the files of "
            "one table and of one kind in the folder."
        )
    left_out = f"{counted(len(others), 'file', 'files')} of the folder that can hold no part of the table"
    return files, [f"{left_out} {'was' if len(others) == 1 else 'were'} left out: {listed(others)}."] if others else []


def parquet_files_with_rows(files: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """Return the Parquet files that have rows, and a note on those that have none."""
    empty = [path for path in files if not parquet_facts(path).n_rows]
    if len(empty) == len(files):
        raise ValueError(f"{files[0].parent} must hold rows, got only files without any instead. Export it again.")
    note = f"Files without rows were left out: {listed([path.name for path in empty])}."
    return [path for path in files if path not in empty], [note] if empty else []


def check_same_header(first: Path, expected: Sequence[str], other: Path, names: Sequence[str]) -> None:
    """Refuse a file whose columns are not those of the first one; their order may differ."""
    lacking = [name for name in expected if name not in set(names)]
    surplus = [name for name in names if name not in set(expected)]
    facts = [f"lacks {listed(lacking)}"] * bool(lacking) + [f"has the further {listed(surplus)}"] * bool(surplus)
    if facts:
        raise ValueError(
            f"{other} {' and '.join(facts)}, compared with {first.name}. All files of a folder must have the same "
            "columns: correct this file, or move it elsewhere."
        )


def check_same_kinds(first: Path, expected: dict[str, str | None], other: Path, kinds: dict[str, str | None]) -> None:
    """Refuse a Parquet file with a column of another type than in the first one."""
    for name, kind in kinds.items():
        if None not in (kind, expected[name]) and kind != expected[name]:
            raise ValueError(
                f"{other} holds {kind} in column {name!r}, and {first.name} holds {expected[name]}. Export the files "
                "again with one type for the column."
            )


def joined_files(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Return the rows of the files of a folder as one table."""
    pieces = {name: _in_one_kind([frame[name] for frame in frames]) for name in frames[0].columns}
    whole = pd.DataFrame({name: joined(parts) for name, parts in pieces.items()})
    if all(is_default(frame.index) for frame in frames):
        return whole
    return whole.set_axis(frames[0].index.append([frame.index for frame in frames[1:]]), axis=0)


def check_alike(files: Sequence[Path]) -> None:
    """Refuse Parquet files whose columns differ in name or type, or of which some are the index."""
    first = parquet_facts(files[0])
    for path in files[1:]:
        facts = parquet_facts(path)
        check_same_header(files[0], first.names, path, facts.names)
        if facts.index != first.index:
            held = [f"the index {listed(index)}" if index else "no index" for index in (facts.index, first.index)]
            raise ValueError(
                f"{path} has {held[0]}, and {files[0].name} has {held[1]}. Export the files again, all with the same "
                "index or all without one."
            )
        kinds = dict(zip(first.names, first.kinds, strict=True)), dict(zip(facts.names, facts.kinds, strict=True))
        check_same_kinds(files[0], kinds[0], path, kinds[1])


def _in_one_kind(parts: list[pd.Series]) -> list[pd.Series]:
    """Return the pieces of a column as text if one holds text: a sign such as '?' may stand in a single file."""
    texts = [holds_strings(part) for part in parts]
    if all(texts) or not any(texts):
        return parts
    return [
        part if is_text or isinstance(part.dtype, pd.CategoricalDtype) else as_text(part)
        for part, is_text in zip(parts, texts, strict=True)
    ]


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Raise errors that name a file or folder which may not be read."""
    try:
        yield
    except PermissionError as error:
        if error.errno is None:  # a file of the folder is named
            raise
        raise PermissionError(f"{path} must be readable; it is not. Change its permissions.") from None


def is_text_file(path: Path) -> bool:
    """Return whether a file holds a table as text."""
    return _kind(path) == TEXT


def _kind(path: Path) -> str | None:
    """Return the kind of a file of a table; all text files are of one kind."""
    if path.suffix.lower() == PARQUET:
        return PARQUET
    return TEXT if delimiter_of(path) is not None else None


def _in_order(path: Path) -> tuple[list[tuple[int, int | str]], str]:
    words = _NUMBER.split(path.name)
    return [(0, int(word)) if word.isdecimal() else (1, word) for word in words if word], path.name
