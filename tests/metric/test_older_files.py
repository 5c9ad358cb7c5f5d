"""Files that an older version wrote: they open, and say what they said then."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import whynear as wn

OLDER = Path(__file__).parents[1] / "data" / "0.1.0"
EXPECTED = json.loads((OLDER / "expected.json").read_text())
COLUMNS = ["height", "weight", "age"]


@pytest.fixture
def cases():
    """The rows that the files were made of; the models behind no encoder saw the one gap as 24 rows without it."""
    return pd.read_csv(OLDER / "cases.csv")


@pytest.mark.parametrize("kind", ["linear", "diagonal", "minkowski"])
def test_a_metric_measures_as_it_did(kind, cases):
    X = cases[COLUMNS].to_numpy()
    metric = wn.load(OLDER / f"{kind}.whynear")
    measured = metric.sq_distances(X[8:12], np.nan_to_num(X[:4], nan=EXPECTED["gap"]))
    np.testing.assert_allclose(measured, EXPECTED[kind], rtol=1e-12, atol=1e-12)


def test_a_local_metric_measures_as_it_did(cases):
    metric = wn.load(OLDER / "local.whynear")
    np.testing.assert_allclose(metric.sq_distances(cases[COLUMNS].to_numpy()[8:12]), EXPECTED["local"], rtol=1e-12)


@pytest.mark.parametrize("name", ["gmlvq", "lgrlvq", "lmnn", "lann", "slider", "minimum_norm", "encoded"])
def test_a_model_predicts_as_it_did(name, cases):
    model, expected = wn.load(OLDER / f"{name}.whynear"), EXPECTED[name]
    table = cases[[*COLUMNS, "colour"]] if name == "encoded" else cases[COLUMNS].fillna(EXPECTED["gap"])
    if name == "minimum_norm":
        np.testing.assert_allclose(model.predict(table), expected["predicted"], rtol=1e-9, atol=1e-9)
        return
    assert model.predict(table).tolist() == expected["predicted"]
    np.testing.assert_allclose(model.predict_proba(table), expected["probabilities"], rtol=1e-9, atol=1e-9)


def test_a_case_base_finds_what_it_found(tmp_path, cases):
    shutil.copy(OLDER / "cases.db", tmp_path / "cases.db")
    with wn.CaseBase(tmp_path / "cases.db") as base:
        found = base.retrieve(cases[COLUMNS].to_numpy()[0], k=3).frame()
        base.add(cases[COLUMNS].fillna(0.0).set_axis([f"new {row}" for row in range(len(cases))]))
        assert base.retrieve(cases[COLUMNS].to_numpy()[0], k=2).rows == [found["id"][0], "new 0"]
    expected = EXPECTED["case_base"]
    assert found["row"].tolist() == expected["id"]
    assert found["id"].tolist() == expected["id"]
    assert found["payload"].tolist() == expected["payload"]
    np.testing.assert_allclose(found["sq_distance"], expected["sq_distance"], atol=1e-12)


@pytest.mark.parametrize(
    ("name", "kind"), [("lmnn", "case"), ("lann", "case"), ("slider", "case"), ("gmlvq", "prototype")]
)
def test_a_model_that_knows_no_rows_numbers_what_votes_from_one(name, kind, cases):
    why = wn.explain(wn.load(OLDER / f"{name}.whynear"), cases[COLUMNS].fillna(EXPECTED["gap"]).iloc[[8]])
    assert why.nearest.kind == kind
    assert why.neighbors[kind].ge(1).all()


@pytest.mark.parametrize("name", ["lmnn", "gmlvq", "minimum_norm", "encoded"])
def test_a_model_without_training_ranges_says_nothing_about_them(name, cases):
    columns = [*COLUMNS, "colour"] if name == "encoded" else COLUMNS
    table = cases.iloc[[8]][columns].assign(height=1e6)
    model = wn.load(OLDER / f"{name}.whynear")
    assert "out_of_range" not in wn.predict_table(model, table)
    if name != "minimum_norm":
        assert not any(one.kind == "out_of_range" for one in wn.explain(model, table).unusual)
