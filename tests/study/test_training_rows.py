import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.measured_tables import houses
from whynear.learn import minimum_norm
from whynear.study.methods import column_of_names, remember_rows


def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((20, 2)), columns=["a", "b"])
    return X.set_axis(pd.Index([f"p{row}" for row in range(20)], name="patient")), (X["a"] > 0).to_numpy()


def test_names_behind_a_scaler_are_those_of_the_table():
    X, y = table()
    model = make_pipeline(StandardScaler(), wn.LMNN(max_iter=3)).fit(X, y)
    assert wn.explain(model, X.iloc[0]).nearest.kind == "case"
    assert column_of_names(model) is None
    assert remember_rows(model, X) is model
    why = wn.explain(model, X.iloc[0])
    assert (why.nearest.kind, why.nearest.name) == ("row", "p0")  # a training row is nearest to itself
    assert column_of_names(model) == "patient"


def test_prototypes_are_no_rows_but_the_column_is_known():
    X, y = table()
    model = remember_rows(make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, y), X)
    assert not hasattr(model[-1], "row_names_")
    assert column_of_names(model) == "patient"
    assert wn.explain(model, X.iloc[0]).nearest.kind == "prototype"


def test_estimators_of_others_are_left_alone():
    X, y = table()
    model = KNeighborsClassifier(3).fit(X, y)
    before = set(vars(model))
    assert set(vars(remember_rows(model, X))) == before


@pytest.mark.parametrize("categories", ["auto", "onehot"])
def test_values_that_a_neighbour_lacks_are_missing_and_not_what_was_filled_in(categories, tmp_path):
    X, y = table()
    X.loc[["p3", "p4"], "b"] = None
    if categories == "onehot":
        X["colour"] = ["red", "blue", None, "green"] * 5
    model = wn.learn_table(
        X.assign(y=y), "y", learner="lmnn", reading=wn.Reading(categories=categories, impute="median")
    ).model
    wn.save(model, tmp_path / "model")
    for one in (model, wn.load(tmp_path / "model")):
        why = wn.explain(one, X.loc[["p3"]])
        assert why.nearest.name == "p3"
        assert pd.isna(why.nearest.values["b"])
        held, given = why.neighbor_values, X.loc[why.neighbors["row"]]
        pd.testing.assert_frame_equal(held.isna(), given.isna(), check_names=False)
        assert [row["values"][1] is None for row in why.to_dict()["neighbors"]] == given["b"].isna().tolist()


def test_a_learner_that_is_fitted_again_forgets_the_table():
    X, y = table()
    learner = remember_rows(wn.LMNN(max_iter=3, tol=0.9).fit(X, y), X)
    assert {"row_gaps_", "row_column_"} <= set(vars(learner))
    learner.fit(X.to_numpy(), y)
    assert not {"row_gaps_", "row_column_"} & set(vars(learner))
    assert learner.row_names_ is None


def test_of_a_part_of_the_rows_names_and_gaps_are_those_of_the_part(monkeypatch):
    monkeypatch.setattr(minimum_norm, "MOST_CASES", 40)
    X, y = houses()
    learner = wn.learn_table(X.assign(price=y), "price").model[-1]
    assert learner.row_names_.tolist() == X.index[::2].tolist()
    assert learner.row_gaps_.tolist() == []
    monkeypatch.setattr(minimum_norm, "MOST_CASES", 30)
    assert wn.learn_table(X.assign(price=y), "price").model[-1].row_gaps_.tolist() == [[1, 1]]
