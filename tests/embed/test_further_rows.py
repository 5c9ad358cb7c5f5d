import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.embed.embedding import by_blocks, embed, place_after, place_before


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((160, 4)), columns=list("abcd"))
    return X, np.where(X["a"] + X["b"] ** 2 > 0.5, "u", "v")


def fitted(learner, table):
    X, y = table
    return make_pipeline(StandardScaler(), learner).fit(X[:100], y[:100])


@pytest.mark.parametrize("learner", [wn.GRLVQ(random_state=0), wn.GMLVQ(random_state=0), wn.LGMLVQ(random_state=0)])
def test_rows_of_the_map_are_placed_where_they_lie(learner, table):
    model, X = fitted(learner, table), table[0][:100]
    points = embed(model, X, random_state=0)
    assert_allclose(place_after(model, X, points, X), points, atol=1e-9)
    assert_allclose(place_before(model, X, X), embed(model, X, method="pca"), atol=1e-9)


def test_a_linear_map_takes_further_rows_where_it_takes_all(table):
    model, X = fitted(wn.GMLVQ(random_state=0), table), table[0]
    metric = wn.as_metric(model)
    points = embed(model, X[:100], random_state=0)
    placed = place_after(model, X[:100], points, X[100:])
    mapped = metric.map(X)
    assert_allclose(np.linalg.matrix_rank(mapped), 4)
    design = np.column_stack([mapped, np.ones(len(mapped))])
    solved = np.linalg.lstsq(design[:100], points, rcond=None)[0]  # the map of the plane, found from its points alone
    assert_allclose(placed, design[100:] @ solved, atol=1e-8)


@pytest.mark.parametrize("learner", [wn.LGMLVQ(random_state=0), wn.LANN(random_state=0, epochs=1)])
def test_elsewhere_they_lie_between_rows_of_the_map(learner, table):
    model, X = fitted(learner, table), table[0]
    points = np.random.default_rng(1).standard_normal((100, 2))
    placed = place_after(model, X[:100], points, X[100:])
    assert placed.shape == (60, 2)
    assert (placed >= points.min(axis=0)).all()
    assert (placed <= points.max(axis=0)).all()
    assert np.unique(placed.round(9), axis=0).shape == (60, 2)


def test_blocks_do_not_change_what_is_placed(table, monkeypatch):
    X = table[0]
    whole = by_blocks(lambda rows: rows.to_numpy()[:, :2], X)
    monkeypatch.setattr("whynear.utils.threads.row_blocks", lambda n, **_: [slice(0, 7), slice(7, n)])
    assert_allclose(by_blocks(lambda rows: rows.to_numpy()[:, :2], X), whole)
