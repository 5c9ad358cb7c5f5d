"""Case bases filled and queried from tables."""

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.decimal_tables import as_file, as_folder, measured_rows, model_of_commas
from tests.helpers.mixed_tables import model_of_patients, patients
from whynear.cases.tables import add_table, rerank_by, row_of

TABLE = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": [0.0, 1.0, 0.0], "name": ["x", None, "z"]})
METRIC = wn.DiagonalMetric([1.0, 1.0], ["a", "b"])


def test_rows_are_added_with_what_is_no_feature_as_payload(tmp_path):
    assert add_table(tmp_path / "base", TABLE, METRIC) == 3
    assert add_table(tmp_path / "base", TABLE, payload=[]) == 3
    with wn.CaseBase(tmp_path / "base") as base:
        found = base.retrieve(row_of(TABLE, 3, base.columns), k=2)
    assert found.payloads == [{"name": "z"}, {}]


def test_rows_are_stored_with_their_names(tmp_path):
    add_table(tmp_path / "base", TABLE, METRIC)
    add_table(tmp_path / "base", TABLE.iloc[[2]], index="name")
    with wn.CaseBase(tmp_path / "base") as base:
        assert base.get([1, 2, 3, 4]).rows == [1, 2, 3, "z"]
        assert row_of(TABLE, "z", base.columns, index="name").tolist() == row_of(TABLE, 3, base.columns).tolist()


def test_a_base_that_could_not_be_filled_is_not_left_behind(tmp_path):
    with pytest.raises(ValueError, match="a new case base needs a metric"):
        add_table(tmp_path / "base", TABLE)
    with pytest.raises(ValueError, match="The table lacks 'b' of the case base"):
        add_table(tmp_path / "base", TABLE[["a"]], METRIC)
    assert list(tmp_path.iterdir()) == []


def test_rows_are_counted_from_one(tmp_path):
    np.testing.assert_array_equal(row_of(TABLE, 1, ["b", "a"]), [0.0, 1.0])
    with pytest.raises(ValueError, match="The table has rows 1 to 3, got --row 4 instead"):
        row_of(TABLE, 4, ["a", "b"])


def test_another_metric_ranks_anew(tmp_path):
    add_table(tmp_path / "base", TABLE, METRIC)
    by = rerank_by(wn.DiagonalMetric([0.0, 1.0], ["a", "b"]))
    with wn.CaseBase(tmp_path / "base") as base:
        assert base.retrieve([2.0, 0.0], k=1).payloads == [{"name": "x"}]
        found = base.retrieve([4.0, 1.0], k=3, filter_k=3, rerank=by)
    assert found.payloads[0] == {"name": None}


def test_a_metric_of_categories_is_refused_by_its_columns_with_the_way_out(tmp_path):
    table = pd.DataFrame({"size": [1.0, 2.0], "colour": ["red", "blue"], "kind": ["x", "y"]})
    metric = wn.DiagonalMetric([1.0, 1.0], feature_names=["size", "colour=red"])
    with pytest.raises(ValueError, match=r"the categories of 'colour', .* \(--drop 'colour'\)"):
        add_table(tmp_path / "base.db", table, metric)


def test_tables_with_categories_dates_and_gaps_fill_a_base_of_a_model(tmp_path):
    X, y = patients()
    table = X.assign(ill=y)
    table.to_csv(tmp_path / "patients.csv", index_label="patient")
    model, n_gaps = model_of_patients(), (X.isna().any(axis=1) | (X["dose"] == -9)).sum()
    with pytest.warns(UserWarning, match=rf"patients.csv: {n_gaps} rows have missing values"):
        assert add_table(tmp_path / "base", tmp_path / "patients.csv", model, index="patient") == 70
    with wn.CaseBase(tmp_path / "base") as base:
        row = row_of(tmp_path / "patients.csv", "p9", base.columns, base.encoder, index="patient")
        found = base.retrieve(row, k=3)
        assert found.rows == base.retrieve(X.loc[["p9"]], k=3).rows
        assert found.rows[0] == "p9"
        assert found.payloads[0] == {"patient": "p9", "ill": y[9]}
        assert [value.column for value in found.unusual] == ["age"]


def test_a_table_whose_rows_cannot_be_encoded_makes_no_base(tmp_path):
    table = patients()[0].assign(age="old")
    with pytest.raises(ValueError, match=r"^The table holds 'old' in column 'age', row p0"):
        add_table(tmp_path / "base", table, model_of_patients())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"rows": slice(1, 60)}, "column 'age' in another way"),
        ({"readings": {"admitted": "category"}}, "column 'admitted' in another way than the case base .categories: "),
    ],
)
def test_a_model_that_encodes_a_column_in_another_way_does_not_re_rank(settings, sentence):
    other, encoder = model_of_patients(**settings), model_of_patients()[0]
    with pytest.raises(ValueError, match=f"{sentence}.*Use a model learned from the same table"):
        rerank_by(other, encoder)
    rerank_by(other)
    rerank_by(wn.as_metric(other), encoder)


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_cases_do_not_depend_on_how_numbers_are_written(tmp_path):
    model = model_of_commas(tmp_path / "training.csv")
    new = measured_rows(6, seed=1).assign(dose=[3, 4, 5, 6, 7, 8])
    found = []
    for name, table in {
        "numbers": new,
        "file": as_file(new, tmp_path / "new.csv"),
        "folder": as_folder(new, tmp_path / "new"),
    }.items():
        add_table(tmp_path / name, table, model)
        with wn.CaseBase(tmp_path / name) as base:
            case = row_of(table, 2, base.columns, base.encoder)
            found.append(base.retrieve(case, k=6).frame()[["row", "sq_distance"]])
    assert found[0]["sq_distance"][0] == 0
    pd.testing.assert_frame_equal(found[1], found[0])
    pd.testing.assert_frame_equal(found[2], found[0])
