"""The results of a study as sentences, and its caveats."""

import re

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import iris_study, measured, rows_of_two_classes
from whynear.study.findings import MOST_NAMED, _listed, deciding_columns

NOISE = np.random.default_rng(0).random(40)


def test_the_finding_says_it_in_words_and_numbers():
    study = iris_study()
    text = study.finding()
    assert re.search(r"predicts \d+\.\d% ± \d+\.\d% of held-out cases right, plain kNN \d+\.\d%", text)
    assert f"predicts {study.comparison.score} of held-out cases right" in text
    assert study.frame()["feature"][0] in text


def test_a_column_that_decides_alone_is_a_caveat():
    table = rows_of_two_classes(40, a=np.tile([0.0, 1.0], 20) + 0.1 * NOISE, b=NOISE)
    study = wn.study(table, "y", learner="grlvq", folds=3)
    assert any("'a' alone tells the classes apart" in caveat for caveat in study.caveats)
    assert deciding_columns(table[["a", "b"]], table["y"].to_numpy()) == ["a"]


def test_one_feature_is_enough():
    table = pd.DataFrame({"a": np.arange(40.0), "y": np.arange(40) // 20})
    study = wn.study(table, "y", learner="grlvq", folds=2)
    assert "Of 1 feature, 1 is indispensable: “a”." in study.finding()


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 10))])
def test_the_finding_states_the_known_truth(seed):
    data = wn.datasets.make_relevance(400, random_state=seed)
    study = wn.study(data.X.assign(kind=data.y), "kind", learner="gmlvq", folds=3)
    assert study.frame().set_index("feature")["strength"][data.X.columns].tolist() == data.strength.tolist()
    text = study.finding()
    assert "1 is indispensable: “strong_0”" in text
    assert re.search(r"3 matter but can be replaced: .* These can replace each other: .*weak_0_\d.*weak_0_\d", text)
    assert "4 are no better than noise" in text


def test_measurements_of_noise_are_a_caveat():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((100, 6))).add_prefix("x").assign(y=rng.standard_normal(100))
    study = wn.study(table, "y")
    assert study.comparison.expected < 0.1
    assert any("hardly better than the mean" in caveat for caveat in study.caveats)


def test_a_copy_of_a_measured_target_is_suspected():
    study = wn.study(measured().assign(copy=lambda table: 2 * table["y"] + 1), "y", folds=2)
    assert any("'copy' says the same as the target" in caveat for caveat in study.caveats)


def test_a_category_that_decides_is_suspected():
    outcome = np.tile(["yes", "no"], 40)
    table = pd.DataFrame({"z": np.random.default_rng(0).random(80), "code": np.char.add("c", outcome)}).assign(
        outcome=outcome
    )
    study = wn.study(table, "outcome", learner="grlvq", categories="onehot", folds=2)
    assert any("'code' alone tells the classes apart" in caveat for caveat in study.caveats)


def test_a_column_determines_the_classes_by_thresholds_or_by_categories():
    y = np.repeat(["u", "v", "w"], 10)
    X = pd.DataFrame(
        {
            "threshold": np.arange(30.0),
            "tied": np.repeat([0.0, 1.0, 1.0], 10),
            "there and back": np.repeat([0.0, 1.0, 0.0], 10),
            "category": y,
            "names": [f"row {i}" for i in range(30)],
            "gap": [np.nan, *np.arange(29.0)],
        }
    )
    assert deciding_columns(X, y) == ["threshold", "category"]


def test_a_sentence_names_the_first_features_and_counts_the_others():
    assert _listed(["a"]) == "“a”"
    assert _listed(["a", "b"]) == "“a” and “b”"
    assert _listed(["x"] * MOST_NAMED + ["y", "z"]).endswith("“x” and 2 more")
