import numpy as np
import pandas as pd
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.study.training_rows import column_of_names, remember_rows


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
