import asyncio
import errno
import sqlite3
import zipfile

import pandas as pd
import pytest

from whynear.studio import project as uploads
from whynear.studio.project import Project
from whynear.studio.store import FORMAT, NotFound, Refused, Store, TooLarge, WrongState

STUDY = {"id": "a", "name": "n", "source": "s", "table_id": None, "example": "iris", "target": "t", "state": "waiting"}


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "state.db")
    yield store
    store.close()


def with_study(store, **others):
    store.add_study({**STUDY, "settings": {"folds": 3}, **others})
    return store


def test_a_study_is_read_as_it_was_written_by_another_connection_too(store):
    with_study(store)
    store.add_part("a", "comparison", {"chosen": "gmlvq"})
    store.mark("a", 5, "b", True)
    other = Store(store.path)
    assert other.study("a")["settings"] == {"folds": 3}
    assert other.parts("a") == {"comparison": {"chosen": "gmlvq"}}
    assert other.marks("a") == [(5, "b", True)]
    other.close()


def test_every_change_raises_the_revision(store):
    before = with_study(store).study("a")["revision"]
    store.change_study("a", share=0.5)
    store.add_part("a", "model", {})
    assert store.study("a")["revision"] == before + 2


def test_a_change_is_made_only_in_the_states_that_are_named(store):
    with_study(store)
    assert not store.change_study("a", only_in=("running",), state="finished")
    assert store.study("a")["state"] == "waiting"
    assert store.change_study("a", only_in=("waiting", "running"), state="finished")


def test_the_last_mark_is_taken_back_and_a_second_one_of_a_pair_replaces_the_first(store):
    with_study(store)
    for case, alike in (("x", True), ("y", False), ("x", False)):
        store.mark("a", "q", case, alike)
    assert store.marks("a") == [("q", "y", False), ("q", "x", False)]
    store.unmark("a")
    assert store.marks("a") == [("q", "y", False)]


def test_parts_and_marks_go_with_their_study(store):
    with_study(store)
    store.add_part("a", "model", {})
    store.mark("a", 1, 2, True)
    store.remove_study("a")
    with_study(store)
    assert store.parts("a") == {}
    assert store.marks("a") == []


@pytest.mark.parametrize("ask", [Store.study, Store.table])
def test_what_is_not_there_is_named(store, ask):
    with pytest.raises(NotFound, match="'none'"):
        ask(store, "none")


def test_a_name_is_a_value_and_never_a_statement(store):
    with_study(store, id="x'; DROP TABLE studies; --")
    assert [row["id"] for row in store.studies()] == ["x'; DROP TABLE studies; --"]


def test_a_file_of_a_newer_version_is_refused(store):
    store.close()
    connection = sqlite3.connect(store.path)
    connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    connection.close()
    with pytest.raises(ValueError, match="pip install --upgrade"):
        Store(store.path)
    Store.__init__(store, store.path.with_name("fresh.db"))  # for the fixture to close


def test_the_newest_come_first(store):
    with_study(store)
    with_study(store, id="b")
    assert [row["id"] for row in store.studies()] == ["b", "a"]


def test_a_full_disk_is_named_and_nothing_of_the_change_is_kept(store, tmp_path):
    with_study(store)
    (pages,) = store._connection.execute("PRAGMA page_count").fetchone()
    store._connection.execute(f"PRAGMA max_page_count = {pages}")  # as if the disk were full
    with pytest.raises(OSError, match=r"state\.db .* full\)\. Free some space on the disk, or choose") as fault:
        store.add_part("a", "comparison", {"text": "x" * 100_000})
    assert fault.value.errno == errno.ENOSPC
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.parts("a") == {}
    store.add_part("a", "comparison", {"text": "x" * 100_000})


def test_a_file_that_is_no_state_is_refused_by_name(tmp_path):
    (tmp_path / "state.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(ValueError, match=r"state\.db is damaged \(.* not a database\)\. Restore a copy"):
        Store(tmp_path / "state.db")


def test_a_folder_in_the_place_of_the_state_is_refused_by_name(tmp_path):
    (tmp_path / "state.db").mkdir()
    with pytest.raises(OSError, match=r"state\.db could not .* \(unable to open .* permissions"):
        Store(tmp_path / "state.db")


def test_every_change_is_on_the_disk_when_it_is_acknowledged(store):
    assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL: also after a power cut


def test_each_refusal_has_its_status():
    assert [kind("why").status for kind in (Refused, NotFound, WrongState, TooLarge)] == [400, 404, 409, 413]


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
