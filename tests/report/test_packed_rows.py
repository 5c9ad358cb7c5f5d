import base64
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from whynear.report.packed_rows import MOST_IN_REPORT, others_data, packed_rows
from whynear.study.maps import PlacedRows


def rows(n, names=None, true=None, seed=0):
    rng = np.random.default_rng(seed)
    maps = {name: rng.standard_normal((n, 2)) for name in ("before", "after")}
    classes = np.array(["b", "a", "c"])[rng.integers(0, 3, n)] if true is None else true
    return PlacedRows(pd.RangeIndex(1, n + 1) if names is None else pd.Index(names), classes, maps, n)


def read(packed):
    """The header, the five arrays as whole steps, and the bytes of the names; another reading of the same format."""
    length = int.from_bytes(packed[:4], "little")
    header = json.loads(packed[4 : 4 + length])
    n, at, arrays = header["count"], 4 + length, []
    for _ in range(5):
        assert at % 4 == 0
        arrays.append(np.frombuffer(packed, "<u2", n, at))
        at += 4 * -(-n // 2)
    return header, arrays, packed[at:]


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rows_are_read_as_they_were_packed(n):
    others = rows(n)
    header, arrays, names = read(packed_rows(others, ["a", "b", "c"]))
    for array, (name, axis) in zip(arrays[:4], [("before", 0), ("before", 1), ("after", 0), ("after", 1)], strict=True):
        least, most = header["maps"][name][axis]
        assert_allclose(least + array * (most - least) / 65_535, others.maps[name][:, axis], atol=1e-4)
    assert np.array(["a", "b", "c"])[arrays[4]].tolist() == others.true.tolist()
    assert np.frombuffer(names, "<i4").tolist() == others.names.tolist()
    assert header["values"] is None


def test_measured_values_and_names_of_text():
    others = rows(3, names=["x", "two\nlines", "ç"], true=np.array([1.0, 2.0, 4.0]))
    header, arrays, names = read(packed_rows(others, []))
    assert header["values"] == [1, 4]
    assert arrays[4].tolist() == [0, 21_845, 65_535]
    assert names.decode().split("\n") == ["x", "two lines", "ç"]
    assert header["names"] == "text"


def test_numbers_too_large_for_four_bytes_are_text():
    header, _, names = read(packed_rows(rows(2, names=[1, 2**40]), ["a", "b", "c"]))
    assert (header["names"], names) == ("text", b"1\n1099511627776")


def test_a_report_has_a_sample():
    others = rows(100_000)
    data = others_data(others, ["a", "b", "c"])
    assert (data["total"], data["count"]) == (100_000, MOST_IN_REPORT)
    header, _, _ = read(base64.b64decode(data["packed"]))
    assert header["count"] == MOST_IN_REPORT
    assert len(data["packed"]) < 300_000
    assert others_data(None, ["a"]) is None
