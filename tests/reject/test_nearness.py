import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from whynear.model.pipeline import FittedPipeline
from whynear.reject.nearness import N_NEAR, Nearness, labelled_cases, nearness_of, seen_by

CHEAP_LANN = {"epochs": 2, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_epochs": 1, "shared_step": 0.03}
LEARNERS = {
    "gmlvq": wn.GMLVQ(n_prototypes=2, random_state=0),
    "lgmlvq": wn.LGMLVQ(random_state=0),
    "grlvq": wn.GRLVQ(random_state=0),
    "lmnn": wn.LMNN(max_iter=5, random_state=0),
    "lann": wn.LANN(**CHEAP_LANN, random_state=0),
    "knn": KNeighborsClassifier(5, weights="distance"),
}


@pytest.fixture(scope="module")
def iris():
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


def all_sq_distances(model, X):
    """Distances of every row to every case, the obvious way, and the classes of the cases."""
    fitted = FittedPipeline.of(model)
    seen = np.asarray(fitted.seen(fitted.table(X)), dtype=float)
    learner = fitted.learner
    if isinstance(learner, KNeighborsClassifier):
        return np.square(seen[:, None] - learner._fit_X[None]).sum(axis=2), learner.classes_[learner._y]
    held = learner.evidence(seen[:1])
    cases = None if isinstance(learner.metric_, wn.LocalMetric) else held.cases
    return learner.metric_.sq_distances(seen, cases), held.labels


@pytest.mark.filterwarnings("ignore:.*converge")
@pytest.mark.parametrize("name", LEARNERS)
def test_distances_and_shares_equal_those_to_every_case(name, iris):
    X, y = iris
    model = make_pipeline(StandardScaler(), LEARNERS[name]).fit(X[::2], y[::2])
    found = nearness_of(model, X[1::2], model.classes_)
    sq, labels = all_sq_distances(model, X[1::2])
    for code, label in enumerate(model.classes_):
        assert_allclose(found.sq_by_class[:, code], sq[:, labels == label].min(axis=1), rtol=1e-9, atol=1e-12)
    assert_allclose(found.sq_nearest, sq.min(axis=1), rtol=1e-9, atol=1e-12)
    assert_array_equal(model.classes_[found.predicted], model.predict(X[1::2]))
    assert_allclose(found.probabilities, model.predict_proba(X[1::2]))
    if "vq" in name:
        assert found.near_shares is None
    else:
        nearest = np.argsort(sq, axis=1, kind="stable")[:, :N_NEAR]
        shares = np.array([(labels[nearest] == label).mean(axis=1) for label in model.classes_]).T
        assert_allclose(found.near_shares, shares, atol=2 / N_NEAR)  # ties at the last place
        assert (np.abs(found.near_shares - shares) > 1e-9).mean() < 0.1


def test_other_classifiers_have_probabilities_only(iris):
    X, y = iris
    found = nearness_of(LogisticRegression(max_iter=500).fit(X, y), X, np.unique(y))
    assert found.sq_by_class is None
    assert found.near_shares is None
    assert found.sq_nearest is None


def test_neighbours_by_another_metric_have_probabilities_only(iris):
    X, y = iris
    model = KNeighborsClassifier(metric="manhattan").fit(X, y)
    assert labelled_cases(model, X) is None


def test_classes_that_a_model_does_not_know_are_infinitely_far(iris):
    X, y = iris
    model = wn.GMLVQ(random_state=0).fit(X[:100], y[:100])
    found = nearness_of(model, X, np.unique(y))
    assert_array_equal(found.sq_by_class[:, 2], np.inf)
    assert_array_equal(found.probabilities[:, 2], 0)
    assert set(found.predicted) == {0, 1}


def test_rows_are_encoded_before_they_are_compared(iris):
    X, y = iris
    model = make_pipeline(wn.TableEncoder(categories="onehot"), StandardScaler(), wn.GMLVQ(random_state=0))
    mixed = X.assign(colour=np.where(y == "setosa", "blue", "red"))
    model.fit(mixed, y)
    expected = nearness_of(model, mixed, model.classes_).sq_by_class
    seen = model[:-1].transform(mixed)
    assert_allclose(expected, nearness_of(model[-1], seen, model.classes_).sq_by_class)


def test_rows_are_those_of_each_table():
    whole = Nearness(np.array([0, 1, 1]), np.eye(3), np.arange(9.0).reshape(3, 3))
    some = whole.rows(np.array([2, 0]))
    assert len(some) == 2
    assert_array_equal(some.predicted, [1, 0])
    assert_array_equal(some.sq_by_class, whole.sq_by_class[[2, 0]])
    assert some.near_shares is None


def test_prototypes_show_cases_in_their_coordinates(iris):
    X, y = iris
    scaled = StandardScaler().fit(X)
    prototypes = make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, y)
    assert_allclose(nearness_of(prototypes, X, prototypes.classes_).seen, scaled.transform(X))
    assert_allclose(seen_by(prototypes, X), scaled.transform(X))
    cases = KNeighborsClassifier(5).fit(X, y)
    assert nearness_of(cases, X, cases.classes_).seen is None
    assert seen_by(cases, X) is None


def test_coordinates_learned_from_classes_are_left_out(iris):
    X, y = iris
    model = make_pipeline(LinearDiscriminantAnalysis(), wn.GMLVQ(random_state=0)).fit(X, y)
    assert nearness_of(model, X, model.classes_).seen is not None
    assert seen_by(model, X) is None
