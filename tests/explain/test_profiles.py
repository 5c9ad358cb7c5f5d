import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA
from sklearn.feature_selection import VarianceThreshold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PowerTransformer, StandardScaler

from tests.helpers.explained_learners import LEARNERS, LocalVote, fitted, table
from whynear import LGMLVQ, LGRLVQ, LocalMetric
from whynear.explain import class_profiles, explain


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("learner", LEARNERS)
def test_each_class_has_shares_of_the_users_columns_that_sum_to_one(learner, scaled):
    X, y = table()
    profiles = class_profiles(fitted(learner, scaled))
    assert profiles.index.tolist() == list(X)
    assert profiles.columns.tolist() == sorted(set(y))
    assert_allclose(profiles.sum(), 1.0)
    assert (profiles >= 0).all(axis=None)


@pytest.mark.parametrize("learner", ["GMLVQ", "GRLVQ", "LMNN"])
def test_under_a_global_metric_all_classes_are_alike(learner):
    model = fitted(learner)
    relevances = model[-1].metric_.relevances()
    for _, profile in class_profiles(model).items():
        assert_allclose(profile, relevances / relevances.sum())


@pytest.mark.parametrize("learner", ["LGMLVQ", "LGRLVQ", "LocalVote"])
def test_profiles_are_the_means_of_a_slow_loop_over_anchors(learner):
    model = fitted(learner)
    relevances = model[-1].metric_.relevances()
    labels = model[-1].y_ if learner == "LocalVote" else model[-1].prototype_labels_
    for label, profile in class_profiles(model).items():
        mean = [r / r.sum() for r, anchor_label in zip(relevances, labels, strict=True) if anchor_label == label]
        assert_allclose(profile, np.mean(mean, axis=0))


def test_over_given_cases_they_are_the_means_of_their_explanations():
    X, y = table()
    model, rows = fitted("LocalVote"), slice(0, 150, 15)
    by_explanation = pd.DataFrame([explain(model, x).relevances for _, x in X[rows].iterrows()])
    for labels, given in ((y[rows], y[rows]), (model.predict(X[rows]), None)):
        expected = by_explanation.groupby(np.asarray(labels)).mean().T
        assert_allclose(class_profiles(model, X[rows], given), expected)
    shuffled = X[rows][list(X)[::-1]]
    assert_allclose(class_profiles(model, shuffled, y[rows]), class_profiles(model, X[rows], y[rows]))


def test_a_dropped_column_does_not_matter_and_mixed_columns_are_separated():
    X, y = table()
    X = X.assign(constant=3.0)[["constant", *X]]
    dropped = class_profiles(make_pipeline(VarianceThreshold(), StandardScaler(), LGRLVQ(random_state=0)).fit(X, y))
    assert dropped.loc["constant"].tolist() == [0, 0, 0]
    assert_allclose(dropped.drop("constant"), class_profiles(fitted("LGRLVQ")))
    mixed = class_profiles(make_pipeline(StandardScaler(), PCA(3), LGMLVQ(random_state=0)).fit(X, y))
    assert mixed.index.tolist() == list(X)
    assert_allclose(mixed.sum(), 1.0)


def test_a_map_of_zeros_counts_for_nothing():
    model = LocalVote(k=1).fit(np.arange(4.0)[:, None] * [1, 1], ["a", "a", "b", "b"])
    model.metric_ = LocalMetric(model.metric_.anchors, [[1, 3], [0, 0], [0, 0], [0, 0]])
    assert class_profiles(model).to_numpy().T.tolist() == [[0.25, 0.75], [0, 0]]


def test_bad_requests_are_refused():
    X, y = table()
    model = fitted("LGRLVQ")
    with pytest.raises(ValueError, match="y without X"):
        class_profiles(model, y=y)
    with pytest.raises(ValueError, match="one class for each of the 150 rows"):
        class_profiles(model, X, y[:3])
    with pytest.raises(ValueError, match="X lacks 'sepal length"):
        class_profiles(model, X.drop(columns="sepal length (cm)"))
    with pytest.raises(TypeError, match="PowerTransformer is not known to be a linear map"):
        class_profiles(make_pipeline(PowerTransformer(), LGRLVQ(random_state=0)).fit(X, y))
