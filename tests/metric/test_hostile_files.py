"""A small model file must not take much memory, whatever it says; and nothing in it gives a traceback."""

import json
import subprocess
import sys

import numpy as np
import pytest

import whynear as wn
from whynear.utils.archive import ArchiveError, write_archive

LOAD = """
import json, sys
import whynear as wn
from whynear.metric import files
from whynear.utils.archive import ArchiveError
from tests.helpers.memory import peak_bytes
wn.load
start, faults = peak_bytes(), []
for path in sys.argv[1:]:
    try:
        wn.load(path)
        faults.append("")
    except ArchiveError as error:
        faults.append(str(error))
print(json.dumps([faults, peak_bytes() - start]))
"""


def loaded(*paths):
    """What is wrong with each file, and the bytes that loading them took at the most."""
    command = [sys.executable, "-c", LOAD, *map(str, paths)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout)


def node(**state):
    pairs = [[name, value] for name, value in state.items()]
    return {"estimator": "StandardScaler", "params": {"dict": []}, "fitted": {"dict": pairs}}


def labels(values, shape=None, dtype="U"):
    return {"labels": values, "shape": [len(values)] if shape is None else shape, "dtype": dtype}


def written(path, state, arrays=None):
    write_archive(path, {"object": node(**state)}, arrays or {})
    return path


LONG = ["x" * 60_000, *["a", "b"] * 5_000]


def test_one_long_label_does_not_widen_all_others(tmp_path):
    path = written(tmp_path / "long", {"mean_": labels(LONG)})
    assert path.stat().st_size < 200_000
    faults, peak = loaded(path)
    assert faults == [""]
    assert peak < 100 << 20
    assert wn.load(path).mean_.tolist() == LONG


def test_many_wide_arrays_of_labels_share_one_limit(tmp_path):
    wide = labels(["x" * 1_000, *["a"] * 1_000])
    path = written(tmp_path / "wide", {f"a{i}": wide for i in range(500)})
    faults, peak = loaded(path)
    assert faults == [""]
    assert peak < 60 * path.stat().st_size + (150 << 20)


def test_labels_of_an_ordinary_width_keep_their_type(tmp_path):
    names = np.array(["short", "a longer one", "ü"] * 1_000)
    again = wn.load(written(tmp_path / "names", {"mean_": labels(names.tolist())})).mean_
    assert again.dtype == names.dtype
    assert again.tolist() == names.tolist()


ONE = {"array": "big"}
LOCAL = {"metric": "LocalMetric", "names": ["x"], "arrays": {"anchors": ONE, "weights": {"array": "other"}}}


@pytest.mark.parametrize("kind", [ONE, LOCAL], ids=["array", "metric"])
def test_one_part_is_not_unfolded_into_many_arrays(tmp_path, kind):
    parts = {"big": np.zeros((1 << 20, 1)), "other": np.ones((1 << 20, 1))}
    path = written(tmp_path / "many", {f"a{i}": kind for i in range(400)}, parts)
    faults, peak = loaded(path)
    assert "its part big is used twice" in faults[0]
    assert peak < 5 * path.stat().st_size


ABSURD = {
    "terabytes": {"mean_": labels(["x" * 3_000_000, *["a"] * 1_000_000])},
    "no such shape": {"mean_": labels(["a"], [10**30])},
    "empty shape": {"mean_": labels([], [0, 10**30])},
    "many dimensions": {"mean_": labels(["a"], [1] * 100)},
    "shape of text": {"mean_": labels(["a"], "wide")},
    "nested labels": {"mean_": labels([[1, 2], [3]], [2], "O")},
    "labels that are none": {"mean_": {"labels": 5, "shape": [1], "dtype": "O"}},
    "numbers as labels": {"mean_": labels([10**400] * 3)},
    "dtype": {"mean_": {"dtype": "f8,("}},
    "wide dtype": {"mean_": {"dtype": "V99999999999"}},
    "not a part": {"mean_": {"array": ["big"]}},
    "dict of lists": {"mean_": {"dict": [[[1], 2]]}},
    "metric of labels": {"mean_": {"metric": "LinearMetric", "names": 3, "arrays": {"omega": 3}}},
}


@pytest.mark.parametrize("what", ABSURD)
def test_a_header_that_asks_for_the_impossible_is_refused_or_harmless(tmp_path, what):
    path = written(tmp_path / "absurd", ABSURD[what])
    faults, peak = loaded(path)
    assert not faults[0] or faults[0].startswith(f"{path} cannot be read: ")
    assert peak < 40 * path.stat().st_size + (100 << 20)


def test_memory_that_runs_out_is_an_error_that_names_the_file(tmp_path, monkeypatch):
    path = written(tmp_path / "file", {"mean_": labels(["a"])})

    def exhausted(*_, **__):
        raise MemoryError

    monkeypatch.setattr(np, "array", exhausted)
    with pytest.raises(ArchiveError, match="file cannot be read: it takes more memory than there is"):
        wn.load(path)
    monkeypatch.setattr("whynear.utils.archive._read", exhausted)
    with pytest.raises(ArchiveError, match="file cannot be read: it takes more memory than there is"):
        wn.load(path)
