import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline

import whynear as wn

X, Y = load_iris(return_X_y=True)
WITH = np.column_stack([np.full(150, 0.1), X[:, :2], np.full(150, -7e3), X[:, 2:]])
LANN = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 1, "random_state": 0}
LEARNERS = [
    wn.GRLVQ(),
    wn.LGRLVQ(),
    wn.GMLVQ(),
    wn.GMLVQ(n_components=1, map_init="identity"),
    wn.GMLVQ(n_components=6),
    wn.GMLVQ(effective_dim=2),
    wn.GMLVQ(map_init="random", random_state=0),
    wn.GMLVQ(n_prototypes=2, solver="adam", max_iter=20, tol=0.01, random_state=0),
    wn.LGMLVQ(),
    wn.LMNN(),
    wn.LANN(**LANN),
    wn.LANN(n_components=2, **LANN),
    wn.LANN(constraint="trace", **LANN),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_constant_column_gets_no_weight_and_is_named(learner):
    with pytest.warns(UserWarning, match="the same value in every row of 2 columns, which get no weight: x0, x3"):
        model = learner.fit(WITH, Y)
    relevances = np.atleast_2d(model.metric_.relevances())
    assert_array_equal(relevances[:, [0, 3]], 0)
    assert (relevances[:, [1, 2, 4, 5]].sum(axis=1) > 0).all()
    assert model.score(WITH, Y) > 0.9
    away = WITH + np.array([5.0, 0, 0, 5.0, 0, 0])
    assert_array_equal(model.predict(away), model.predict(WITH))


def test_the_other_columns_are_learned_as_if_alone():
    for learner in (wn.GRLVQ(), wn.GMLVQ()):
        with pytest.warns(UserWarning, match="no weight"):
            one = wn.as_metric(learner.fit(WITH, Y)).relevances()[[1, 2, 4, 5]]
        assert_allclose(one, learner.fit(X, Y).metric_.relevances(), rtol=1e-6)


def test_a_selector_of_columns_leaves_nothing_to_warn_of(recwarn):
    make_pipeline(VarianceThreshold(), wn.GRLVQ()).fit(WITH, Y)
    assert not recwarn.list


def test_a_stream_may_come_to_vary():
    model = wn.GRLVQ().partial_fit(WITH, Y, classes=[0, 1, 2])
    assert model.metric_.weights[0] > 0


def test_a_stream_after_a_fit_keeps_other_columns_as_they_were():
    for constraint in ("box", "trace", "determinant"):
        with pytest.warns(UserWarning, match="no weight"):
            model = wn.LANN(constraint=constraint, **{**LANN, "step": 0.0}).fit(WITH, Y)
        before = model.metric_.weights
        model.partial_fit(WITH[:1], Y[:1])
        assert_allclose(model.metric_.weights[:150], before)


def test_a_table_without_any_variation_is_not_refused():
    model = wn.GRLVQ().fit(np.ones((6, 2)), [0, 1] * 3)
    assert np.isfinite(model.predict_proba(np.ones((1, 2)))).all()
