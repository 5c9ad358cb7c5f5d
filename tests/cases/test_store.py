"""Files that are missing, foreign, damaged, too new, full or read-only; caches that are wrong."""

import os
import shutil
import sqlite3

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from whynear import DiagonalMetric, LinearMetric, LocalMetric
from whynear.cases import database, index_cache
from whynear.cases.case_base import CaseBase
from whynear.cases.index_file import map_arrays, write_arrays
from whynear.cases.store_faults import CaseBaseError
from whynear.metric import Metric

METRIC = DiagonalMetric([1.0, 2.0], ["a", "b"])


def filled(path, n=100, seed=0):
    with CaseBase(path, METRIC) as base:
        base.add(np.random.default_rng(seed).standard_normal((n, 2)), [{"row": row} for row in range(n)])
    return path


def test_a_path_without_a_base_is_refused(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"must be a file, got a folder"):
        CaseBase(tmp_path, METRIC)
    with pytest.raises(FileNotFoundError, match=r"nowhere does not exist.*give a metric"):
        CaseBase(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*none"):
        CaseBase(tmp_path / "none" / "base", METRIC)
    assert os.listdir(tmp_path) == []


def test_files_of_others_are_named_and_left_alone(tmp_path):
    text, other = tmp_path / "notes.txt", tmp_path / "other.db"
    text.write_text("not a data base, but long enough to be read as one: " + 100 * "x")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE cases (id INTEGER)")
    before = text.read_bytes(), other.read_bytes()
    for metric in (None, METRIC):
        with pytest.raises(CaseBaseError, match=r"notes.txt is no case base: it is not an SQLite file"):
            CaseBase(text, metric)
        with pytest.raises(CaseBaseError, match=r"other.db is no case base: it is an SQLite file of another program"):
            CaseBase(other, metric)
    assert (text.read_bytes(), other.read_bytes()) == before


@pytest.mark.parametrize(("version", "remedy"), [(7, "pip install --upgrade whynear"), (0, "make it again")])
def test_other_formats_are_refused(tmp_path, version, remedy):
    path = filled(tmp_path / "base")
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(CaseBaseError, match=rf"base has format {version}, and this version reads format 1; {remedy}"):
        CaseBase(path)


def test_an_empty_file_becomes_a_base_only_with_a_metric(tmp_path):
    path = tmp_path / "base"
    path.touch()
    with pytest.raises(CaseBaseError, match=r"holds no case base yet"):
        CaseBase(path)
    with CaseBase(path, METRIC) as base:
        assert len(base) == 0


def test_a_damaged_file_is_named(tmp_path):
    path = filled(tmp_path / "base", n=5000)
    content = bytearray(path.read_bytes())
    content[8192 : len(content) // 2] = os.urandom(len(content) // 2 - 8192)
    path.write_bytes(content)
    with pytest.raises(CaseBaseError, match=r"base .*damaged"), CaseBase(path) as base:
        base.retrieve([0.0, 0.0])


@pytest.mark.parametrize(
    ("damage", "fact"),
    [
        ("UPDATE cases SET vector = x'00' WHERE id = 7", "case 7 has another length"),
        ("UPDATE cases SET payload = '{' WHERE id = 7", "a payload"),
        ("UPDATE metric_arrays SET content = zeroblob(16)", "its metric is not what was stored"),
        ("UPDATE metric SET kind = 'Nonsense'", "its metric"),
        ("DELETE FROM changes", "it has no state"),
    ],
)
def test_damaged_content_is_named(tmp_path, damage, fact):
    path = filled(tmp_path / "base")
    with sqlite3.connect(path) as connection:
        connection.execute(damage)
    with pytest.raises(CaseBaseError, match=rf"base is damaged \({fact}"), CaseBase(path) as base:
        base.retrieve([0.0, 0.0], k=100)


def test_a_full_disk_leaves_the_old_state(tmp_path):
    path = filled(tmp_path / "base")
    with CaseBase(path) as base:
        before = base.generation
        base._store.database.execute(f"PRAGMA max_page_count = {os.path.getsize(path) // 4096 + 5}")
        with pytest.raises(
            OSError,
            match=r"disk is full.*about 400000 bytes, \d+ bytes are free there, and .* as it was",
        ):
            base.add(np.ones((50_000, 2)))
        assert (base.generation, len(base)) == (before, 100)
        assert_array_equal(base.add([[1.0, 1.0]]), [101])


def test_an_interrupt_leaves_the_old_state(tmp_path, monkeypatch):
    with CaseBase(filled(tmp_path / "base")) as base:

        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr(base._store, "_record", interrupted)
        with pytest.raises(KeyboardInterrupt):
            base.add([[1.0, 1.0]])
        monkeypatch.undo()
        assert len(base) == 100
        assert_array_equal(base.add([[1.0, 1.0]]), [101])


def test_what_may_not_be_written_can_be_read(tmp_path, monkeypatch):
    path = filled(tmp_path / "base")
    files = set(os.listdir(tmp_path))
    monkeypatch.setattr(database.os, "access", lambda *_: False)  # the superuser may write anywhere
    with CaseBase(path) as base:
        assert len(base.retrieve([0.0, 0.0])) == 10
        for change in (lambda: base.add([[1.0, 1.0]]), lambda: base.remove([1]), base.compact):
            with pytest.raises(PermissionError, match=r"base cannot be written. Change the permissions"):
                change()
    assert set(os.listdir(tmp_path)) == files


def test_a_closed_base_says_so(tmp_path):
    base = CaseBase(tmp_path / "base", METRIC)
    base.close()
    base.close()
    for use in (lambda: base.add([[1.0, 1.0]]), lambda: base.retrieve([0.0, 0.0]), lambda: len(base)):
        with pytest.raises(ValueError, match=r"was closed. Open it again"):
            use()


def test_a_metric_that_cannot_be_stored_makes_no_file(tmp_path):
    class Odd(LinearMetric):
        pass

    assert issubclass(Odd, Metric)
    with pytest.raises(TypeError, match=r"Odd cannot be stored"):
        CaseBase(tmp_path / "base", Odd(np.eye(2)))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("metric", [METRIC, LinearMetric([[1.0, 2.0]], scale=[2.0, 3.0]), None])
def test_the_stored_metric_is_the_one_given(tmp_path, metric):
    metric = metric or LocalMetric(np.eye(2), omegas=np.ones((2, 1, 2)), feature_names=["é", "b\n"])
    with CaseBase(tmp_path / "base", metric):
        pass
    with CaseBase(tmp_path / "base") as base:
        assert base.metric == metric
        assert base.columns == metric.feature_names


@pytest.fixture
def indexed(tmp_path, monkeypatch):
    """A base with an index file beside it."""
    monkeypatch.setattr(index_cache, "FEWEST_CASES_KEPT", 10)
    path = filled(tmp_path / "base")
    with CaseBase(path) as base:
        base.retrieve([0.0, 0.0])
    return path


def answer(path):
    with CaseBase(path) as base:
        return base.retrieve([0.1, 0.2]).ids.tolist()


def truth(path):
    with CaseBase(path) as base:
        block = next(base.blocks(10**6))
        sq = base.metric.sq_distances([[0.1, 0.2]], block.X)[0]
        return block.ids[np.lexsort((block.ids, sq))[:10]].tolist()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda content: content[:-100] + bytes(100),
        lambda content: b"",
        lambda content: b"nonsense" * 1000,
        lambda content: content.replace(b"<f4", b"<f8"),
        lambda content: content[:14] + b"\xff" * 8 + content[22:],
        lambda content: content[:22] + b"[" * 50_000,
    ],
)
def test_a_damaged_index_is_made_anew(indexed, damage):
    index = indexed.with_name("base-index")
    index.write_bytes(damage(index.read_bytes()))
    assert answer(indexed) == truth(indexed)
    map_arrays(index)  # whole again


def test_the_index_of_a_copy_that_went_another_way_is_not_used(indexed, tmp_path):
    backup = tmp_path / "backup"
    shutil.copy(indexed, backup)
    with CaseBase(indexed) as base:
        base.add(np.zeros((50, 2)))
        base.retrieve([0.0, 0.0])
    shutil.copy(backup, indexed)
    with CaseBase(indexed) as base:
        base.add(np.full((50, 2), 0.1))
    assert answer(indexed) == truth(indexed)


def test_the_index_of_an_earlier_base_of_that_name_is_not_used(indexed):
    indexed.unlink()
    filled(indexed, seed=5)
    assert answer(indexed) == truth(indexed)


def test_removed_cases_leave_the_index_file(indexed):
    with CaseBase(indexed) as base:
        base.retrieve([0.0, 0.0])
        base.remove([5, 6])
        assert not indexed.with_name("base-index").exists()
    assert answer(indexed) == truth(indexed)


def test_an_index_that_cannot_be_written_stays_in_memory(indexed, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    indexed.with_name("base-index").unlink()
    monkeypatch.setattr(index_cache, "write_arrays", full)
    assert answer(indexed) == truth(indexed)
    assert not indexed.with_name("base-index").exists()


def test_the_index_is_no_more_public_than_the_base(indexed):
    index = indexed.with_name("base-index")
    index.unlink()
    indexed.chmod(0o600)
    answer(indexed)
    assert index.stat().st_mode & 0o777 == 0o600


def test_removed_cases_are_wiped_out_by_compacting(tmp_path):
    secret = np.array([[1.2345678e5, 7.654321e4]])
    with CaseBase(filled(tmp_path / "base"), METRIC) as base:
        ids = base.add(secret, [{"name": "somebody in particular"}])
        base.remove(ids)
        base.compact()
    content = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert secret.astype("<f4").tobytes() not in content
    assert b"somebody in particular" not in content


def test_arrays_come_back_as_they_were_written(tmp_path):
    arrays = {"ids": np.arange(5), "terms": np.ones((5, 3), np.float32), "empty": np.empty((0, 2))}
    write_arrays(tmp_path / "file", {"state": 3}, arrays)
    key, mapped = map_arrays(tmp_path / "file")
    assert key == {"state": 3}
    for name, array in arrays.items():
        assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
        assert not mapped[name].flags.writeable
