import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from whynear.large import scan
from whynear.large.scan import ColumnStatistics, DistinctValues

NUMBERS = st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-3, 3)), min_size=1, max_size=60)
TEXTS = st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "?", "1,5", "ä "]), st.text(max_size=3)), min_size=1)


def gathered(column, n_rows):
    column = column.set_axis(range(1, len(column) + 1))
    statistics = ColumnStatistics()
    for start in range(0, len(column), n_rows):
        statistics.add(column.iloc[start : start + n_rows])
    return statistics, column


@given(NUMBERS, st.integers(1, 70))
def test_numbers_have_the_statistics_of_pandas_whatever_the_batches(values, n_rows):
    statistics, column = gathered(pd.Series(values, dtype=float), n_rows)
    assert (statistics.n_rows, statistics.missing) == (len(column), column.isna().sum())
    assert statistics.distinct == column.nunique()
    assert_allclose([statistics.minimum, statistics.maximum], [column.min(), column.max()], rtol=1e-9, atol=1e-6)


@given(TEXTS, st.integers(1, 70))
def test_texts_have_the_counts_of_pandas_whatever_the_batches(values, n_rows):
    statistics, column = gathered(pd.Series(values, dtype=object), n_rows)
    texts = column.dropna().str.strip()
    assert dict(statistics.levels) == texts.value_counts().to_dict()
    assert (statistics.missing, statistics.distinct) == (column.isna().sum(), texts.nunique())


@given(NUMBERS, st.integers(1, 70))
def test_shown_rows_show_what_they_say(values, n_rows):
    statistics, column = gathered(pd.Series(values, dtype=float), n_rows)
    shown = {what: column[row] for what, row in statistics.shown.items()}
    if column.notna().any():
        assert (shown["least"], shown["largest"]) == (column.min(), column.max())
    assert ("missing" in shown) == column.isna().any()
    assert "missing" not in shown or np.isnan(shown["missing"])
    assert ("fraction" in shown) == bool((column.dropna() % 1 != 0).any())


@pytest.mark.parametrize("n_rows", [1, 7, 500])
def test_shown_rows_do_not_depend_on_the_batches(n_rows):
    rng = np.random.default_rng(0)
    column = pd.Series([f"{n},5" if n % 3 else f"name {n}" for n in rng.integers(0, 400, 500)])
    statistics, rows = gathered(column, n_rows)
    assert statistics.shown == gathered(column, 33)[0].shown
    assert all(rows[row] == what.partition(" ")[2] for what, row in statistics.shown.items() if what[:4] == "text")


def test_a_rare_way_of_writing_is_shown_among_many_texts():
    column = pd.Series([f"{n}.5" for n in range(3000)] + ["1.234,5", "unknown"])
    statistics, rows = gathered(column, 100)
    assert statistics.has_many_levels
    assert {"1.234,5", "unknown"} <= {rows[row] for row in statistics.shown.values()}
    assert len(statistics.shown) < 70


def test_signs_are_counted_among_many_texts(monkeypatch):
    monkeypatch.setattr(scan, "MOST_LEVELS", 5)
    statistics, _ = gathered(pd.Series([*"abcdefghij", "?", "?", "k", "?"]), 3)
    assert dict(statistics.levels) == {"?": 3}
    assert statistics.distinct == 12


def test_infinities_are_counted_and_take_no_part_in_the_range():
    statistics, _ = gathered(pd.Series([1.0, np.inf, 3.0, -np.inf]), 2)
    assert (statistics.infinite, statistics.maximum, statistics.shown["infinite"]) == (2, 3.0, 2)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series([1, 2, None], dtype="Int64"),
        pd.Series(pd.Categorical(["low", None, "high"], ["low", "mid", "high"], ordered=True)),
        pd.Series(["a", None, "b"], dtype="string"),
        pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-02"])),
    ],
)
def test_any_type_is_counted(column):
    statistics, _ = gathered(column, 2)
    assert (statistics.missing, statistics.distinct) == (1, 2)


def test_many_different_values_are_estimated():
    distinct = DistinctValues(1000)
    for start in range(0, 200_000, 10_000):
        distinct.add(np.arange(start, start + 20_000, dtype=float))
    assert distinct.count == pytest.approx(210_000, rel=0.1)
