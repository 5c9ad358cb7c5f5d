import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import houses_study, measured, part_of_study, small_study
from whynear import doors
from whynear.embed import place_before
from whynear.study import interpretation as maps
from whynear.study.folds import at_most
from whynear.study.interpretation import PlacedRows, levels_of, maps_of, placed_rows_of
from whynear.study.learning import learnable_problem
from whynear.study.settings import StudySettings


def test_classes_are_placed_by_the_learned_metric():
    study = small_study()
    maps = maps_of(study.problem, study.model, 0)
    assert_allclose(maps["after"], wn.embed(study.model, study.problem.X, random_state=0))
    assert_allclose(maps["before"], wn.embed(study.model, study.problem.X, method="pca"))


def test_numbers_are_placed_by_their_predictions_and_by_what_differs_among_equal_ones():
    study = houses_study()
    across, up = study.maps["after"].T
    assert_allclose(across, study.model.predict(study.problem.X))
    added = np.array([why.contributions for why in wn.explain(study.model, study.problem.X)])
    alike = added - added.mean(axis=1, keepdims=True)
    assert np.square(up).sum() == pytest.approx(np.linalg.norm(alike - alike.mean(axis=0), 2) ** 2)


def test_a_single_column_is_a_line():
    X = pd.DataFrame({"a": np.arange(30.0)})
    study = wn.study(X.assign(y=X["a"] * 2 + np.sin(X["a"])), "y", splitting=wn.Splitting(folds=2))
    assert np.ptp(study.maps["after"], axis=0)[1] == 0


@pytest.fixture(scope="module")
def relevance():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, 3)), columns=["noise", "sure", "other"])
    table = X.assign(y=np.where(X["sure"] > 0, "u", "v"))
    return part_of_study("interpretation", table, "y", learner="grlvq", splitting=wn.Splitting(folds=2)).relevance


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


@pytest.fixture
def few_compared(monkeypatch):
    """Studies that compare 60 rows."""
    for module in (maps, doors):
        monkeypatch.setattr(module, "COMPARED_ROWS", 60)


def test_a_small_table_has_no_other_rows():
    assert small_study().others is None


@pytest.mark.usefixtures("few_compared")
def test_a_large_table_has_all_rows_once_as_cases_or_others():
    iris = wn.datasets.load("iris")
    study = wn.study(
        iris.X.assign(kind=np.array(iris.target_names)[iris.y]),
        "kind",
        learner="grlvq",
        splitting=wn.Splitting(folds=2),
    )
    others = study.others
    assert len(study.comparison.predictions) == 60
    assert sorted([*study.comparison.predictions.index, *others.names]) == list(range(1, 151))
    assert others.n_all == len(others.true) == 90
    expected = np.array(iris.target_names)[iris.y][others.names.to_numpy() - 1]
    assert others.true.tolist() == expected.tolist()
    rows = iris.X.iloc[others.names.to_numpy() - 1]
    assert_allclose(others.maps["before"], place_before(study.model, study.problem.X, rows))


@pytest.mark.usefixtures("few_compared")
def test_rows_of_a_numeric_target_lie_at_their_predictions():
    table = measured()
    problem = learnable_problem(table, "y", StudySettings())
    used = at_most(problem, 60, 0)
    model = part_of_study("model", used.X.assign(y=used.y), "y", splitting=wn.Splitting(folds=2))
    found = placed_rows_of(problem, used, maps_of(used, model, 0), model, 0)
    assert_allclose(found.maps["after"][:, 0], model.predict(problem.X.loc[found.names]))
    assert_allclose(found.true, problem.y[found.names.to_numpy() - 1])


@pytest.mark.usefixtures("few_compared")
def test_beyond_a_limit_rows_are_drawn_at_random(monkeypatch):
    monkeypatch.setattr(maps, "MOST_OTHERS", 20)
    study = small_study()
    found = placed_rows_of(study.problem, study.problem, study.maps, study.model, 0)
    assert (len(found.names), found.n_all) == (20, 90)
    assert len(set(found.names)) == 20


def test_some_of_them_are_taken_in_even_steps():
    maps = {name: np.arange(20.0).reshape(10, 2) for name in ("before", "after")}
    others = PlacedRows(pd.RangeIndex(1, 11), np.arange(10), maps, 50)
    assert others.some(10) is others
    some = others.some(4)
    assert some.names.tolist() == [1, 4, 7, 10]
    assert some.true.tolist() == [0, 3, 6, 9]
    assert some.maps["after"].tolist() == maps["after"][[0, 3, 6, 9]].tolist()
    assert some.n_all == 50
