"""Tables that are sent to the studio: written as they arrive, never more than allowed, and checked before use."""

from __future__ import annotations

import gzip
import shutil
import zipfile
import zlib
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from fastapi.concurrency import run_in_threadpool

from whynear.studio.faults import Refused, TooLarge
from whynear.studio.project import Project, file_name
from whynear.studio.store import Row
from whynear.utils.sizes import in_words

MOST_BYTES = 512 << 20  # of a file, also when it is unpacked
MOST_ROWS = 1_000_000
MOST_UNPACKED_BYTES = 2 << 30  # of the numbers of a Parquet file
ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".xlsx")
PIECE_BYTES = 1 << 20
WAY_OUT = "Use the command line for larger tables: whynear study TABLE --memory 2GB."


async def receive_table(project: Project, name: str, announced: int | None, chunks: AsyncIterator[bytes]) -> Row:
    """Write a table that is being sent into the project; nothing of it is left where it is refused.

    ``announced`` is the number of bytes that the request announces, if it does.
    """
    check_ending(name)
    if announced is not None and announced > MOST_BYTES:
        raise _too_large(announced)
    with _new_table(project, name) as row:
        received = 0
        with project.half_of(row).open("wb") as file:
            async for chunk in chunks:
                received += len(chunk)
                if received > MOST_BYTES:
                    raise _too_large(received)
                file.write(chunk)
        return await run_in_threadpool(added, project, row)


def copy_table(project: Project, path: Path) -> Row:
    """Copy a table that the user named into the project; one of the same content is not copied again."""
    if not path.is_file():
        what = "is a folder; the studio takes files" if path.is_dir() else "does not exist"
        raise ValueError(f"{path} {what}. Name a file (CSV, TSV, Parquet, Excel) or a data set.")
    check_ending(path.name)
    for row in project.store.tables():
        if (
            row["name"] == file_name(path.name)
            and row["bytes"] == path.stat().st_size
            and _same(project.folder / row["file"], path)
        ):
            return row
    with _new_table(project, path.name) as row:
        shutil.copyfile(path, project.half_of(row))
        return added(project, row)


@contextmanager
def _new_table(project: Project, name: str) -> Iterator[Row]:
    """Return a new table whose file is to be written; its folder is removed if that fails."""
    row = project.new_table(name)
    try:
        yield row
    except BaseException:
        shutil.rmtree(project.half_of(row).parent, ignore_errors=True)
        raise


def added(project: Project, row: Row) -> Row:
    """Check a table whose file is complete, and add it to the project."""
    check_size(project.half_of(row))
    return project.add_table(row)


def check_ending(name: str) -> None:
    """Refuse a file that is no table by its name."""
    if not name.lower().endswith(ENDINGS):
        raise Refused(f"{name!r} must end in {', '.join(ENDINGS)}. Export the table in one of these formats.")


def check_size(path: Path) -> None:
    """Refuse a table that has too many rows, or too many bytes when it is unpacked, before any of it is parsed."""
    name = path.name.lower()
    if not path.stat().st_size:
        raise Refused(f"{path.name} is empty. Export the table again.")
    if name.endswith(".parquet"):
        _check_parquet(path)
    elif name.endswith(".xlsx"):
        _check_workbook(path)
    else:
        _check_text(path)


def _check_text(path: Path) -> None:
    n_bytes = n_lines = 0
    for piece in _pieces(path):
        n_bytes, n_lines = n_bytes + len(piece), n_lines + piece.count(b"\n")
        if n_bytes > MOST_BYTES:
            raise _too_large(n_bytes)
        if n_lines > MOST_ROWS + 1:
            raise TooLarge(f"{path.name} has more than {MOST_ROWS:,} rows. {WAY_OUT}")


def _pieces(path: Path) -> Iterator[bytes]:
    packed = path.name.lower().endswith(".gz")
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            yield from iter(partial(file.read, PIECE_BYTES), b"")
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Refused(f"{path.name} is no whole gzip file ({error}). Compress it again.") from None


def _check_parquet(path: Path) -> None:
    from whynear.tables.parquet import parquet_facts  # here, since it imports pandas

    facts = parquet_facts(path)
    if facts.n_rows > MOST_ROWS:
        raise TooLarge(f"{path.name} has {facts.n_rows:,} rows, and at most {MOST_ROWS:,} are taken. {WAY_OUT}")
    if (n_bytes := 8 * facts.n_rows * len(facts.names)) > MOST_UNPACKED_BYTES:
        raise TooLarge(f"{path.name} has {in_words(n_bytes)} when it is read. {WAY_OUT}")


def _check_workbook(path: Path) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            n_bytes = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError) as error:
        raise Refused(f"{path.name} is no Excel file ({error}). Export it again as .xlsx.") from None
    if n_bytes > MOST_BYTES:
        raise _too_large(n_bytes)


def _too_large(n_bytes: int) -> TooLarge:
    return TooLarge(f"The table has {in_words(n_bytes)}, and the studio takes {in_words(MOST_BYTES)}. {WAY_OUT}")


def _same(first: Path, second: Path) -> bool:
    if not first.is_file():
        return False
    with first.open("rb") as one, second.open("rb") as other:
        pairs = zip(
            iter(partial(one.read, PIECE_BYTES), b""), iter(partial(other.read, PIECE_BYTES), b""), strict=False
        )
        return all(some == others for some, others in pairs)
