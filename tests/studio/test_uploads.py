import asyncio
import zipfile

import pandas as pd
import pytest

from whynear.studio import project as uploads
from whynear.studio.project import Project
from whynear.studio.store import Refused, TooLarge


@pytest.fixture
def project(tmp_path):
    made = Project(tmp_path / "project")
    yield made
    made.close()


async def chunks(*parts):
    for part in parts:
        yield part


def receive(project, name, announced, *parts):
    return asyncio.run(uploads.receive_table(project, name, announced, chunks(*parts)))


def test_an_announced_excess_is_refused_before_anything_is_read(project):
    async def never():
        raise AssertionError("it must not be read")
        yield b""

    with pytest.raises(TooLarge, match=r"5\.4 GB"):
        asyncio.run(uploads.receive_table(project, "x.csv", 5 << 30, never()))
    assert not (project.folder / "tables").exists()


def test_a_sender_that_breaks_off_leaves_nothing(project):
    async def broken():
        yield b"a,b\n"
        raise ConnectionError

    with pytest.raises(ConnectionError):
        asyncio.run(uploads.receive_table(project, "x.csv", None, broken()))
    assert not list((project.folder / "tables").iterdir())
    assert project.store.tables() == []


def test_too_many_rows_are_refused(project, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_ROWS", 10)
    receive(project, "x.csv", None, b"a\n" * 11)
    with pytest.raises(TooLarge, match="more than 10 rows"):
        receive(project, "x.csv", None, b"a\n" * 12)


def test_a_workbook_that_unpacks_to_too_much_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 10_000)
    path = tmp_path / "bomb.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * 100_000)
    assert path.stat().st_size < 10_000
    with pytest.raises(TooLarge):
        uploads.check_size(path)


def test_a_parquet_file_is_counted_by_its_end(tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": range(100), "b": 1.0}).to_parquet(path)
    uploads.check_size(path)
    monkeypatch.setattr(uploads, "MOST_ROWS", 99)
    with pytest.raises(TooLarge, match="100 rows"):
        uploads.check_size(path)
    monkeypatch.setattr(uploads, "MOST_ROWS", 100)
    monkeypatch.setattr(uploads, "MOST_UNPACKED_BYTES", 1000)
    with pytest.raises(TooLarge, match="when it is read"):
        uploads.check_size(path)


@pytest.mark.parametrize("name", ["cases.csv", ".hidden cases.csv", f"{'long' * 40}.csv"])
def test_a_file_is_copied_once(project, tmp_path, name):
    path = tmp_path / name
    path.write_text("a,b\n1,2\n")
    first = uploads.copy_table(project, path)
    assert uploads.copy_table(project, path) == first
    path.write_text("a,b\n1,3\n")
    assert uploads.copy_table(project, path)["id"] != first["id"]


def test_what_cannot_be_copied_is_named(project, tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        uploads.copy_table(project, tmp_path)
    with pytest.raises(ValueError, match="does not exist"):
        uploads.copy_table(project, tmp_path / "none.csv")
    (tmp_path / "x.pickle").write_bytes(b"x")
    with pytest.raises(Refused, match="must end in"):
        uploads.copy_table(project, tmp_path / "x.pickle")


def test_a_copy_that_is_refused_leaves_nothing(project, tmp_path):
    (tmp_path / "empty.csv").touch()
    with pytest.raises(Refused, match="is empty"):
        uploads.copy_table(project, tmp_path / "empty.csv")
    assert not list((project.folder / "tables").iterdir())
    assert project.store.tables() == []
