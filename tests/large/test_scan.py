import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chisquare

from whynear.large import scan as module
from whynear.large import scan as scan_module
from whynear.large.parts import open_parts
from whynear.large.scan import ColumnStatistics, DistinctValues, RowSample, draws, joined_rows, scan
from whynear.utils.progress import silent


@pytest.fixture
def whole():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.normal(size=400), "n": rng.integers(0, 5, 400), "text": rng.choice(list("xyz"), 400)}
    )
    frame.loc[17, "text"] = "rare"
    frame.loc[300, "a"] = np.nan
    frame["kind"] = rng.choice(["sick", "well"], 400)
    frame.loc[[11, 399], "kind"] = "seldom"
    return frame


@pytest.fixture
def table(tmp_path, whole):
    whole.to_parquet(tmp_path / "t.parquet", row_group_size=100)
    return open_parts(tmp_path / "t.parquet")


def scanned(table, n_rows=64, **words):
    return scan(table, "kind", **{"n_sample": 50, "seed": 0, "n_rows": n_rows, "report": silent, **words})


@pytest.mark.parametrize("n_rows", [1, 9, 1000])
def test_one_pass_gives_the_same_whatever_the_batches(table, whole, n_rows):
    found, usual = scanned(table, n_rows), scanned(table)
    assert found.sample.equals(usual.sample)
    assert found.rare_rows.equals(usual.rare_rows)
    assert found.classes.counts == usual.classes.counts == whole["kind"].value_counts().to_dict()
    assert found.columns["a"].missing == 1
    assert found.columns["n"].distinct == 5


def test_rows_are_those_of_the_table_by_their_numbers(table, whole):
    found = scanned(table)
    rows = pd.concat([found.sample, found.rare_rows])
    assert rows.index.is_unique
    pd.testing.assert_frame_equal(rows, whole.set_axis(range(1, 401), axis=0).loc[rows.index])


def test_rare_rows_hold_rare_values_and_extremes(table, whole):
    found = scanned(table, n_sample=1)
    rows = pd.concat([found.sample, found.rare_rows])
    assert {"rare", "x", "y", "z"} <= set(rows["text"])
    assert rows["a"].isna().any()
    assert {whole["a"].min(), whole["a"].max()} <= set(rows["a"])
    assert {12, 400} <= set(found.sample.index), "two rows of the rare class"


def test_no_row_of_a_part_that_is_held_out_is_drawn(table):
    found = scanned(table, held_out=[table.parts[1]], n_sample=400)
    assert not set(found.sample.index) & set(range(101, 201))
    assert len(found.sample) == 300
    assert found.classes.counts.total() == 400
    assert found.classes.learned.total() == 300


def test_codes_are_missing_values_also_of_the_target(table, whole):
    found = scanned(table, missing=("well", "rare"))
    assert found.columns["text"].missing == 1
    assert found.classes.n_missing == (whole["kind"] == "well").sum()
    assert "well" not in found.classes.counts


def test_missing_and_infinite_targets_are_named_by_their_rows(tmp_path):
    frame = pd.DataFrame({"a": range(30), "kind": ["u", "v", None, "?", " "] * 6})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=7)
    classes = scanned(open_parts(tmp_path / "t.parquet"), 4).classes
    assert (classes.n_missing, classes.rows[""][:4]) == (12, [3, 5, 8, 10])
    assert classes.signs == ("?",)
    assert classes.faulty(classes.signs) == (6, [4, 9, 14, 19, 24, 29])
    frame.assign(kind=[0.5, np.inf, 2.0] * 10).to_parquet(tmp_path / "t.parquet")
    numeric = scanned(open_parts(tmp_path / "t.parquet"), 4).classes
    assert numeric.faulty(["inf", "-inf"])[1][:2] == [2, 5]
    assert (numeric.least, numeric.most) == (0.5, 2.0)
    assert set(numeric.counts) == {"0.5", "2", "inf"}


def test_a_numeric_target_of_many_values_gets_a_uniform_sample(tmp_path):
    values = np.random.default_rng(0).normal(size=300)
    values[280] = np.inf
    pd.DataFrame({"a": range(300), "kind": values}).to_parquet(tmp_path / "t.parquet", row_group_size=30)
    found = scanned(open_parts(tmp_path / "t.parquet"))
    assert found.classes.too_many
    assert len(found.sample) == 50
    assert found.classes.faulty(["inf", "-inf"]) == (1, [281])


def test_many_values_of_a_target_are_not_counted(table, monkeypatch):
    monkeypatch.setattr(module, "MOST_CLASSES_COUNTED", 2)
    assert scanned(table).classes.too_many


def test_progress_names_the_row(table):
    said = []
    scanned(table, 100, report=lambda step, share: said.append((step, share)))
    assert said == [(f"read the table, row {row} of 400", row / 400) for row in (1, 101, 201, 301)]


def test_a_table_of_the_target_alone_has_no_rare_rows(tmp_path):
    pd.DataFrame({"kind": list("uv") * 5}).to_parquet(tmp_path / "t.parquet")
    assert scanned(open_parts(tmp_path / "t.parquet")).rare_rows.empty


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
    monkeypatch.setattr(scan_module, "MOST_LEVELS", 5)
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


def table_of_row_sample(n):
    return pd.DataFrame({"a": np.arange(n) * 0.5}, index=np.arange(1, n + 1))


def sampled(n, most, seed, n_rows, classes=None):
    frame, sample = table_of_row_sample(n), RowSample(most, seed)
    for start in range(0, n, n_rows):
        stop = start + n_rows
        sample.add(frame.iloc[start:stop], None if classes is None else classes[start:stop])
    return sample.frame()


@given(st.integers(1, 200), st.integers(1, 50), st.integers(0, 2**32 - 1), st.integers(1, 210))
def test_the_sample_does_not_depend_on_the_batches(n, most, seed, n_rows):
    frame = sampled(n, most, seed, n_rows)
    assert len(frame) == min(n, most)
    assert frame.equals(sampled(n, most, seed, n))
    assert frame.index.is_monotonic_increasing
    assert frame["a"].tolist() == [(row - 1) * 0.5 for row in frame.index]


def test_the_sample_is_uniform():
    n, most, repeats = 50, 10, 2000
    counts = np.zeros(n)
    for seed in range(repeats):
        counts[sampled(n, most, seed, 50).index - 1] += 1
    assert counts.sum() == most * repeats
    assert chisquare(counts).pvalue > 0.01


def test_neighbouring_rows_are_drawn_independently():
    pairs = np.array([np.isin([7, 8], sampled(50, 25, seed, 50).index).all() for seed in range(2000)])
    assert pairs.mean() == pytest.approx(25 / 50 * 24 / 49, abs=0.03)


def test_other_seeds_give_other_samples():
    assert not sampled(1000, 50, 0, 100).equals(sampled(1000, 50, 1, 100))
    assert len(np.unique(draws(np.arange(100_000), 3))) == 100_000


@pytest.mark.parametrize("n_rows", [1, 13, 1000])
def test_rare_classes_are_there_twice_whatever_the_batches(n_rows):
    classes = np.array(["often"] * 997 + ["rare", "rare", "once"], dtype=object)
    classes[[5, 800]] = "seldom"
    frame = sampled(1000, 20, 0, n_rows, classes)
    found = pd.Series(classes[frame.index - 1]).value_counts()
    assert (found["rare"], found["seldom"], found["once"]) == (2, 2, 1)
    assert set(sampled(1000, 20, 0, 77).index) <= set(frame.index)
    assert frame.equals(sampled(1000, 20, 0, 77, classes))


def test_forgotten_classes_leave_a_uniform_sample():
    frame, sample = table_of_row_sample(300), RowSample(20, 0)
    sample.add(frame[:100], np.arange(100))
    sample.forget_classes()
    sample.add(frame[100:], np.arange(200))
    assert sample.frame().equals(sampled(300, 20, 0, 300))


def test_of_a_rare_class_each_row_is_as_likely():
    classes = np.array(["often"] * 40 + ["rare"] * 5, dtype=object)
    counts = np.zeros(5)
    for seed in range(2000):
        rows = sampled(45, 1, seed, 45, classes).index.to_numpy()
        counts[rows[rows > 40] - 41] += 1
    assert chisquare(counts).pvalue > 0.01


def test_rows_of_categories_are_joined():
    pieces = [pd.DataFrame({"c": pd.Categorical(list(letters))}, index=[row]) for row, letters in ((3, "x"), (9, "y"))]
    assert joined_rows(pieces)["c"].to_dict() == {3: "x", 9: "y"}
