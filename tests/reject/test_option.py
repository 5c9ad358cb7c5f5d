import ast
import inspect
import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import check_estimator

import whynear as wn
from whynear.data.rows import TimeOrder, split_rows
from whynear.reject.nearness import Nearness, nearness_of
from whynear.reject.option import check_learner, checked_groups, checked_target, held_out_nearness, joined

CHEAP_LANN = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 1, "shared_step": 0.03}
LEARNERS = {
    "gmlvq": wn.GMLVQ(random_state=0),
    "lgmlvq": wn.LGMLVQ(random_state=0),
    "lmnn": wn.LMNN(max_iter=5, random_state=0),
    "lann": wn.LANN(**CHEAP_LANN, random_state=0),
    "knn": KNeighborsClassifier(5, weights="distance"),
    "forest": RandomForestClassifier(20, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), wn.GRLVQ(random_state=0)),
}
SAVED = ("gmlvq", "lann", "pipeline")


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(2000, centers=4, cluster_std=1.6, random_state=1)
    names = np.array(["ash", "birch", "cedar", "douglas fir"])
    return pd.DataFrame(X, columns=["width", "height"]), names[y]


def calibrated(name, blobs, **settings):
    X, y = blobs
    learner = clone(LEARNERS[name]).fit(X[:500], y[:500])
    return wn.RejectOption(learner, accuracy=0.95, random_state=0, **settings).calibrate(X[500:1500], y[500:1500])


@pytest.mark.filterwarnings("ignore:.*converge")
@pytest.mark.parametrize("name", LEARNERS)
def test_any_classifier_can_be_calibrated(name, blobs):
    option, (X, y) = calibrated(name, blobs), (blobs[0][1500:], blobs[1][1500:])
    assert option.promise.given
    decided, predicted = option.decide(X), option.predict(X)
    assert_array_equal(predicted.data, option.learner.predict(X))
    assert_array_equal(~predicted.mask, option.certainties(X) > option.promise.threshold)
    assert_array_equal(decided.reason == "", decided.accepted)
    assert_array_equal(option.reasons(X), decided.reason)
    assert_allclose(option.score(X, y), (predicted == y).mean())
    assert option.score(X, y) > 0.93
    assert_allclose(option.predict_proba(X), option.learner.predict_proba(X))
    curve = option.curve(X, y)
    assert curve.area < 1 - curve.accuracy[-1]
    covered = option.predict_set(X, 0.9)[np.arange(len(X)), np.searchsorted(option.classes_, y)]
    assert 0.85 < covered.mean() < 0.95


def test_fit_gives_the_learner_of_all_cases_and_held_out_certainties(blobs):
    X, y = blobs
    option = wn.RejectOption(wn.GMLVQ(random_state=0), accuracy=0.95, random_state=0).fit(X[:800], y[:800])
    alone = wn.GMLVQ(random_state=0).fit(X[:800], y[:800])
    assert_array_equal(option.predict(X[800:]).data, alone.predict(X[800:]))
    assert option.promise.n_cases == 480
    assert not hasattr(option.learner, "metric_")
    assert_array_equal(option.classes_, alone.classes_)
    assert option.n_features_in_ == 2
    again = clone(option).fit(X[:800], y[:800])
    assert_array_equal(again.certainties(X), option.certainties(X))


def test_other_accuracies_need_no_new_calibration(blobs):
    option = calibrated("gmlvq", blobs)
    strict = option.promise.threshold
    assert option.set_params(accuracy=0.9).promise.threshold <= strict
    assert option.promise.coverage > 0.75
    option.set_params(accuracy=0.9999)
    assert not option.promise.given
    assert option.predict(blobs[0]).mask.all()


def test_too_few_cases_are_said_with_the_number_needed(blobs):
    X, y = blobs
    learner = wn.GMLVQ(random_state=0).fit(X[:500], y[:500])
    with pytest.warns(UserWarning, match=r"at least 230 held-out cases .* 60 .*All cases are rejected"):
        option = wn.RejectOption(learner).calibrate(X[500:600], y[500:600])
    with pytest.warns(UserWarning, match="No case is accepted"):
        assert np.isnan(option.score(X, y))
    assert set(option.reasons(X)) == {"no promise", "outlier"}
    with pytest.warns(UserWarning, match="needs 199 calibration cases"):
        assert option.predict_set(X, 0.995).all()


def test_far_cases_are_outliers_and_cases_between_classes_ambiguous(blobs):
    X, y = blobs
    option = calibrated("lann", blobs)
    far = pd.DataFrame([[200.0, -300.0]], columns=X.columns)
    assert option.reasons(far).tolist() == ["outlier"]
    doubtful = X[~option.decide(X).accepted]
    assert (option.reasons(doubtful) == "ambiguous").mean() > 0.5
    centres = X.groupby(y).mean()
    assert option.reasons(centres).tolist() == ["", "", "", ""]


def test_cases_of_one_group_count_once(blobs):
    X, y = blobs
    groups = np.repeat(np.arange(100), 20)
    option = wn.RejectOption(wn.GMLVQ(random_state=0), accuracy=0.95, random_state=0)
    with pytest.warns(UserWarning, match="cannot be promised"):
        option.fit(X, y, groups=groups)
    assert option.promise.unit == "groups"
    assert option.promise.n_cases == 60
    with pytest.raises(ValueError, match="nothing can be promised for later cases"):
        option.fit(X, y, groups=TimeOrder(np.arange(2000)))


@pytest.mark.parametrize("name", SAVED)
@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
def test_a_file_gives_the_same_option(name, blobs, tmp_path):
    X, y = blobs
    fitted = wn.RejectOption(clone(LEARNERS[name]), accuracy=0.95, thresholds="class", random_state=0)
    for option in (calibrated(name, blobs), fitted.fit(X[:500], y[:500])):
        wn.save(option, tmp_path / "option.whynear")
        again = wn.load(tmp_path / "option.whynear")
        assert again.promise == option.promise
        assert again.decide(X) == option.decide(X)
        assert_array_equal(again.predict_set(X, 0.9), option.predict_set(X, 0.9))


def test_thresholds_of_classes_differ_in_certainty(blobs):
    option = calibrated("forest", blobs, thresholds="class")
    assert option.promise.given
    assert option.score(blobs[0][1500:], blobs[1][1500:]) > 0.93


def test_one_measure_orders_by_itself(blobs):
    X = blobs[0][1000:]
    option = calibrated("gmlvq", blobs, certainty="probability")
    order = np.argsort(option.learner.predict_proba(X).max(axis=1), kind="stable")
    assert (np.diff(option.certainties(X)[order]) >= -1e-12).all()


def test_calibrating_after_a_fit_takes_the_given_learner(blobs):
    X, y = blobs
    option = wn.RejectOption(wn.GMLVQ(random_state=0), accuracy=0.95, random_state=0).fit(X[:500], y[:500])
    with pytest.raises(NotFittedError):
        option.calibrate(X, y)
    option.set_params(learner=wn.GRLVQ(random_state=0).fit(X[:500], y[:500])).calibrate(X[500:], y[500:])
    assert isinstance(option.learner_, wn.GRLVQ)


@pytest.mark.parametrize(
    ("settings", "fault"),
    [
        ({"accuracy": 1.0}, "accuracy must be"),
        ({"confidence": 0}, "confidence must be"),
        ({"thresholds": "each"}, "thresholds must be"),
        ({"certainty": "entropy"}, "certainty must be"),
        ({"cv": 1}, "cv must be"),
    ],
)
def test_parameters_are_checked(settings, fault, blobs):
    with pytest.raises(ValueError, match=fault):
        wn.RejectOption(wn.GMLVQ(), **settings).fit(*blobs)


def test_an_option_that_is_not_calibrated_says_so(blobs):
    option = wn.RejectOption(wn.GMLVQ(random_state=0).fit(*blobs))
    for method in (option.predict, option.certainties, option.predict_set, option.predict_proba):
        with pytest.raises(NotFittedError):
            method(blobs[0])
    with pytest.raises(NotFittedError):
        assert option.promise


def test_it_is_scored_by_the_accepted_cases_in_a_search(blobs):
    X, y = blobs
    option = wn.RejectOption(LogisticRegression(max_iter=1000), accuracy=0.9, random_state=0)
    assert (cross_val_score(option, X, y, cv=3) > 0.9).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("learner", [LogisticRegression(), wn.GMLVQ(random_state=0)], ids=["logistic", "gmlvq"])
def test_it_passes_the_checks_of_scikit_learn(learner):
    masked = "predict returns a masked array, in which cases that may not be accepted are masked"
    check_estimator(
        wn.RejectOption(learner, random_state=0), expected_failed_checks={"check_classifiers_train": masked}
    )


def test_documented_defaults_are_those_of_the_signature():
    documented = dict(re.findall(r"^ *(\w+) : .*, default=(.+)$", wn.RejectOption.__doc__, flags=re.MULTILINE))
    signature = inspect.signature(wn.RejectOption).parameters
    defaults = {name: one.default for name, one in signature.items() if one.default is not inspect.Parameter.empty}
    assert {name: ast.literal_eval(text) for name, text in documented.items()} == defaults


@pytest.mark.parametrize("fitted", [False, True])
def test_a_memory_of_a_stream_is_refused(fitted, blobs):
    X, y = blobs
    memory = wn.SelfAdjustingMemory()
    option = wn.RejectOption(memory.fit(X[:100], y[:100]) if fitted else memory)
    with pytest.raises(TypeError, match=r"SelfAdjustingMemory\(\) learns from a stream.*Use a classifier"):
        (option.calibrate if fitted else option.fit)(X[100:], y[100:])


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


def test_each_case_is_predicted_by_a_learner_fitted_without_it():
    X, y = load_iris(return_X_y=True)
    learner, classes = wn.GRLVQ(random_state=0), np.unique(y)
    found = held_out_nearness(learner, X, y, classes, 3, seed=5)
    for train, test in split_rows(y, 3, 5, stratified=True):
        expected = nearness_of(clone(learner).fit(X[train], y[train]), X[test], classes)
        assert_allclose(found.sq_by_class[test], expected.sq_by_class)
        assert_array_equal(found.predicted[test], expected.predicted)


def test_a_class_of_one_case_is_predicted_as_another():
    X, y = load_iris(return_X_y=True)
    y = y.copy()
    y[0] = 7
    found = held_out_nearness(wn.GRLVQ(random_state=0), X, y, np.unique(y), 3, seed=0)
    assert found.predicted[0] != 3
    assert found.sq_by_class[0, 3] == np.inf


def test_parts_without_distances_leave_probabilities():
    with_distances = Nearness(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
    both = joined([with_distances, Nearness(np.array([0]), np.ones((1, 1)))])
    assert len(both) == 2
    assert both.sq_by_class is None
