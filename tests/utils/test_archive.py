"""Laws of the container file: what goes in comes out, and an old file survives."""

import errno
import hashlib
import itertools
import json
import os
import pickle
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

from tests.helpers.archives import ARRAYS, HEADER, child, craft, is_the_good_one, npy, refused, same
from whynear.utils import archive
from whynear.utils.archive import ArchiveError, read_archive, write_archive


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


# A damaged or hostile container file is refused by name and does nothing.


# ------------------------------------------------------------------------------------------ reading: damaged files


def test_what_is_no_file(tmp_path):
    with refused(tmp_path / "none", "does not exist; check the path", FileNotFoundError):
        read_archive(tmp_path / "none")
    with refused(tmp_path, "folder"):
        read_archive(tmp_path)
    empty = tmp_path / "empty"
    empty.touch()
    with refused(empty, "not a whynear file.*restore a copy"):
        read_archive(empty)


def test_a_file_cut_at_any_length_is_refused(tmp_path, good):
    data, cut = good.read_bytes(), tmp_path / "cut"
    for length in range(0, len(data), 3):
        cut.write_bytes(data[:length])
        with refused(cut, "restore a copy"):
            read_archive(cut)


def fault_of(path):
    """What is wrong with an archive; None where it is read as the good one."""
    try:
        assert is_the_good_one(path)
    except ArchiveError as error:
        return str(error)
    return None


def test_a_flipped_bit_is_noticed_or_harmless(tmp_path, good):
    generator = random.Random(23)
    data, flipped = good.read_bytes(), tmp_path / "flipped"
    noticed = 0
    for position in range(len(data)):
        bad = bytearray(data)
        bad[position] ^= 1 << generator.randrange(8)
        flipped.write_bytes(bad)
        fault = fault_of(flipped)
        if fault is not None:
            assert fault.startswith(f"{flipped} cannot be read: ")
            noticed += 1
    assert noticed > sum(array.nbytes for array in ARRAYS.values()) + len(json.dumps(HEADER))


def test_the_crafted_file_is_read_when_nothing_is_wrong_with_it(tmp_path):
    header, arrays = read_archive(craft(tmp_path / "a", {"a.npy": npy()}))
    assert header == {}
    assert_array_equal(arrays["a"], [0, 0])


def test_fortran_order_written_by_others_is_honoured(tmp_path):
    text = npy(shape="(2, 3)", data=np.arange(6.0).tobytes()).replace(b"False", b"True ")
    array = read_archive(craft(tmp_path / "a", {"a.npy": text}))[1]["a"]
    assert_array_equal(array, [[0, 2, 4], [1, 3, 5]])


def test_a_newer_format_is_named_before_anything_else_is_looked_at(tmp_path):
    path = craft(tmp_path / "a", {"new.zst": b"?"}, format=2, library="whynear 9.1", compress=["new.zst"])
    with refused(path, "format 2, written by whynear 9.1, .*reads format 1; pip install --upgrade whynear"):
        read_archive(path)


@pytest.mark.parametrize("number", [0, -1])
def test_an_unknown_older_format_is_refused(tmp_path, number):
    path = craft(tmp_path / "a", {}, format=number)
    with refused(path, f"format {number}, .*save it again with this version"):
        read_archive(path)


@pytest.mark.parametrize(
    "manifest", [{"format": True}, {"format": "1"}, {"format": 1.0}, {"header": []}, {"parts": []}, {"format": 10**400}]
)
def test_a_manifest_of_another_shape_is_refused(tmp_path, manifest):
    with refused(tmp_path / "a", "restore a copy"):
        read_archive(craft(tmp_path / "a", {}, **manifest))


@pytest.mark.parametrize("part", [None, [], {}, {"bytes": 10}, {"sha256": "0" * 64}])
def test_a_part_without_its_sums_is_refused(tmp_path, part):
    with refused(tmp_path / "a", "a.npy"):
        read_archive(craft(tmp_path / "a", {"a.npy": npy()}, parts={"a.npy": part}))


def test_missing_extra_and_exchanged_parts_are_refused(tmp_path):
    for listed in ({}, {"a.npy": npy(), "b.npy": npy()}):
        with refused(tmp_path / "a", "not those its manifest names"):
            read_archive(craft(tmp_path / "a", {"a.npy": npy()}, listed=listed))
    with refused(tmp_path / "a", "checksum of its part a.npy is wrong"):
        read_archive(craft(tmp_path / "a", {"a.npy": npy(data=b"\1" * 16)}, listed={"a.npy": npy()}))


def test_deep_json_is_an_error_not_a_crash(tmp_path):
    with zipfile.ZipFile(tmp_path / "a", "w") as file:
        file.writestr("manifest.json", "[" * 1_000_000)
    with refused(tmp_path / "a", "recursion"):
        read_archive(tmp_path / "a")


# ------------------------------------------------------------------------------------------ reading: hostile files


class Bomb:
    """Unpickling it makes a folder."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def test_no_pickle_is_ever_loaded(tmp_path):
    marker = tmp_path / "marker"
    content = np.empty(1, dtype=object)
    content[0] = Bomb(marker)
    with open(tmp_path / "bomb.npy", "wb") as file:
        np.save(file, content, allow_pickle=True)
    inside = craft(tmp_path / "inside", {"a.npy": (tmp_path / "bomb.npy").read_bytes()})
    with refused(inside, "holds object, which is not a plain number"):
        read_archive(inside)
    renamed = tmp_path / "renamed.whynear"
    renamed.write_bytes(pickle.dumps(Bomb(marker)))
    with refused(renamed, "not a whynear file"):
        read_archive(renamed)
    assert not marker.exists()
    pickle.loads(renamed.read_bytes())  # the bomb is live
    assert marker.exists()


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/evil.npy", "a/../../evil.npy", ".evil.npy", "C:\\evil.npy", "evil.py"]
)
def test_names_that_leave_the_folder_are_refused(tmp_path, name):
    with refused(tmp_path / "a", "name of its part .*evil.* is not allowed"):
        read_archive(craft(tmp_path / "a", {name: npy()}))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["a.npy", "manifest.json"])
def test_two_parts_of_one_name_are_refused(tmp_path, good, name):
    path = craft(tmp_path / "a", {"a.npy": npy()})
    with zipfile.ZipFile(path) as file:
        again = file.read(name)
    with zipfile.ZipFile(path, "a") as file:
        file.writestr(name, again)
    with refused(path, "two parts of one name"):
        read_archive(path)


def encrypt(entries):
    entries[1].flag_bits |= 1


def overlap(entries):
    entries[2].header_offset = entries[1].header_offset


def lie_about_size(entries):
    entries[1].file_size = entries[1].compress_size = 10**12


def unfold(entries):
    entries[1].file_size = 10**12


HUGE = [
    ("shape", {"a.npy": npy(shape="(1000000000000,)")}, {}, "shape"),
    ("product", {"a.npy": npy(shape="(4294967296, 4294967296)", data=b"")}, {}, "shape"),
    ("empty", {"a.npy": npy(shape=f"(0, {10**30})", data=b"")}, {}, "restore"),
    ("dimensions", {"a.npy": npy(shape="(" + "1, " * 999 + ")", data=b"\0" * 8)}, {}, "restore"),
    ("truth", {"a.npy": npy(shape="(True,)", data=b"\0" * 8)}, {}, "shape"),
    ("negative", {"a.npy": npy(shape="(-1, -2)")}, {}, "shape"),
    ("header", {"a.npy": npy(length=2**31)}, {}, "npy header"),
    ("long", {"a.npy": npy(shape="(" + "1, " * 9999 + ")")}, {}, "npy header"),
    ("deep", {"a.npy": npy(shape="(" * 3000)}, {}, "npy header"),
    ("wide", {"a.npy": npy(descr="S1000000000", data=b"")}, {}, "not a plain number"),
    ("records", {"a.npy": npy(descr="f8,O")}, {}, "not a plain number"),
    ("boolean", {"a.npy": npy(descr="|b1", data=b"\1\2")}, {}, "not boolean"),
    ("bomb", {"a.npy": npy(shape="(12500000,)", data=bytes(100_000_000))}, {"compress": ["a.npy"]}, "compressed"),
    ("manifest", {}, {"header": {"a": " " * 50_000_000}, "compress": ["manifest.json"]}, "compressed"),
    ("encrypted", {"a.npy": npy()}, {"change": encrypt}, "encrypted"),
    ("overlap", {"a.npy": npy(), "b.npy": npy()}, {"change": overlap}, "overlaps"),
    ("size", {"a.npy": npy()}, {"change": lie_about_size}, "larger than the file"),
    ("unfold", {"a.npy": npy()}, {"change": unfold}, "larger than the file"),
]

READ = """
import json, resource, sys, tracemalloc
from whynear.utils.archive import ArchiveError, read_archive
from tests.helpers.memory import peak_bytes
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
start = peak_bytes()
faults = []
tracemalloc.start()
for path in sys.argv[1:]:
    try:
        read_archive(path)
        faults.append("none")
    except ArchiveError as error:
        faults.append(str(error))
peak = tracemalloc.get_traced_memory()[1]
print(json.dumps([faults, peak, peak_bytes() - start]))
"""


@pytest.mark.slow
def test_hostile_sizes_are_refused_without_taking_memory(tmp_path):
    paths = [craft(tmp_path / name, parts, **options) for name, parts, options, _ in HUGE]
    assert sum(path.stat().st_size for path in paths) < 1 << 20
    faults, traced, resident = json.loads(child(READ, *paths).communicate()[0])
    for path, fault, (*_, expected) in zip(paths, faults, HUGE, strict=True):
        assert fault.startswith(f"{path} cannot be read: ")
        assert expected in fault
    assert traced < 10 << 20
    assert resident < 50 << 20


def test_reading_takes_memory_in_proportion_to_the_file(tmp_path):
    path = tmp_path / "a"
    write_archive(path, {}, {"a": np.ones(1 << 20), "b": np.ones(1 << 20)})
    _, peak, _ = json.loads(child(READ, path).communicate()[0])
    assert peak < 2 * path.stat().st_size


def test_of_the_folder_of_a_study_the_model_is_named(tmp_path):
    (tmp_path / "model.whynear").write_bytes(b"")
    with pytest.raises(ArchiveError, match=r"it is a folder; give the path .*model\.whynear"):
        read_archive(tmp_path)
