import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.case_bases import cases, metrics, slow_nearest
from whynear.cases import index
from whynear.cases.case_base import CaseBase


@pytest.mark.parametrize("kind", ["linear", "third"])
def test_long_lists_are_measured_in_blocks(tmp_path, kind, monkeypatch):
    monkeypatch.setattr(index, "MOST_BYTES_KEPT", 100)
    X = cases(20_000)
    metric = metrics(cases())[kind]
    with CaseBase(tmp_path / "base", metric) as base:
        base.add(X)
        for query in (X[0], 1e6 * X[0]):
            ids, sq = slow_nearest(metric, X.astype(np.float32).astype(float), query, 500)
            found = base.retrieve(query, k=500)
            assert_array_equal(found.ids, ids)
            assert_array_equal(found.sq_distances, sq)


@pytest.mark.parametrize("kind", ["linear", "sparse", "third"])
def test_an_index_that_grew_finds_what_a_new_one_finds(tmp_path, eager_files, kind):
    X, metric = cases(400), metrics(cases())[kind]
    growing = CaseBase(tmp_path / "growing", metric)
    for start in range(0, 400, 40):
        growing.add(X[start : start + 40] * (1 + start))  # far beyond the unit of the first ones
        growing.add(X[start : start + 2])
        found = growing.retrieve(X[0], k=9)
        with CaseBase(tmp_path / "growing") as fresh:
            (tmp_path / "growing-index").unlink()
            assert_array_equal(fresh.retrieve(X[0], k=9).ids, found.ids)
    assert (tmp_path / "growing-index").exists()
