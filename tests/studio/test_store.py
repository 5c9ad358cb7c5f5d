import errno
import sqlite3

import pytest

from whynear.studio.store import FORMAT, NotFound, Store

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
    with pytest.raises(
        OSError, match=r"state\.db could not .* full\)\. Free some space on the disk, or choose"
    ) as fault:
        store.add_part("a", "comparison", {"text": "x" * 100_000})
    assert fault.value.errno == errno.ENOSPC
    store._connection.execute("PRAGMA max_page_count = 1000000")
    assert store.parts("a") == {}
    store.add_part("a", "comparison", {"text": "x" * 100_000})


def test_a_file_that_is_no_state_is_refused_by_name(tmp_path):
    (tmp_path / "state.db").write_bytes(b"nonsense" * 1000)
    with pytest.raises(ValueError, match=r"state\.db is damaged \(file is not a database\)\. Restore a copy"):
        Store(tmp_path / "state.db")


def test_a_folder_in_the_place_of_the_state_is_refused_by_name(tmp_path):
    (tmp_path / "state.db").mkdir()
    with pytest.raises(
        OSError, match=r"state\.db could not be read or written \(unable to open .* permissions, or choose"
    ):
        Store(tmp_path / "state.db")


def test_every_change_is_on_the_disk_when_it_is_acknowledged(store):
    assert store._connection.execute("PRAGMA synchronous").fetchone()[0] == 2  # FULL: also after a power cut
