import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.feature_selection import VarianceThreshold
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

import whynear as wn
from tests.helpers.lann import GIVEN
from tests.helpers.learners import NearestClassMean
from tests.helpers.lvq import IRIS, LEARNERS
from whynear.learn import fit_inputs, predict_inputs
from whynear.learn.inputs import weighed

X = pd.DataFrame({"a": [0.0, 1, 2, 3], "b": [1.0, 0, 1, 0]}, index=list("wxyz"))
Y = ["u", "v", "u", "v"]


def test_classes_are_coded_in_order_and_names_kept():
    learner = NearestClassMean()
    data = fit_inputs(learner, X, Y)
    assert data.classes.tolist() == ["u", "v"]
    assert data.codes.tolist() == [0, 1, 0, 1]
    assert data.feature_names == ("a", "b")
    assert learner.feature_names_in_.tolist() == ["a", "b"]


def test_missing_targets_are_listed_by_row():
    with pytest.raises(ValueError, match=r"2 targets are missing, in rows 2, 4 \(counting from 1\)"):
        fit_inputs(NearestClassMean(), X, pd.Series(["u", None, "v", None]))


def test_a_single_class_is_named():
    with pytest.raises(ValueError, match=r"single class .*'u'.*NearestClassMean needs at least two"):
        fit_inputs(NearestClassMean(), X, ["u"] * 4)


def test_a_column_too_small_to_square_is_refused():
    with pytest.raises(ValueError, match="3e-200 in column 'a': its square vanishes"):
        fit_inputs(NearestClassMean(), X.assign(a=X["a"] * 1e-200), Y)


def test_cases_to_predict_are_checked_against_the_fit():
    learner = NearestClassMean().fit(X, Y)
    np.testing.assert_array_equal(predict_inputs(learner, X), X)
    with pytest.raises(ValueError, match="1 in column 'b'"):
        predict_inputs(learner, X.assign(b=[1, 2, 3, np.nan]))


@pytest.mark.parametrize(
    ("X", "y", "fact"),
    [
        (np.ma.masked_array(np.eye(6), mask=np.eye(6)), np.arange(6) % 2, "X has 6 masked values"),
        (np.eye(6, dtype="timedelta64[s]"), np.arange(6) % 2, "X holds dates or durations"),
        (np.eye(6), np.array(["a", 1] * 3, dtype=object), "y mixes text and other values: 'a' and 1. Write all"),
    ],
)
def test_what_is_no_plain_table_is_refused_in_a_sentence(X, y, fact):
    with pytest.raises(ValueError, match=fact):
        fit_inputs(wn.GRLVQ(), X, y)


# How much the cases of each class count.


X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS = IRIS[0], np.array(["a", "b", "c"])[IRIS[1]]
FEW = np.r_[0:50, 50:70, 100:110]  # 50, 20 and 10 of the classes
ALL = [*LEARNERS, wn.LMNN, partial(wn.LANN, **GIVEN)]


@pytest.mark.parametrize("learner", ALL)
def test_class_weights_are_weights_of_the_rows(learner):
    for given_weights in ("balanced", {"a": 2.0, "c": 0.5}):
        by_class = learner(random_state=0, class_weight=given_weights).fit(
            X_OF_CLASS_WEIGHTS[FEW], Y_OF_CLASS_WEIGHTS[FEW]
        )
        weights = compute_sample_weight(given_weights, Y_OF_CLASS_WEIGHTS[FEW])
        by_row = learner(random_state=0).fit(X_OF_CLASS_WEIGHTS[FEW], Y_OF_CLASS_WEIGHTS[FEW], sample_weight=weights)
        assert_allclose(by_class.metric_.relevances(), by_row.metric_.relevances(), atol=1e-3)
        assert_array_equal(by_class.predict(X_OF_CLASS_WEIGHTS), by_row.predict(X_OF_CLASS_WEIGHTS))


@given(seed=st.integers(0, 10**6))
def test_balanced_classes_have_one_weight_and_a_row_of_weight_two_counts_as_two(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, len(X_OF_CLASS_WEIGHTS))
    data = weighed(fit_inputs(wn.GRLVQ(), X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, counts), "balanced")
    totals = [data.weights[data.codes == code].sum() for code in range(3)]
    assert_allclose(totals, counts.sum() / 3)
    copied = np.repeat(np.arange(len(X_OF_CLASS_WEIGHTS)), counts)
    again = weighed(
        fit_inputs(wn.GRLVQ(), X_OF_CLASS_WEIGHTS[copied], Y_OF_CLASS_WEIGHTS[copied]), "balanced"
    ).distinct()
    assert_allclose(np.sort(again.weights), np.sort(data.distinct().weights))


@pytest.mark.parametrize("learner", ALL)
def test_weights_of_one_change_no_bit_and_weight_zero_leaves_a_row_out(learner):
    plain = learner(random_state=0).fit(X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS)
    ones = learner(random_state=0, class_weight={"a": 1.0, "b": 1.0}).fit(
        X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, sample_weight=np.ones(len(X_OF_CLASS_WEIGHTS))
    )
    assert ones.metric_ == plain.metric_
    assert_array_equal(ones.predict_proba(X_OF_CLASS_WEIGHTS), plain.predict_proba(X_OF_CLASS_WEIGHTS))
    weights = np.zeros(len(X_OF_CLASS_WEIGHTS))
    weights[FEW] = 1.0
    some = learner(random_state=0, class_weight="balanced").fit(
        X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, sample_weight=weights
    )
    left = learner(random_state=0, class_weight="balanced").fit(X_OF_CLASS_WEIGHTS[FEW], Y_OF_CLASS_WEIGHTS[FEW])
    assert some.metric_ == left.metric_
    assert_array_equal(some.predict_proba(X_OF_CLASS_WEIGHTS), left.predict_proba(X_OF_CLASS_WEIGHTS))


def test_balanced_classes_find_the_rare_one():
    rng = np.random.default_rng(0)
    rare = np.arange(600) % 20 == 0
    Z = rng.standard_normal((600, 4))
    Z[:, 0] += 1.5 * rare
    recall = [
        balanced_accuracy_score(rare, wn.GMLVQ(random_state=0, class_weight=weight).fit(Z, rare).predict(Z))
        for weight in (None, "balanced")
    ]
    assert recall[1] > recall[0] + 0.1


def test_weights_go_through_a_pipeline():
    weights = np.arange(1.0, len(X_OF_CLASS_WEIGHTS) + 1)
    model = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)).fit(
        X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, grlvq__sample_weight=weights
    )
    alone = wn.GRLVQ(random_state=0).fit(
        StandardScaler().fit_transform(X_OF_CLASS_WEIGHTS), Y_OF_CLASS_WEIGHTS, sample_weight=weights
    )
    assert model[-1].metric_ == alone.metric_


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ("even", "class_weight must be 'balanced', a weight for each class, or None, got 'even'"),
        ({"a": 1.0, "z": 2.0}, "class_weight names 'z', which is none of the classes ['a', 'b', 'c']"),
        ({"a": 0.0}, "class_weight['a']"),
    ],
)
def test_other_class_weights_are_refused(class_weight, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        wn.GRLVQ(class_weight=class_weight).fit(X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS)


@pytest.mark.parametrize("learner", [wn.GRLVQ, wn.LANN])
def test_a_stream_takes_weights_of_classes_but_cannot_balance_them(learner):
    learner(class_weight={"a": 3.0}).partial_fit(X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows at once"):
        learner(class_weight="balanced").partial_fit(X_OF_CLASS_WEIGHTS, Y_OF_CLASS_WEIGHTS, classes=["a", "b", "c"])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_weight_that_is_none_is_refused_with_its_row(value):
    weights = np.ones(len(X_OF_CLASS_WEIGHTS))
    weights[7] = value
    table = pd.DataFrame(X_OF_CLASS_WEIGHTS, index=[f"r{number}" for number in range(len(X_OF_CLASS_WEIGHTS))])
    for learner, target in (
        (wn.GRLVQ(), Y_OF_CLASS_WEIGHTS),
        (wn.LMNN(), Y_OF_CLASS_WEIGHTS),
        (wn.LANN(), Y_OF_CLASS_WEIGHTS),
        (wn.MinimumNormRegressor(), X_OF_CLASS_WEIGHTS[:, 0]),
    ):
        with pytest.raises(ValueError, match=f"none negative, got {value} in row r7 instead"):
            learner.fit(table, target, sample_weight=weights)
        with pytest.raises(ValueError, match="sample_weight must have a finite sum above zero"):
            learner.fit(table, target, sample_weight=np.zeros(len(X_OF_CLASS_WEIGHTS)))


X_OF_CONSTANT_COLUMNS, Y_OF_CONSTANT_COLUMNS = load_iris(return_X_y=True)
WITH = np.column_stack(
    [np.full(150, 0.1), X_OF_CONSTANT_COLUMNS[:, :2], np.full(150, -7e3), X_OF_CONSTANT_COLUMNS[:, 2:]]
)
LANN = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 1, "random_state": 0}
LEARNERS_OF_CONSTANT_COLUMNS = [
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


@pytest.mark.parametrize("learner", LEARNERS_OF_CONSTANT_COLUMNS, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_constant_column_gets_no_weight_and_is_named(learner):
    with pytest.warns(UserWarning, match=r"the same value in every row of 2 columns, .*: x0, x3"):
        model = learner.fit(WITH, Y_OF_CONSTANT_COLUMNS)
    relevances = np.atleast_2d(model.metric_.relevances())
    assert_array_equal(relevances[:, [0, 3]], 0)
    assert (relevances[:, [1, 2, 4, 5]].sum(axis=1) > 0).all()
    assert model.score(WITH, Y_OF_CONSTANT_COLUMNS) > 0.9
    away = WITH + np.array([5.0, 0, 0, 5.0, 0, 0])
    assert_array_equal(model.predict(away), model.predict(WITH))


def test_the_other_columns_are_learned_as_if_alone():
    for learner in (wn.GRLVQ(), wn.GMLVQ()):
        with pytest.warns(UserWarning, match="no weight"):
            one = wn.as_metric(learner.fit(WITH, Y_OF_CONSTANT_COLUMNS)).relevances()[[1, 2, 4, 5]]
        assert_allclose(one, learner.fit(X_OF_CONSTANT_COLUMNS, Y_OF_CONSTANT_COLUMNS).metric_.relevances(), rtol=1e-6)


def test_a_selector_of_columns_leaves_nothing_to_warn_of(recwarn):
    make_pipeline(VarianceThreshold(), wn.GRLVQ()).fit(WITH, Y_OF_CONSTANT_COLUMNS)
    assert not recwarn.list


def test_a_stream_may_come_to_vary():
    model = wn.GRLVQ().partial_fit(WITH, Y_OF_CONSTANT_COLUMNS, classes=[0, 1, 2])
    assert model.metric_.weights[0] > 0


def test_a_stream_after_a_fit_keeps_other_columns_as_they_were():
    for constraint in ("box", "trace", "determinant"):
        with pytest.warns(UserWarning, match="no weight"):
            model = wn.LANN(constraint=constraint, **{**LANN, "step": 0.0}).fit(WITH, Y_OF_CONSTANT_COLUMNS)
        before = model.metric_.weights
        model.partial_fit(WITH[:1], Y_OF_CONSTANT_COLUMNS[:1])
        assert_allclose(model.metric_.weights[:150], before)


def test_a_table_without_any_variation_is_not_refused():
    model = wn.GRLVQ().fit(np.ones((6, 2)), [0, 1] * 3)
    assert np.isfinite(model.predict_proba(np.ones((1, 2)))).all()
