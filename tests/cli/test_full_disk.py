"""A disk that is full while a study is saved over an older one."""

import re
import subprocess
import sys
from functools import cache

import pytest

from tests.helpers.fault_tables import QUICK, cases, write

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
