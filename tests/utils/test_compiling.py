"""Functions are compiled wherever they are installed, and compiled code is read from folders of this user only."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import numba
import pytest

from whynear.utils import compiling
from whynear.utils.compiling import PLACE, njit, private_folder

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs users and permissions")


def twice(x):
    return 2 * x


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """The folder for temporary files."""
    monkeypatch.setattr(compiling.tempfile, "gettempdir", lambda: str(tmp_path))
    return tmp_path


@pytest.fixture
def _nowhere_to_keep_code(monkeypatch):
    """Let numba find no folder, as for a package and a home that cannot be written."""

    def refusing(**options):
        if options.get("cache") and not numba.config.CACHE_DIR:
            raise RuntimeError("cannot cache function: no locator available")
        return numba.njit(**options)

    monkeypatch.setattr(compiling, "numba", SimpleNamespace(njit=refusing, config=numba.config))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setenv(PLACE, "")


@pytest.mark.usefixtures("_nowhere_to_keep_code")
def test_code_is_kept_among_temporary_files_where_there_is_no_other_place(temporary):
    assert njit(cache=True)(twice)(3) == 6
    assert os.environ[PLACE] == numba.config.CACHE_DIR == str(temporary / f"whynear-{os.getuid()}")
    assert [path for path in temporary.rglob("*.nbi") if "twice" in path.name]


@pytest.mark.usefixtures("_nowhere_to_keep_code")
def test_a_function_is_compiled_although_its_code_can_be_kept_nowhere(temporary):
    (temporary / f"whynear-{os.getuid()}").touch()
    assert njit(cache=True)(twice)(3) == 6
    assert os.environ[PLACE] == numba.config.CACHE_DIR == ""


def test_all_modules_compile_here():
    sources = Path(compiling.__file__).parents[1].rglob("*.py")
    assert not [path for path in sources if "numba import njit" in path.read_text(encoding="utf-8")]


def test_other_errors_of_the_compiler_are_raised(monkeypatch):
    def broken(**_):
        raise RuntimeError("another one")

    monkeypatch.setattr(compiling, "numba", SimpleNamespace(njit=broken))
    with pytest.raises(RuntimeError, match="another one"):
        njit()(twice)


def test_the_folder_is_the_same_each_time_and_of_this_user_only(temporary):
    folder = private_folder()
    assert folder == private_folder()
    assert folder.parent == temporary
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_folder_that_others_can_write_is_not_used(temporary):
    private_folder().chmod(0o770)
    assert private_folder() is None


def test_a_link_to_another_folder_is_not_used(temporary):
    (temporary / "other").mkdir(mode=0o700)
    (temporary / f"whynear-{os.getuid()}").symlink_to(temporary / "other")
    assert private_folder() is None


def test_a_folder_of_another_user_is_not_used(temporary, monkeypatch):
    monkeypatch.setattr(compiling.os, "getuid", lambda: os.geteuid() + 1)
    assert private_folder() is None


@pytest.fixture
def kept_code(tmp_path, monkeypatch):
    """The folder in which numba keeps code, in its settings and where it reads them again."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setenv(PLACE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: bytes(len(data)), lambda data: data[: len(data) // 2]]
)
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_code_that_a_power_cut_has_left_in_part_is_compiled_again(kept_code, ending, damage):
    assert njit(cache=True)(twice)(3) == 6
    kept = {path: path.read_bytes() for path in kept_code.rglob(f"*twice*.{ending}")}
    assert kept
    for path, data in kept.items():
        path.write_bytes(damage(data))
    assert njit(cache=True)(twice)(3) == 6
    again = njit(cache=True)(twice)
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1
    assert all(path.read_bytes() != damage(data) for path, data in kept.items())


@pytest.mark.usefixtures("kept_code")
def test_compiled_code_is_on_the_disk_before_it_gets_its_name(monkeypatch):
    done = []
    sync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: done.append("sync") or sync(file))
    monkeypatch.setattr(os, "replace", lambda old, new: done.append("name") or replace(old, new))
    assert njit(cache=True)(twice)(3) == 6
    assert done == ["sync", "name"] * 2
