import numpy as np
import pandas as pd
import pytest

from whynear.large import scan as module
from whynear.large.parts import open_parts
from whynear.large.scan import scan
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
    assert found.columns["a"].mean == pytest.approx(whole["a"].mean())
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
