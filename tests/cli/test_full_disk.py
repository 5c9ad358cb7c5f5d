"""A disk that is full while files are written: by a limit on their size, and really full where one can be mounted."""

import re
import subprocess
import sys
from functools import cache

import pytest

from tests.helpers.command_line import run_program
from tests.helpers.fault_tables import QUICK, cases, write
from tests.helpers.stream_kills import write_rows

pytest.importorskip("resource", reason="needs limits on the size of files")
pytestmark = pytest.mark.slow

# The older study has every kernel compiled before files are limited, which a cache of them would run into.
LIMITED = """
import resource, shutil, signal, sys
from whynear.cli.app import app, main
limit, old, new, out, *words = sys.argv[1:]
app(["study", old, *words, "--out", out], standalone_mode=False)
shutil.copytree(out, out + " before")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
sys.argv[1:] = ["study", new, *words, "--out", out, "--overwrite"]
main()
"""


@pytest.fixture(scope="module")
def full_disk(tmp_path_factory):
    """Break off a study ``out`` by a limit of so many bytes a file; as it was before it is in ``out before``."""

    @cache
    def broken_off(limit):
        folder = tmp_path_factory.mktemp("full")
        old, new = write(folder, cases(), "old.csv"), write(folder, cases().assign(drift=range(24)), "new.csv")
        command = [sys.executable, "-c", LIMITED, str(limit), str(old), str(new), str(folder / "out"), *QUICK]
        return folder, subprocess.run(command, capture_output=True, text=True, timeout=120)

    return broken_off


EARLY, LATE = 50, 10_000  # too little for the first part that is finished; for a file after the model


@pytest.mark.parametrize("limit", [EARLY, LATE])
def test_a_full_disk_is_told_with_the_file_and_the_bytes(full_disk, limit):
    folder, done = full_disk(limit)
    assert (done.returncode, done.stdout) == (2, "")
    fact = f"Error: {folder}/out/[a-z/.]+ could not be saved \\(File too large\\): it needs \\d+ bytes, "
    assert re.fullmatch(f"{fact}\\d+ bytes are free there, and no file was made\\.\n", done.stderr), done.stderr


@pytest.mark.parametrize("limit", [EARLY, LATE])
def test_a_full_disk_leaves_no_half_file(full_disk, limit):
    folder, _ = full_disk(limit)
    left = {path.name for path in (folder / "out").rglob("*") if path.is_file()}
    assert left == {path.name for path in (folder / "out before").iterdir()}


@pytest.mark.parametrize("limit", [EARLY, LATE])
def test_a_full_disk_leaves_the_older_study_as_it_was(full_disk, limit):
    folder, _ = full_disk(limit)
    before = {path.name: path.read_bytes() for path in (folder / "out before").iterdir()}
    assert {name: (folder / "out" / name).read_bytes() for name in before} == before


@pytest.fixture
def small_disk(tmp_path):
    """A disk whose size in kilobytes can be set."""
    disk = tmp_path / "disk"
    disk.mkdir()

    def sized(kilobytes, *words):
        command = ["mount", "-t", "tmpfs", "-o", f"{','.join([*words, f'size={kilobytes}k'])}", "tmpfs", str(disk)]
        if subprocess.run(command, capture_output=True).returncode:
            pytest.skip("needs the right to mount a disk")
        return disk

    yield sized
    subprocess.run(["umount", str(disk)], capture_output=True)


@pytest.mark.parametrize("kilobytes", [4, 100, 300])
def test_a_study_on_a_full_disk_ends_in_a_sentence_and_leaves_no_file(small_disk, tmp_path, kilobytes):
    disk, table = small_disk(kilobytes), write(tmp_path, cases())
    done = run_program("study", str(table), *QUICK, "--n-jobs", "1", "--out", str(disk / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    fact = f"Error: {disk}/out/\\S+ could not be saved \\(No space left on device\\): it needs \\d+ bytes, "
    assert re.fullmatch(f"{fact}\\d+ bytes are free there, and no file was made\\.\n", done.stderr), done.stderr
    assert not [path for path in disk.rglob("*") if path.is_file()]


@pytest.mark.parametrize("kilobytes", [4, 24])
def test_a_stream_goes_on_after_the_disk_was_full(small_disk, tmp_path, kilobytes):
    disk, table = small_disk(kilobytes), write_rows(tmp_path / "rows.csv")
    command = ("stream", str(table), "--target", "kind", "--quiet", "--every", "400", "--out")
    done = run_program(*command, str(disk / "out"))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        f"Error: {disk}/out/\\S+ could not be (saved|written) \\(No space left on device\\).*\\.\n", done.stderr
    )
    small_disk(10_000, "remount")
    for out in (disk / "out", tmp_path / "out"):
        assert run_program(*command, str(out)).returncode == 0
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert sorted(path.name for path in (disk / "out").iterdir()) == names
    assert all((disk / "out" / name).read_bytes() == (tmp_path / "out" / name).read_bytes() for name in names)


@pytest.mark.parametrize("kilobytes", [4, 40])
def test_a_studio_on_a_full_disk_ends_in_a_sentence(small_disk, kilobytes):
    disk = small_disk(kilobytes)
    done = run_program("studio", "--no-browser", "--folder", str(disk / "project"))
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(f"Error: {disk}/project/studio.db could not .* full\\)\\. Free some space .*\n", done.stderr)
