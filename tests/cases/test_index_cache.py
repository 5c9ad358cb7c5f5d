import shutil

import numpy as np
import pytest

from tests.helpers.case_bases import filled
from tests.helpers.disk_order import steps_on_disk
from whynear.cases import index as index_cache
from whynear.cases.case_base import CaseBase
from whynear.cases.index import map_arrays
from whynear.utils import files


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
