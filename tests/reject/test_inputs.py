import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import whynear as wn
from whynear.data.rows import TimeOrder
from whynear.reject.option import check_learner, checked_groups, checked_target, rows_of


class Stream(BaseEstimator):
    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return None

    def learn_one(self, x, y):
        return self


class Prequential(Stream):
    learn_one = None

    def prequential(self, X, y):
        return None


@pytest.mark.parametrize("learner", [Stream(), Prequential(), make_pipeline(StandardScaler(), Stream())])
def test_a_promise_for_a_stream_is_refused(learner):
    with pytest.raises(TypeError, match="under drift"):
        check_learner(learner)


@pytest.mark.parametrize("learner", [wn.GMLVQ, "gmlvq", None])
def test_what_is_no_classifier_is_refused(learner):
    with pytest.raises(TypeError, match="must be a classifier"):
        check_learner(learner)


def test_a_classifier_without_probabilities_is_refused():
    with pytest.raises(TypeError, match="no predict_proba"):
        check_learner(LinearSVC())
    check_learner(wn.GMLVQ())


def test_times_are_refused_as_groups():
    with pytest.raises(ValueError, match="nothing can be promised for later cases"):
        checked_groups(TimeOrder([1, 2, 3], "day"), 3)
    with pytest.raises(ValueError, match="each of the 4 cases"):
        checked_groups([1, 2, 3], 4)
    assert checked_groups(["p", "q"], 2).tolist() == ["p", "q"]
    assert checked_groups(None, 2) is None


def test_targets_are_checked():
    X = np.zeros((3, 1))
    assert checked_target(X, ["a", "b", "a"]).tolist() == ["a", "b", "a"]
    for y, fault in ((None, "requires y"), ([0.5, 1.5, 2.1], "Unknown label type"), ([1, 2], "inconsistent")):
        with pytest.raises(ValueError, match=fault):
            checked_target(X, y)
    with pytest.raises(ValueError, match="0 samples"):
        checked_target(X[:0], np.empty(0, dtype=int))


@pytest.mark.parametrize("kind", [np.asarray, pd.DataFrame, coo_array, lambda X: X.tolist()])
def test_rows_of_any_kind_of_table(kind):
    X = np.arange(6.0).reshape(3, 2)
    found = rows_of(kind(X), np.array([2, 0]))
    found = found.toarray() if hasattr(found, "toarray") else np.asarray(found)
    assert found.tolist() == [[4, 5], [0, 1]]
