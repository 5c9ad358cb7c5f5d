"""Commands of a user who can write neither a home nor the folder of the package, such as in a container."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import whynear
from tests.helpers.command_line import WHYNEAR
from tests.helpers.fault_tables import QUICK, cases, write

pytestmark = pytest.mark.slow

NOBODY = 65534
# The other user may read everything, as if it was installed for all.
AS_NOBODY = [
    *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
    *("--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search"),
]


@pytest.fixture
def folder():
    """A folder that everyone can look into."""
    with tempfile.TemporaryDirectory() as made:
        os.chmod(made, 0o755)
        yield Path(made)


@pytest.fixture
def as_nobody(folder):
    """Run the program as a user without a home, who can write ``out`` and ``temporary`` only."""
    test = [*AS_NOBODY, sys.executable, "-c", f"open({os.path.dirname(whynear.__file__) + '/x'!r}, 'w')"]
    if shutil.which("setpriv") is None or b"PermissionError" not in subprocess.run(test, capture_output=True).stderr:
        pytest.skip("needs the right to become another user, who cannot write the package")
    (folder / "home").mkdir(mode=0o555)
    for name in ("out", "temporary"):
        (folder / name).mkdir()
        os.chown(folder / name, NOBODY, NOBODY)

    def run(*words):
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("XDG_", "NUMBA_"))}
        environment |= {"HOME": str(folder / "home"), "TMPDIR": str(folder / "temporary")}
        command = [*AS_NOBODY, *WHYNEAR, *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, cwd=folder / "out")

    return run


def test_a_study_is_made_and_its_compiled_code_is_kept_for_the_next_one(as_nobody, folder):
    done = as_nobody("study", write(folder, cases()), *QUICK, "--out", folder / "out" / "study")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out" / "study" / "report.html").read_text().rstrip().endswith("</html>")
    assert list((folder / "temporary").rglob("*.nbi"))
    assert not list((folder / "home").iterdir())


def test_a_folder_that_must_not_be_written_is_named(as_nobody, folder):
    done = as_nobody("study", write(folder, cases()), *QUICK, "--out", folder / "home" / "study")
    assert done.returncode == 2
    assert f"Error: {folder}/home cannot be written into (Permission denied). Choose another folder" in done.stderr
    assert "Traceback" not in done.stderr
