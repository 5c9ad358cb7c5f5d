import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import whynear as wn
from tests.helpers.studies import measured, small_study
from whynear.embed.embedding import place_before
from whynear.study import maps as placed_rows
from whynear.study import stages
from whynear.study.folds import at_most
from whynear.study.learnable import learnable_problem
from whynear.study.maps import PlacedRows, maps_of, placed_rows_of
from whynear.study.settings import StudySettings


@pytest.fixture
def few_compared(monkeypatch):
    """Studies that compare 60 rows."""
    for module in (placed_rows, stages):
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
    model = wn.study(used.X.assign(y=used.y), "y", splitting=wn.Splitting(folds=2)).model
    found = placed_rows_of(problem, used, maps_of(used, model, 0), model, 0)
    assert_allclose(found.maps["after"][:, 0], model.predict(problem.X.loc[found.names]))
    assert_allclose(found.true, problem.y[found.names.to_numpy() - 1])


@pytest.mark.usefixtures("few_compared")
def test_beyond_a_limit_rows_are_drawn_at_random(monkeypatch):
    monkeypatch.setattr(placed_rows, "MOST_OTHERS", 20)
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
