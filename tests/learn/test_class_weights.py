"""How much the cases of each class count."""

import re
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import balanced_accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

import whynear as wn
from tests.helpers.lann import GIVEN
from tests.helpers.lvq import IRIS, LEARNERS
from whynear.learn.inputs import fit_inputs, weighed

X, Y = IRIS[0], np.array(["a", "b", "c"])[IRIS[1]]
FEW = np.r_[0:50, 50:70, 100:110]  # 50, 20 and 10 of the classes
ALL = [*LEARNERS, wn.LMNN, partial(wn.LANN, **GIVEN)]


@pytest.mark.parametrize("learner", ALL)
def test_class_weights_are_weights_of_the_rows(learner):
    for given_weights in ("balanced", {"a": 2.0, "c": 0.5}):
        by_class = learner(random_state=0, class_weight=given_weights).fit(X[FEW], Y[FEW])
        weights = compute_sample_weight(given_weights, Y[FEW])
        by_row = learner(random_state=0).fit(X[FEW], Y[FEW], sample_weight=weights)
        assert_allclose(by_class.metric_.relevances(), by_row.metric_.relevances(), atol=1e-3)
        assert_array_equal(by_class.predict(X), by_row.predict(X))


@given(seed=st.integers(0, 10**6))
def test_balanced_classes_have_one_weight_and_a_row_of_weight_two_counts_as_two(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, len(X))
    data = weighed(fit_inputs(wn.GRLVQ(), X, Y, counts), "balanced")
    totals = [data.weights[data.codes == code].sum() for code in range(3)]
    assert_allclose(totals, counts.sum() / 3)
    copied = np.repeat(np.arange(len(X)), counts)
    again = weighed(fit_inputs(wn.GRLVQ(), X[copied], Y[copied]), "balanced").distinct()
    assert_allclose(np.sort(again.weights), np.sort(data.distinct().weights))


@pytest.mark.parametrize("learner", ALL)
def test_weights_of_one_change_no_bit_and_weight_zero_leaves_a_row_out(learner):
    plain = learner(random_state=0).fit(X, Y)
    ones = learner(random_state=0, class_weight={"a": 1.0, "b": 1.0}).fit(X, Y, sample_weight=np.ones(len(X)))
    assert ones.metric_ == plain.metric_
    assert_array_equal(ones.predict_proba(X), plain.predict_proba(X))
    weights = np.zeros(len(X))
    weights[FEW] = 1.0
    some = learner(random_state=0, class_weight="balanced").fit(X, Y, sample_weight=weights)
    left = learner(random_state=0, class_weight="balanced").fit(X[FEW], Y[FEW])
    assert some.metric_ == left.metric_
    assert_array_equal(some.predict_proba(X), left.predict_proba(X))


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
    weights = np.arange(1.0, len(X) + 1)
    model = make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, Y, grlvq__sample_weight=weights)
    alone = wn.GRLVQ(random_state=0).fit(StandardScaler().fit_transform(X), Y, sample_weight=weights)
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
        wn.GRLVQ(class_weight=class_weight).fit(X, Y)


@pytest.mark.parametrize("learner", [wn.GRLVQ, wn.LANN])
def test_a_stream_takes_weights_of_classes_but_cannot_balance_them(learner):
    learner(class_weight={"a": 3.0}).partial_fit(X, Y, classes=["a", "b", "c"])
    with pytest.raises(ValueError, match="class_weight='balanced' needs all rows at once, and partial_fit sees a part"):
        learner(class_weight="balanced").partial_fit(X, Y, classes=["a", "b", "c"])


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_weight_that_is_none_is_refused_with_its_row(value):
    weights = np.ones(len(X))
    weights[7] = value
    table = pd.DataFrame(X, index=[f"r{number}" for number in range(len(X))])
    for learner, target in ((wn.GRLVQ(), Y), (wn.LMNN(), Y), (wn.LANN(), Y), (wn.MinimumNormRegressor(), X[:, 0])):
        with pytest.raises(ValueError, match=f"none negative, got {value} in row r7 instead"):
            learner.fit(table, target, sample_weight=weights)
        with pytest.raises(ValueError, match="sample_weight must have a finite sum above zero"):
            learner.fit(table, target, sample_weight=np.zeros(len(X)))
