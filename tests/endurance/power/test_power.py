"""Some of the power cuts of ``python -m tests.endurance.power``, and proof that they find what is not safe."""

import pytest

from tests.endurance.power import work
from tests.endurance.power.disk import Disk, Made, Moved, Recording, Removed, Resized, Said, Synced, Written, cuts
from tests.endurance.power.recording import IS_POSSIBLE, Recorder
from tests.endurance.power.trials import TRIALS, Trial, run

needs_tracing = pytest.mark.skipif(not IS_POSSIBLE, reason="needs Linux, to stop processes at their system calls")

SLOW = [pytest.param(name, 60, marks=pytest.mark.slow) for name in TRIALS]


@pytest.fixture(scope="module")
def recorder():
    with Recorder() as recorder:
        yield recorder


@needs_tracing
@pytest.mark.parametrize(("name", "count"), [("model", 40), ("case_base", 25), ("studio", 25), *SLOW])
@pytest.mark.usefixtures("blank_figures")
def test_after_a_power_cut_all_that_was_acknowledged_is_there_and_every_file_is_whole(recorder, tmp_path, name, count):
    assert run(TRIALS[name](tmp_path), recorder, tmp_path, count, seed=1).startswith(f"{count} power cuts")


@needs_tracing
def test_a_file_that_is_not_synced_is_found(recorder, tmp_path):
    trial = Trial(work.save_unsafely, work.check_model, work.save_first)
    with pytest.raises(AssertionError, match=r"after a power cut at operation .* it is damaged"):
        run(trial, recorder, tmp_path, 40, seed=1)


@needs_tracing
def test_a_case_base_that_is_not_synced_is_found(recorder, tmp_path):
    trial = Trial(work.change_cases, work.check_cases, arguments=("NORMAL",))
    with pytest.raises(AssertionError, match=r"after a power cut at operation .* cases instead of"):
        run(trial, recorder, tmp_path, 40, seed=1)


def do_everything(folder, say):
    path = f"{folder}/a"
    with open(path, "wb") as file:
        file.write(b"12345678")
        file.flush()
        work.os.fsync(file.fileno())
        file.seek(2)
        file.write(b"xy")
        file.truncate(6)
    work.os.mkdir(f"{folder}/b")
    work.os.rename(path, f"{folder}/b/c")
    say(["moved", 1])
    work.os.remove(f"{folder}/old")


@needs_tracing
def test_what_a_process_does_is_recorded(recorder, tmp_path):
    (tmp_path / "old").write_bytes(b"before")
    found = recorder.recorded(do_everything, tmp_path)
    assert (found.files, found.folders) == ({1: b"before"}, {0: {"old": 1}})
    assert found.operations == [
        Made(0, "a", 2, False),
        Written(2, 0, b"12345678"),
        Synced(2),
        Written(2, 2, b"xy"),
        Resized(2, 6),
        Made(0, "b", 3, True),
        Moved(0, "a", 3, "c", 2),
        Said(["moved", 1]),
        Removed(0, "old"),
    ]


def left_by(recording, count, folder):
    """What many power cuts leave: the content of files by their paths, with what was acknowledged."""
    return {
        (
            len(cut.said),
            *sorted((str(path.relative_to(left)), path.read_bytes()) for path in left.rglob("*") if path.is_file()),
        )
        for cut, left in cuts(recording, count, 0, folder)
    }


def test_a_power_cut_leaves_what_is_certain_and_any_part_of_the_rest(tmp_path):
    """A file is replaced by one that is synced, but its name is not until later."""
    new = [Made(0, "new", 2, False), Written(2, 0, b"new!"), Synced(2), Moved(0, "new", 0, "file", 2)]
    found = left_by(Recording({1: b"old"}, {0: {"file": 1}}, [*new, Synced(0), Said(1)]), 200, tmp_path)
    old, both = ("file", b"old"), {("new", content) for content in (b"", b"new!", bytes(4))}
    assert found == {(0, old), (1, ("file", b"new!")), (0, ("file", b"new!")), *((0, old, half) for half in both)}


def test_a_power_cut_tears_what_is_written_at_sectors(tmp_path):
    before, after = b"a" * 2048, b"b" * 2048
    found = left_by(Recording({1: before}, {0: {"file": 1}}, [Written(1, 0, after)]), 500, tmp_path)
    contents = {state[1][1] for state in found}
    assert {before, after, b"b" * 512 + b"a" * 1536, b"a" * 1536 + b"b" * 512} <= contents
    assert all(content[i : i + 512] in (b"a" * 512, b"b" * 512) for content in contents for i in range(0, 2048, 512))


def test_a_file_is_cut_short_completely_or_not_at_all(tmp_path):
    """Else a log of SQLite that was moved into its file could be there in part."""
    found = left_by(
        Recording({1: b"a" * 1024}, {0: {"file": 1}}, [Resized(1, 0), Written(1, 0, b"b" * 512)]), 99, tmp_path
    )
    assert {state[1][1] for state in found} == {b"a" * 1024, b"", b"b" * 512, bytes(512)}


def test_what_is_in_a_folder_is_lost_with_the_name_of_the_folder(tmp_path):
    made = [Made(0, "folder", 1, True), Made(1, "file", 2, False), Written(2, 0, b"x"), Synced(2), Synced(1)]
    disk = Disk(Recording({}, {0: {}}, made))
    for operation in made:
        disk.do(operation)
    disk.write(tmp_path / "before", "nothing", None)
    disk.do(Synced(0))
    disk.write(tmp_path / "after", "nothing", None)
    assert not list((tmp_path / "before").iterdir())
    assert (tmp_path / "after" / "folder" / "file").read_bytes() == b"x"
