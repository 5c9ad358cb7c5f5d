"""A damaged or hostile container file is refused by name and does nothing."""

import json
import os
import pickle
import random
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.archives import ARRAYS, HEADER, child, craft, is_the_good_one, npy, refused
from whynear.utils.archive import ArchiveError, read_archive, write_archive

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
    with pytest.raises(ArchiveError, match=r"it is a folder; give the path of the model in it, .*model\.whynear"):
        read_archive(tmp_path)
