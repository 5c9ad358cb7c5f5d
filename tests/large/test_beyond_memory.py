from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.decimal_tables import as_file, measured_rows
from tests.helpers.large_tables import messy_table
from whynear.data.opening import open_table
from whynear.data.options import Reading, Splitting, TableRefused
from whynear.data.problem import problem_from
from whynear.data.reading import NamedTable
from whynear.data.rows import numbered
from whynear.large import beyond_memory as problem
from whynear.large.beyond_memory import PREDICTION_BYTES, STUDY_BYTES, MemoryLimit, problem_from_scan
from whynear.large.parts import open_parts
from whynear.large.scan import scan
from whynear.study.settings import StudySettings
from whynear.utils.progress import silent

# A table that is scanned is read and refused as one in memory.


@pytest.fixture
def both(tmp_path):
    """The problem of a table that is scanned with a small sample, and that of the same table in memory."""

    def made(frame, target="kind", held_out=(), n_sample=30, **words):
        chosen = StudySettings.of(**words, spectra=False)
        reading, splitting = chosen.reading, chosen.splitting
        frame.to_parquet(tmp_path / "t.parquet", row_group_size=100)
        table = open_parts(tmp_path / "t.parquet")
        parts = [table.parts[place] for place in held_out]
        codes = reading.missing
        found = scan(table, target, n_sample=n_sample, seed=0, n_rows=64, report=silent, held_out=parts, missing=codes)
        whole = problem_from(NamedTable("t.parquet", numbered(frame)), target, reading, splitting)
        return (*problem_from_scan(table, found, target, reading, splitting, parts), whole)

    return made


def test_columns_are_read_as_those_of_the_whole_table(both):
    sample, rare_rows, whole = both(messy_table())
    pd.testing.assert_frame_equal(sample.columns, whole.columns, check_dtype=False)
    assert sample.encoder.get_params() == whole.encoder.get_params()
    assert (sample.classes, sample.summary, sample.target) == (whole.classes, whole.summary, whole.target)
    assert list(sample.X.columns) == list(rare_rows.X.columns) == list(whole.X.columns)
    assert len(sample.X) == 30
    assert 0 < len(rare_rows.X) < 100
    counting = ("'?' was taken as missing", "Column 'name' was set aside", "Column 'fat'")
    assert [said for said in whole.decisions if said not in sample.decisions and not said.startswith(counting)] == []
    assert any("1 missing value was filled in" in said or "2 missing values were" in said for said in sample.decisions)


def test_rows_keep_their_numbers_and_values(both):
    frame = messy_table()
    sample, rare_rows, whole = both(frame)
    for part in (sample, rare_rows):
        pd.testing.assert_frame_equal(part.X, whole.X.loc[part.X.index], check_dtype=False)
        assert (part.y == frame["kind"].to_numpy()[part.X.index - 1]).all()
    assert sample.X.index.name is None


def test_rows_are_named_by_a_column(both):
    sample, _, whole = both(messy_table(), index="name")
    assert sample.X.index.name == "name"
    assert set(sample.X.index) <= set(whole.X.index)
    assert "name" not in sample.X


def test_texts_with_decimal_commas_are_read_as_in_memory(tmp_path):
    rows = measured_rows(200)
    (tmp_path / "folder").mkdir()
    for number in range(4):
        piece = rows[50 * number : 50 * number + 50]
        as_file(piece.assign(dose=3) if number else piece, tmp_path / "folder" / f"{number}.csv")
    reading = Reading(spectra=False)
    table = open_parts(tmp_path / "folder")
    found = scan(table, "kind", n_sample=60, seed=0, n_rows=17, report=silent)
    sample, _ = problem_from_scan(table, found, "kind", reading, Splitting())
    whole = problem_from(open_table(tmp_path / "folder"), "kind", reading)
    pd.testing.assert_frame_equal(sample.X, whole.X.loc[sample.X.index], check_dtype=False)
    assert whole.X["cells"].tolist() == rows["cells"].tolist()
    assert sample.encoder.readings == whole.encoder.readings == {"dose": "number ,", "cells": "number ,"}


def test_missing_and_repeated_names_are_caveats(both):
    frame = messy_table()
    frame["name"] = [None, *(f"P{row % 150}" for row in range(1, 600))]
    sample, _, _ = both(frame, index="name", n_sample=400)
    said = " ".join(sample.caveats)
    assert "Column 'name' names all rows but 1, which is called by its number: 'row 1'." in said
    assert "Column 'name' names several rows alike: 'P" in said


def test_rows_are_named_by_the_index_that_pandas_saved(both):
    sample, _, _ = both(messy_table().set_index("name"))
    assert sample.X.index.name == "name"
    assert sample.X.index[0].startswith("patient")


def test_no_row_of_a_part_that_is_held_out_is_learned_from(both):
    sample, rare_rows, _ = both(messy_table(), held_out=(2, 5))
    rows = np.concatenate([sample.X.index, rare_rows.X.index])
    assert not ((rows > 200) & (rows <= 300)).any()
    assert not (rows > 500).any()


def test_groups_times_and_weights_go_with_their_rows(both):
    frame = messy_table().assign(ward=np.arange(600) % 7, heavy=np.arange(600) % 3 + 1.0)
    sample, rare_rows, whole = both(frame, group="ward", weight="heavy")
    for part in (sample, rare_rows):
        assert (part.weights == whole.weights.loc[part.X.index]).all()
        wards = frame["ward"].to_numpy()[part.X.index - 1]
        assert pd.Series(part.groups.to_numpy()).groupby(wards).nunique().max() == 1


def test_a_missing_target_is_refused_by_its_rows_and_left_out_on_request(both):
    frame = messy_table()
    frame.loc[[4, 250, 599], "kind"] = [None, "", "?"]
    with pytest.raises(TableRefused, match=r"3 values of the target 'kind' .* rows 5, 251, 600") as raised:
        _scanned_only(both, frame)
    assert raised.value.settings == {"drop_missing_target": True}
    sample, _, whole = both(frame, drop_missing_target=True)
    assert sample.classes == whole.classes
    assert "3 rows have no value of the target and were left out." in sample.caveats
    assert sample.summary.startswith("597 rows, 8 features")
    sample, _, whole = both(frame.drop(index=599), drop_missing_target=True)
    assert sample.summary == whole.summary


def _scanned_only(both, *words, **named):
    """Let the table in memory pass, so that the scanned one refuses."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(__name__ + ".problem_from", lambda *_, **__: None)
        return both(*words, **named)


def test_an_infinite_target_is_refused(both):
    frame = messy_table().assign(value=np.linspace(0, 1, 600))
    frame.loc[[99, 400], "value"] = [np.inf, -np.inf]
    with pytest.raises(TableRefused, match=r"2 values of the target 'value' .* rows 100, 401"):
        _scanned_only(both, frame, "value")


def test_infinities_are_counted_in_all_rows(both):
    frame = messy_table()
    frame.loc[[7, 8, 400], "size"] = np.inf
    with pytest.raises(TableRefused, match=r"inf.: 3 in column 'size'") as raised:
        _scanned_only(both, frame)
    assert raised.value.settings == {"missing": ("-inf", "inf")}
    sample, _, whole = both(frame, missing=("inf",))
    assert sample.columns.set_index("column").loc["size", "missing"] == 3
    assert sample.columns["missing"].tolist() == whole.columns["missing"].tolist()


def test_a_refusal_says_among_how_many_rows_it_counts(both):
    frame = messy_table().assign(day=pd.date_range("2020-01-01", periods=600))
    with pytest.raises(TableRefused, match=r"'day' \(dates, .* row 1\).* \d\d of the 600 rows.") as raised:
        _scanned_only(both, frame)
    assert raised.value.settings == {"date": ("day",)}
    sample, _, whole = both(frame, date=("day",))
    assert sample.columns["kind"].tolist() == whole.columns["kind"].tolist()


def test_a_text_of_rare_shape_is_refused_with_its_row(both):
    frame = messy_table().assign(dose=[f"{n}.5" for n in range(600)])
    frame.loc[431, "dose"] = "a lot"
    with pytest.raises(TableRefused, match=r"'dose' \(text, such as 'a lot' in row 432\)"):
        _scanned_only(both, frame)


def test_a_numeric_target_has_the_range_of_all_rows(both):
    frame = messy_table().assign(value=np.random.default_rng(1).normal(size=600))
    sample, _, whole = both(frame, "value")
    assert (sample.kind, sample.range, sample.summary) == ("numbers", whole.range, whole.summary)


def test_numbers_of_few_values_are_classes(both):
    frame = messy_table().assign(grade=np.arange(600) % 3 + 1)
    frame.loc[[8, 300], "grade"] = 4
    sample, _, whole = both(frame, "grade")
    assert sample.classes == whole.classes == (("1", 199), ("2", 200), ("3", 199), ("4", 2))


def test_a_class_of_one_row_is_left_out(both):
    frame = messy_table()
    frame.loc[77, "kind"] = "once"
    sample, _, whole = both(frame, n_sample=600)
    assert sample.classes == whole.classes
    assert "Classes with a single row cannot be held out and were left out: 'once'." in sample.caveats


def test_too_many_classes_are_refused(both, monkeypatch):
    monkeypatch.setattr("whynear.large.scan.MOST_CLASSES_COUNTED", 50)
    with pytest.raises(ValueError, match=r"the target 'name' has more than 5,000 classes, .* Merge"):
        _scanned_only(both, messy_table().drop(columns="number"), "name", n_sample=600)


def test_an_unknown_column_of_names_is_refused(both):
    with pytest.raises(ValueError, match=r"has no column 'nome'. Did you mean 'name'"):
        _scanned_only(both, messy_table(), index="nome")


@pytest.mark.parametrize(
    "target",
    [
        pd.Series(np.arange(600) % 3 == 0),
        pd.Series(pd.Categorical(np.where(np.arange(600) % 3 == 0, "often", "seldom"))),
        pd.Series(np.arange(600) % 3, dtype="Int64").mask(np.arange(600) == 350),
        pd.Series([f" {'ab'[n % 2]}" if n % 5 else "ab"[n % 2] for n in range(600)]),
    ],
    ids=["yes or no", "categories", "whole numbers with a gap", "text with blanks"],
)
def test_a_target_of_any_type_has_the_classes_of_the_whole_table(both, target):
    sample, _, whole = both(messy_table().assign(kind=target), drop_missing_target=True)
    assert sample.classes == whole.classes
    assert set(sample.y) == set(whole.y)


def test_ordered_categories_keep_their_order(both):
    grades = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    frame = messy_table().assign(grade=pd.Series(np.arange(600) % 3).map(dict(enumerate(grades.categories))))
    frame["grade"] = frame["grade"].astype(grades)
    sample, rare_rows, whole = both(frame)
    assert sample.X["grade"].dtype == rare_rows.X["grade"].dtype == whole.X["grade"].dtype == grades
    assert sample.columns["kind"].tolist() == whole.columns["kind"].tolist()


@pytest.mark.parametrize(
    "column",
    [
        pa.array([n % 3 == 0 if n % 7 else None for n in range(600)]),
        pa.array([Decimal(n) / 8 for n in range(600)], pa.decimal128(20, 6)),
        pa.array([[1, 2]] * 600),
        pa.array([{"x": 1}] * 600),
        pa.array(range(600), pa.duration("s")),
        pa.array([b"ab"] * 600),
        pa.nulls(600),
        pa.array(range(600), pa.date32()),
        pa.array([2**60 + n for n in range(600)]),
        pa.array([1e300] * 600),
        pa.array([1e-200 * (n + 1) for n in range(600)]),
        pa.array(list("ab") * 300, pa.large_string()),
        pa.array(["1,5", "2.5"] * 300),
        pa.array([""] * 600),
        pa.array(["x", " x"] * 300),
    ],
    ids=lambda column: str(column.type),
)
def test_strange_columns_are_taken_or_refused_as_in_memory(tmp_path, column):
    numbers, kinds = np.random.default_rng(0).normal(size=600), ["u", "v", "v"] * 200
    pq.write_table(
        pa.table({"a": numbers, "kind": kinds, "strange": column}), tmp_path / "t.parquet", row_group_size=70
    )
    table = open_parts(tmp_path / "t.parquet")
    found = scan(table, "kind", n_sample=30, seed=0, n_rows=64, report=silent)

    def outcome(make):
        try:
            problem = make()
        except TableRefused as refusal:
            return str(refusal).partition(" Counts are")[0], refusal.settings
        return problem.columns.to_dict("records"), problem.decisions

    in_memory = outcome(lambda: problem_from(open_table(tmp_path / "t.parquet"), "kind"))
    assert outcome(lambda: problem_from_scan(table, found, "kind", Reading(), Splitting())[0]) == in_memory


def test_the_limit_is_what_was_given_or_half_of_the_machine(monkeypatch):
    monkeypatch.setattr(problem, "machine_bytes", lambda: 8 * 10**9)
    assert (MemoryLimit.of("2GB").n_bytes, MemoryLimit.of(None).n_bytes) == (2 * 10**9, 4 * 10**9)
    assert MemoryLimit.of(3 * 10**9).room == 3 * 10**9 - STUDY_BYTES


def test_rows_have_room_for_many_copies_of_their_values():
    assert MemoryLimit.of("2GB").rows(10) == (2 * 10**9 - STUDY_BYTES) / 2000
    assert MemoryLimit.of("1MB").rows(10) == 0
    assert MemoryLimit.of_prediction("2GB").rows(10) == int((2 * 10**9 - PREDICTION_BYTES) / 6000)


def test_too_little_room_is_refused_with_what_is_enough(monkeypatch):
    message = (
        r"A study of t takes at least 770 MB of memory, and memory=700MB is allowed. Allow more \(--memory 0.8GB\)"
    )
    with pytest.raises(ValueError, match=message):
        MemoryLimit.of("700MB").check_room(5000, 20, "A study of t")
    MemoryLimit.of("0.8GB").check_room(5000, 20, "A study of t")
    monkeypatch.setattr(problem, "machine_bytes", lambda: 10**9)
    with pytest.raises(ValueError, match="and 500 MB are allowed"):
        MemoryLimit.of(None).check_room(5000, 20, "A study of t")
