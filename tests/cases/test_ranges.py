import numpy as np
import pandas as pd
import pytest

from whynear import CaseBase, DiagonalMetric
from whynear.cases import tables
from whynear.cases.tables import numbers_out_of_range

ROWS = np.array([[0.0, -5.0], [1.5, 2.0], [3.0, 0.1]])
NAMES = ["width", "height"]


@pytest.fixture
def base():
    with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], NAMES)) as base:
        base.add(ROWS)
        yield base


@pytest.mark.parametrize(
    "form", [np.asarray, lambda x: dict(zip(NAMES, x, strict=True)), lambda x: pd.DataFrame([x], columns=NAMES)]
)
def test_numbers_are_outside_exactly_where_they_exceed_the_stored_ones(base, form):
    rng = np.random.default_rng(0)
    for case in rng.uniform(-8, 5, (40, 2)):
        outside = (case < ROWS.min(axis=0)) | (case > ROWS.max(axis=0))
        assert [value.column for value in numbers_out_of_range(base, form(case))] == list(np.array(NAMES)[outside])


def test_a_stored_number_is_within_the_range_though_it_was_rounded(base):
    for row in ROWS:
        assert numbers_out_of_range(base, row) == []


def test_text_gaps_and_unknown_columns_are_not_compared(base):
    assert numbers_out_of_range(base, {"width": "wide", "height": None, "depth": 1e9}) == []
    assert [value.column for value in numbers_out_of_range(base, {"width": "7"})] == ["width"]


def test_large_and_empty_bases_are_not_read(base, monkeypatch):
    monkeypatch.setattr(tables, "MOST_COMPARED", 2)
    assert numbers_out_of_range(base, [99.0, 99.0] @ np.eye(2)) == []
    with CaseBase(":memory:", DiagonalMetric([1.0, 4.0], NAMES)) as empty:
        assert numbers_out_of_range(empty, ROWS[0]) == []
