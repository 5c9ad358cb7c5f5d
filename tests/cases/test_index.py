import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.case_bases import cases, filled, metrics, slow_nearest
from tests.helpers.disk_order import steps_on_disk
from whynear.cases import index
from whynear.cases import index as index_cache
from whynear.cases.case_base import CaseBase
from whynear.cases.index import map_arrays, write_arrays
from whynear.utils import files


@pytest.mark.parametrize("kind", ["linear", "third"])
def test_long_lists_are_measured_in_blocks(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(index, "MOST_BYTES_KEPT", 100)
    X = cases(20_000)
    metric = metrics(cases())[kind]
    with CaseBase(tmp_path / "base", metric) as base:
        base.add(X)
        for query in (X[0], 1e6 * X[0]):
            ids, sq = slow_nearest(metric, X.astype(np.float32).astype(float), query, 500)
            found = base.retrieve(query, k=500)
            assert_array_equal(found.ids, ids)
            assert_array_equal(found.sq_distances, sq)


@pytest.mark.parametrize("kind", ["linear", "sparse", "third"])
def test_an_index_that_grew_finds_what_a_new_one_finds(tmp_path, eager_files, kind):
    X, metric = cases(400), metrics(cases())[kind]
    growing = CaseBase(tmp_path / "growing", metric)
    for start in range(0, 400, 40):
        growing.add(X[start : start + 40] * (1 + start))  # far beyond the unit of the first ones
        growing.add(X[start : start + 2])
        found = growing.retrieve(X[0], k=9)
        with CaseBase(tmp_path / "growing") as fresh:
            (tmp_path / "growing-index").unlink()
            assert_array_equal(fresh.retrieve(X[0], k=9).ids, found.ids)
    assert (tmp_path / "growing-index").exists()


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


def test_removed_cases_leave_the_index_file(indexed, monkeypatch):
    with CaseBase(indexed) as base:
        base.retrieve([0.0, 0.0])
        steps = steps_on_disk(monkeypatch)
        base.remove([5, 6])
        assert not indexed.with_name("base-index").exists()
        assert steps[-1] == ("sync", indexed.parent.name)  # a power cut does not bring it back
    assert answer(indexed) == truth(indexed)


def test_removed_cases_leave_what_a_killed_process_wrote_of_the_index(indexed, monkeypatch):
    class Killed(BaseException):
        """Ends a process where it stands."""

    def killed(*_):
        raise Killed

    index, beside = indexed.with_name("base-index"), set(indexed.parent.iterdir())
    index.unlink()
    with monkeypatch.context() as patch, CaseBase(indexed) as base:
        patch.setattr(files.os, "replace", killed)
        patch.setattr(files.os, "unlink", killed)
        with pytest.raises(Killed):
            base.retrieve([0.0, 0.0])
    assert any(path.name.startswith(".base-index.") for path in indexed.parent.iterdir())
    with CaseBase(indexed) as base:
        base.remove([5, 6])
    assert set(indexed.parent.iterdir()) <= beside


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


def test_arrays_come_back_as_they_were_written(tmp_path):
    arrays = {"ids": np.arange(5), "terms": np.ones((5, 3), np.float32), "empty": np.empty((0, 2))}
    write_arrays(tmp_path / "file", {"state": 3}, arrays)
    key, mapped = map_arrays(tmp_path / "file")
    assert key == {"state": 3}
    for name, array in arrays.items():
        assert_array_equal(mapped[name], array)
        assert mapped[name].dtype == array.dtype
        assert not mapped[name].flags.writeable


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda content: b"x" + content[1:], "no index file"),
        (lambda content: content[:-1] + bytes([content[-1] ^ 1]), "checksum"),
        (lambda content: content + b"x", "checksum"),
        (lambda content: content.replace(b"<f8", b"<f2"), "does not describe arrays"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path, damage, error):
    path = tmp_path / "file"
    write_arrays(path, {"state": 3}, {"a": np.arange(5.0)})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=error):
        map_arrays(path)
