"""Case bases filled and queried from tables."""

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.cases import add_table, rerank_by, row_of

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
    with pytest.raises(
        ValueError, match=r"the categories of 'colour', .* Learn the metric without it \(--drop 'colour'\)"
    ):
        add_table(tmp_path / "base.db", table, metric)
