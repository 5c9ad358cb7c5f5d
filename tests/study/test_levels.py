import numpy as np
import pandas as pd
import pytest

import whynear as wn
from whynear.study import maps
from whynear.study.maps import levels_of


@pytest.fixture(scope="module")
def relevance():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 3)), columns=["noise", "sure", "other"])
    return wn.study(
        X.assign(y=np.where(X["sure"] > 0, "u", "v")), "y", learner="grlvq", splitting=wn.Splitting(folds=2)
    ).relevance


def table(sure):
    return pd.DataFrame({"noise": 0.0, "sure": sure, "other": 1.0})


def test_levels_are_fifths_of_the_cases_and_the_most_relevant_feature_comes_first(relevance):
    first = levels_of(table(np.arange(10.0)[::-1]), relevance)[0]
    assert (first.feature, first.place) == ("sure", 1)
    assert first.of_cases.tolist() == [4, 4, 4, 3, 3, 2, 2, 1, 1, 0]


def test_missing_values_have_no_level(relevance):
    assert levels_of(table([1.0, np.nan, 3.0]), relevance)[0].of_cases.tolist() == [2, -1, 4]


def test_categories_stand_in_the_order_of_their_names(relevance):
    assert levels_of(table(["b", "a", None, "c"]), relevance)[0].of_cases.tolist() == [3, 1, -1, 4]


def test_only_the_most_relevant_features_have_levels(relevance, monkeypatch):
    monkeypatch.setattr(maps, "MOST_FEATURES", 1)
    assert [feature.feature for feature in levels_of(table(np.arange(5.0)), relevance)] == ["sure"]
