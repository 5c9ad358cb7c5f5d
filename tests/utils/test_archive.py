"""Laws of the container file: what goes in comes out, and an old file survives."""

import errno
import hashlib
import itertools
import json
import os
import random
import re
import shutil
import signal
import stat
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal

from tests.helpers.archives import ARRAYS, HEADER, child, is_the_good_one, refused, same
from whynear.utils import archive
from whynear.utils.archive import read_archive, write_archive


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


# ---------------------------------------------------------------------------------------- what goes in comes out

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
names = st.from_regex(r"[a-z0-9_-][a-z0-9_-]{0,8}(/[a-z0-9_-]{1,5}|\.[a-z]{1,3})?", fullmatch=True)
any_arrays = hnp.arrays(
    dtype=st.sampled_from(sorted(archive.DTYPES)).map(np.dtype) | st.sampled_from([">f8", ">i4", ">u2"]).map(np.dtype),
    shape=hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
)
layouts = st.sampled_from([lambda a: a, np.asfortranarray, np.transpose, lambda a: a[::-2] if a.ndim else a])


@given(header=st.dictionaries(st.text(), json_values, max_size=5))
def test_headers_come_back_identical(shared, header):
    path = shared / "headers"
    write_archive(path, header, {})
    back, arrays = read_archive(path)
    assert back == header
    assert json.dumps(back, sort_keys=True) == json.dumps(header, sort_keys=True)
    assert arrays == {}


@settings(derandomize=True, max_examples=80, deadline=None)
@given(arrays=st.dictionaries(names, st.builds(lambda f, a: f(a), layouts, any_arrays), max_size=4))
def test_arrays_come_back_identical_owned_and_read_only(shared, arrays):
    path = shared / "arrays"
    write_archive(path, {}, arrays)
    back = read_archive(path)[1]
    assert back.keys() == arrays.keys()
    for name, array in arrays.items():
        assert same(back[name], array.astype(array.dtype.newbyteorder("<")))
        assert back[name].flags.owndata
        assert back[name].flags.c_contiguous
        assert not back[name].flags.writeable


def test_equal_content_gives_equal_bytes_in_any_order(tmp_path, good):
    other = tmp_path / "other"
    write_archive(other, dict(reversed(HEADER.items())), dict(reversed(ARRAYS.items())))
    assert other.read_bytes() == good.read_bytes()


def test_the_file_is_the_documented_one(good):
    with zipfile.ZipFile(good) as file:
        assert file.namelist() == ["manifest.json", "labels.npy", "omega.npy"]
        assert {entry.compress_type for entry in file.infolist()} == {zipfile.ZIP_STORED}
        manifest = json.loads(file.read("manifest.json"))
        data = file.read("omega.npy")
    assert manifest["format"] == archive.FORMAT == 1
    assert manifest["library"].startswith("whynear ")
    assert manifest["header"] == HEADER
    assert manifest["parts"]["omega.npy"] == {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    with np.load(good, allow_pickle=False) as loaded:
        assert_array_equal(loaded["omega"], ARRAYS["omega"])


@pytest.mark.parametrize("array", [np.array([{}]), np.array(["a"]), np.zeros(2, "f2"), np.zeros(2, "c16")])
def test_arrays_that_are_not_plain_numbers_are_refused(tmp_path, array):
    with pytest.raises(TypeError, match=r"arrays\['a'\] must be bool, int"):
        write_archive(tmp_path / "a", {}, {"a": array})


@pytest.mark.parametrize("array", [[1.0], np.float64(1), np.ma.masked_array([1.0], [True]), None])
def test_what_is_no_plain_array_is_refused(tmp_path, array):
    with pytest.raises(TypeError, match="must be a plain numpy array"):
        write_archive(tmp_path / "a", {}, {"a": array})


@pytest.mark.parametrize("name", ["", "../a", "/a", ".a", "a/../b", "a/.b", "a..b", "A", "a b", "a\\b", "a\n", "a//b"])
def test_unsafe_names_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="array name"):
        write_archive(tmp_path / "a", {}, {name: np.zeros(1)})


@pytest.mark.parametrize(
    "header",
    [
        {1: "a"},
        {"a": {None: 1}},
        {"a": (1, 2)},
        {"a": float("nan")},
        {"a": {1}},
        {"a": np.zeros(1)},
        {1: 0, "1": 0},
        [],
    ],
)
def test_headers_json_would_change_are_refused(tmp_path, header):
    with pytest.raises((TypeError, ValueError)):
        write_archive(tmp_path / "a", header, {})
    assert not any(tmp_path.iterdir())


def test_a_header_too_long_to_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "MANIFEST_LIMIT", 10_000)
    with pytest.raises(ValueError, match="Put long data in arrays"):
        write_archive(tmp_path / "a", {"a": "x" * archive.MANIFEST_LIMIT}, {})


# ------------------------------------------------------------------------------- saving: the old file survives


def test_mode_follows_the_umask_and_a_replaced_file_keeps_its_own(tmp_path):
    path = tmp_path / "a"
    before = os.umask(0o027)
    try:
        write_archive(path, {}, {})
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o606)
        write_archive(path, {"new": 1}, {})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o606
    assert read_archive(path)[0] == {"new": 1}


def test_a_link_is_followed(tmp_path, good):
    link = tmp_path / "link"
    link.symlink_to(good.name)
    write_archive(link, {"new": 1}, {})
    assert link.is_symlink()
    assert read_archive(good)[0] == {"new": 1}


def test_the_longest_file_name_can_be_saved(tmp_path):
    path = tmp_path / ("ü" * 127)
    write_archive(path, {}, {})
    assert read_archive(path) == ({}, {})


FULL = """
import resource, sys, numpy as np
from whynear.utils.archive import write_archive
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    write_archive(sys.argv[1], {}, {"a": np.ones(1 << 20)})
except OSError as error:
    print(error.errno, error.strerror)
"""


def test_a_save_cut_off_leaves_the_old_file_and_no_other(good):
    before = good.read_bytes()
    output, _ = child(FULL, good).communicate()
    assert output.startswith(f"{errno.EFBIG} {good} could not be saved")
    needed, free = map(int, re.search(r"needs (\d+) bytes, (\d+) bytes are free", output).groups())
    assert 8 << 20 < needed < (8 << 20) + 2000
    assert free > 0
    assert "the old file is untouched" in output
    assert good.read_bytes() == before
    assert list(good.parent.iterdir()) == [good]


def test_a_missing_folder_and_a_folder_in_the_place_of_the_file(tmp_path):
    missing, folder = tmp_path / "no" / "a", tmp_path / "folder"
    folder.mkdir()
    with refused(missing, r"No such file.*needs \d+ bytes.*no file was made", FileNotFoundError):
        write_archive(missing, {}, ARRAYS)
    with refused(folder, r"is a folder.*needs \d+ bytes, \d+ bytes are free", IsADirectoryError):
        write_archive(folder, {}, ARRAYS)
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_pipe_is_neither_replaced_nor_waited_for(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with refused(pipe, "not a regular file", OSError):
        write_archive(pipe, {}, {})
    with refused(pipe, "folder or a device"):
        read_archive(pipe)
    assert pipe.is_fifo()


FORBIDDEN = """
import os, sys, numpy as np
from whynear.utils.archive import write_archive
write_archive(sys.argv[1], {}, {"a": np.ones(3)})  # loads all that is needed while everything may be read
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for path in sys.argv[2:]:
    try:
        write_archive(path, {}, {"a": np.ones(3)})
    except PermissionError as error:
        print(error)
"""


def test_without_permission_the_old_file_stays():
    top = Path(tempfile.mkdtemp())
    try:
        top.chmod(0o755)
        closed, open_ = top / "closed", top / "open"
        closed.mkdir()
        open_.mkdir()
        for path in (closed / "a", open_ / "protected"):
            write_archive(path, HEADER, ARRAYS)
        (open_ / "protected").chmod(0o444)
        open_.chmod(0o777)
        closed.chmod(0o555)
        paths = [open_ / "first", closed / "a", closed / "new", open_ / "protected", open_ / "new"]
        output, _ = child(FORBIDDEN, *paths).communicate()
        lines = output.splitlines()
        assert len(lines) == 3
        assert re.search(r"closed/a could not be saved .*needs \d+ bytes.* old file is untouched", lines[0])
        assert re.search(r"closed/new could not be saved .*no file was made", lines[1])
        assert re.search(r"open/protected could not be saved .*write-protected", lines[2])
        assert is_the_good_one(closed / "a")
        assert is_the_good_one(open_ / "protected")
        assert read_archive(open_ / "new")[0] == {}
        assert sorted(path.name for path in top.rglob("*")) == ["a", "closed", "first", "new", "open", "protected"]
    finally:
        (top / "closed").chmod(0o755)
        shutil.rmtree(top)


ENDLESS = """
import itertools, sys, numpy as np
from whynear.utils.archive import write_archive
for i in itertools.count():
    write_archive(sys.argv[1], {"round": i}, {"a": np.full(1 << 18, i)})
    print(i, flush=True)
"""


def test_a_process_killed_while_saving_leaves_a_whole_file(tmp_path):
    generator = random.Random(21)
    writers = []
    for i in range(4):
        path = tmp_path / str(i) / "a"
        path.parent.mkdir()
        writers.append((path, child(ENDLESS, path)))
    for path, process in writers:
        acknowledged = int(process.stdout.readline())
        time.sleep(generator.uniform(0, 0.1))
        while len(os.listdir(path.parent)) == 1 and process.poll() is None:
            pass  # until the temporary file of a save is there
        process.kill()
        acknowledged = max([acknowledged, *map(int, re.findall(r"(\d+)\n", process.communicate()[0]))])
        header, arrays = read_archive(path)
        assert header["round"] >= acknowledged
        assert_array_equal(arrays["a"], header["round"])


def test_an_interrupt_while_saving_leaves_the_file_and_nothing_else(good):
    def interrupt(*_):
        raise KeyboardInterrupt

    generator = random.Random(22)
    big = np.ones(1 << 19)
    before = signal.signal(signal.SIGALRM, interrupt)

    def save_until_interrupted():
        give_up = time.monotonic() + 5
        signal.setitimer(signal.ITIMER_REAL, generator.uniform(0.001, 0.03))
        while time.monotonic() < give_up:
            write_archive(good, HEADER, {**ARRAYS, "big": big})

    try:
        for _ in range(12):
            with pytest.raises(KeyboardInterrupt):
                save_until_interrupted()
            assert list(good.parent.iterdir()) == [good]
            assert read_archive(good)[0] == HEADER
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def interrupted_at(step):
    """Return a trace function that raises KeyboardInterrupt at the given line run inside zipfile."""
    lines = itertools.count()

    def trace(frame, event, _):
        if frame.f_code.co_filename != zipfile.__file__ or frame.f_code.co_name == "__init__":
            return None  # an archive only half made complains when it is collected, whoever wrote it
        if event == "line" and next(lines) == step:
            raise KeyboardInterrupt
        return trace

    return trace


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_at_any_line_of_the_zip_writer_is_an_interrupt(good):
    for step in itertools.count():
        before = sys.gettrace()
        sys.settrace(interrupted_at(step))
        try:
            write_archive(good, HEADER, ARRAYS)
        except KeyboardInterrupt:
            sys.settrace(before)
            assert list(good.parent.iterdir()) == [good]
            assert is_the_good_one(good)
        else:
            break
        finally:
            sys.settrace(before)
    assert step > 100
