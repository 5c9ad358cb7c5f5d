import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.nearness import some_nearness
from whynear.learn.lvq.prototypes import relative_distances
from whynear.model.pipeline import FittedPipeline
from whynear.reject.nearness import (
    MEASURES,
    N_NEAR,
    NO_CASES,
    NearCases,
    Nearness,
    labelled_cases,
    measures_of,
    nearness_of,
    seen_by,
    usual_measures,
)

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


def test_each_kind_of_classifier_has_its_measures():
    of_cases, of_prototypes = some_nearness(), some_nearness(shares=False)
    of_probabilities = some_nearness(distances=False, shares=False)
    assert usual_measures(of_cases) == MEASURES == tuple(measures_of(of_cases))
    assert usual_measures(of_prototypes) == ("relative_distance", "nearest_distance", "probability")
    assert usual_measures(of_probabilities) == ("probability", "margin") == tuple(measures_of(of_probabilities))


def test_values_are_those_of_their_formulas():
    nearness = Nearness(
        np.array([1]), np.array([[0.2, 0.7, 0.1]]), np.array([[3.0, 1.0, 5.0]]), np.array([[0.4, 0.6, 0]])
    )
    found = {name: float(values[0]) for name, values in measures_of(nearness).items()}
    expected = {
        "relative_distance": (3 - 1) / (3 + 1),
        "nearest_distance": 0.0,
        "probability": np.log(0.7 / 0.3),
        "near_share": 0.6,
        "margin": 0.5,
    }
    assert found.keys() == expected.keys()
    assert_allclose(list(found.values()), list(expected.values()))


def test_the_relative_distance_is_that_of_lvq():
    nearness = some_nearness(seed=3)
    of_lvq = relative_distances(nearness.sq_by_class)[np.arange(len(nearness)), nearness.predicted]
    assert_allclose(measures_of(nearness)["relative_distance"], of_lvq)


@given(st.lists(st.sampled_from([0.0, 1e-300, 1.0, 1e300, np.inf]), min_size=3, max_size=3), st.integers(0, 2))
def test_all_but_the_nearest_distance_are_finite_for_any_distances(sq, predicted):
    nearness = Nearness(np.array([predicted]), np.array([[1.0, 0.0, 0.0]]), np.array([sq]))
    found = measures_of(nearness)
    assert all(np.isfinite(values).all() for name, values in found.items() if name != "nearest_distance")
    assert -1 <= found["relative_distance"][0] <= 1
    assert not np.isnan(found["nearest_distance"]).any()


def test_one_class_alone_is_certain():
    nearness = Nearness(np.array([0]), np.array([[1.0]]), np.array([[2.0]]))
    found = measures_of(nearness)
    assert found["relative_distance"][0] == 1
    assert found["margin"][0] == 1


def near_cases(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return NearCases(rng.normal(size=(n, 3)) * [1.0, 50.0, 0.01], rng.integers(0, 4, n))


def slow_shares(near, row, n_classes, own=-1):
    """The shares by distances to every case in standardised columns, but one."""
    sq = np.square((near.cases - row) / near.cases.std(axis=0)).sum(axis=1)
    nearest = [place for place in np.argsort(sq, kind="stable") if place != own][:25]
    return np.bincount(near.codes[nearest], minlength=n_classes) / len(nearest)


def test_shares_are_those_of_the_nearest_in_standardised_columns():
    near, rows = near_cases(), near_cases(20, seed=1).cases
    assert_allclose(near.shares(rows, 4), [slow_shares(near, row, 4) for row in rows])


def test_no_case_counts_for_itself():
    near = near_cases()
    slow = [slow_shares(near, row, 4, own) for own, row in enumerate(near.cases)]
    assert_allclose(near.own_shares(4), slow)


def test_units_do_not_count():
    near, rows = near_cases(), near_cases(20, seed=1).cases
    scale = np.array([1e-3, 7.0, 1e5])
    assert_allclose(NearCases(near.cases * scale, near.codes).shares(rows * scale, 4), near.shares(rows, 4))


def test_constant_columns_and_equal_cases_do_no_harm():
    near = NearCases(np.column_stack([np.full(40, 0.1), np.arange(40) % 2]), np.arange(40) % 2)
    assert_allclose(near.shares(np.array([[5.0, 0.0]]), 2), [[20 / 25, 5 / 25]])
    assert_allclose(near.own_shares(2)[1], [6 / 25, 19 / 25])


@pytest.mark.parametrize("n", [1, 2, 5])
def test_fewer_cases_than_25_all_count(n):
    near = NearCases(np.arange(float(n))[:, None], np.arange(n))
    assert_allclose(near.shares(np.zeros((1, 1)), n), np.full((1, n), 1 / n))
    assert_allclose(near.own_shares(n).sum(axis=1), min(n - 1, 1))


def test_a_class_that_is_not_known_counts_for_none():
    near = NearCases(np.arange(4.0)[:, None], np.array([0, 1, -1, -1]))
    assert_allclose(near.shares(np.zeros((1, 1)), 2), [[0.25, 0.25]])
    assert not NO_CASES


def test_missing_values_of_pandas_are_taken_behind_an_imputer():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)))
    y = np.array(["u", "v"])[(X[0] > 0).astype(int)]
    gaps = X.convert_dtypes().mask(np.eye(60, 3, dtype=bool))
    model = make_pipeline(SimpleImputer(), StandardScaler(), wn.GRLVQ(random_state=0))
    assert wn.RejectOption(model, random_state=0).fit(gaps, y).certainties(gaps).shape == (60,)


def test_rows_whose_squares_vanish_are_refused_by_neighbours_of_scikit_learn():
    X = np.random.default_rng(0).normal(size=(60, 3)) * 1e-170
    y = np.array(["u", "v"])[(X[:, 0] > 0).astype(int)]
    neighbours = KNeighborsClassifier(3).fit(X, y)
    with pytest.raises(ValueError, match=r"its square vanishes"):
        wn.RejectOption(neighbours, random_state=0).calibrate(X, y)
