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
from multiprocessing import get_context
from whynear.model import files
from whynear.utils.archive import ArchiveError
from tests.helpers.memory import peak_bytes
wn.load
def loaded(path):
    start, fault = peak_bytes(), ""
    try:
        wn.load(path)
    except ArchiveError as error:
        fault = str(error)
    return fault, peak_bytes() - start
with get_context("fork").Pool(1, maxtasksperchild=1) as pool:
    print(json.dumps(pool.map(loaded, sys.argv[1:], chunksize=1)))
"""


def node(**state):
    pairs = [[name, value] for name, value in state.items()]
    return {"estimator": "StandardScaler", "params": {"dict": []}, "fitted": {"dict": pairs}}


def labels(values, shape=None, dtype="U"):
    return {"labels": values, "shape": [len(values)] if shape is None else shape, "dtype": dtype}


def written(path, state, arrays=None):
    write_archive(path, {"object": node(**state)}, arrays or {})
    return path


LONG = ["x" * 60_000, *["a", "b"] * 5_000]
WIDE = labels(["x" * 1_000, *["a"] * 1_000])
ONE = {"array": "big"}
LOCAL = {"metric": "LocalMetric", "names": ["x"], "arrays": {"anchors": ONE, "weights": {"array": "other"}}}
UNFOLDED = {"array": ONE, "metric": LOCAL}
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


@pytest.fixture(scope="module")
def loaded(tmp_path_factory):
    """Every file by its name, what is wrong with it, and the bytes that loading it took at the most."""
    folder = tmp_path_factory.mktemp("hostile")
    states = {"long": {"mean_": labels(LONG)}, "wide": {f"a{i}": WIDE for i in range(500)}, **ABSURD}
    paths = {name: written(folder / name, state) for name, state in states.items()}
    parts = {"big": np.zeros((1 << 20, 1)), "other": np.ones((1 << 20, 1))}
    for name, kind in UNFOLDED.items():
        paths[name] = written(folder / name, {f"a{i}": kind for i in range(400)}, parts)
    command = [sys.executable, "-c", LOAD, *map(str, paths.values())]
    answers = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=100).stdout)
    return {name: (path, *answer) for (name, path), answer in zip(paths.items(), answers, strict=True)}


def test_one_long_label_does_not_widen_all_others(loaded):
    path, fault, peak = loaded["long"]
    assert path.stat().st_size < 200_000
    assert fault == ""
    assert peak < 100 << 20
    assert wn.load(path).mean_.tolist() == LONG


def test_many_wide_arrays_of_labels_share_one_limit(loaded):
    path, fault, peak = loaded["wide"]
    assert fault == ""
    assert peak < 60 * path.stat().st_size + (150 << 20)


def test_labels_of_an_ordinary_width_keep_their_type(tmp_path):
    names = np.array(["short", "a longer one", "ü"] * 1_000)
    again = wn.load(written(tmp_path / "names", {"mean_": labels(names.tolist())})).mean_
    assert again.dtype == names.dtype
    assert again.tolist() == names.tolist()


@pytest.mark.parametrize("kind", UNFOLDED)
def test_one_part_is_not_unfolded_into_many_arrays(loaded, kind):
    path, fault, peak = loaded[kind]
    assert "its part big is used twice" in fault
    assert peak < 5 * path.stat().st_size


@pytest.mark.parametrize("what", ABSURD)
def test_a_header_that_asks_for_the_impossible_is_refused_or_harmless(loaded, what):
    path, fault, peak = loaded[what]
    assert not fault or fault.startswith(f"{path} cannot be read: ")
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
