"""Tables predicted and explained by a fitted model or the file of one."""

import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import Ridge

import whynear as wn


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.fixture(scope="module")
def learner(iris):
    return wn.GRLVQ(random_state=0).fit(*iris)


def test_a_model_and_its_file_predict_a_frame_and_its_file_alike(iris, learner, tmp_path):
    X, _ = iris
    wn.save(learner, tmp_path / "model")
    X.assign(note="x").to_csv(tmp_path / "cases.csv", index=False)
    given = wn.predict_table(learner, X)
    read = wn.predict_table(tmp_path / "model", str(tmp_path / "cases.csv"))
    pd.testing.assert_frame_equal(given, read, check_exact=False)
    assert given["row"].tolist() == list(range(1, 151))
    assert given["predicted"].tolist() == learner.predict(X).tolist()
    assert given["probability"].tolist() == learner.predict_proba(X).max(axis=1).tolist()
    assert (given.attrs["source"], read.attrs["source"]) == ("The table", "cases.csv")


def test_rows_are_named_by_a_column(iris, learner):
    X = iris[0].head(3).assign(id=["a", "b", "c"])
    assert wn.predict_table(learner, X, index="id")["row"].tolist() == ["a", "b", "c"]
    assert wn.explain_row(learner, X, "b", index="id").to_dict() == wn.explain_row(learner, X, 2).to_dict()
    with pytest.raises(ValueError, match="The table has 0 rows with 'd' in column 'id', and one is needed"):
        wn.explain_row(learner, X, "d", index="id")


def test_a_row_is_explained_as_by_explain(iris, learner):
    X = iris[0]
    assert wn.explain_row(learner, X, 60).to_dict() == wn.explain(learner, X.iloc[[59]]).to_dict()
    with pytest.raises(ValueError, match="The table has rows 1 to 150, got --row 151 instead"):
        wn.explain_row(learner, X, 151)


def test_what_cannot_predict_is_refused(iris, learner):
    X = iris[0]
    with pytest.raises(TypeError, match="model holds only a metric, which cannot predict"):
        wn.predict_table(learner.metric_, X)
    with pytest.raises(ValueError, match="model holds a model that is not fitted"):
        wn.predict_table(wn.GRLVQ(), X)
    with pytest.raises(TypeError, match="A fitted classifier with a method evidence is needed"):
        wn.explain_row(Ridge().fit(X, range(150)), X)
    with pytest.raises(ValueError, match="The table lacks 'petal width"):
        wn.predict_table(learner, X.iloc[:, :3])
