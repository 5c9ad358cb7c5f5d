import warnings

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

import whynear as wn
from tests.helpers.partitions import in_chunks, in_partitions, sorted_by_class
from whynear import datasets
from whynear.learn.kernel import leaves

LEARNERS = [wn.GRLVQ(), wn.GMLVQ(), wn.LGRLVQ(), wn.LGMLVQ(n_components=2)]
SETTINGS = [
    wn.GMLVQ(n_components=3),
    wn.GMLVQ(effective_dim=5, count_prototypes=True),
    wn.GMLVQ(n_prototypes=2, prototype_init="means", map_init="random", random_state=1),
    wn.GRLVQ(n_prototypes={0: 1, 1: 3, 2: 2}, random_state=0),
    wn.LGRLVQ(class_weight="balanced"),
    wn.GRLVQ(sigma=50, squashing="sigmoid"),
]


def wine():
    X, y = load_wine(return_X_y=True)
    return sorted_by_class(scale(X), y)


def assert_same_learner(found, expected, tolerance=1e-8):
    assert vars(found).keys() == vars(expected).keys()
    for name, array in expected.metric_.arrays().items():
        assert_allclose(found.metric_.arrays()[name], array, rtol=0, atol=tolerance * max(1.0, np.abs(array).max()))
    assert found.metric_.feature_names == expected.metric_.feature_names
    for name in ("prototypes_", "certainty_", "loss_curve_", "input_range_"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=tolerance, atol=tolerance)
    for name in ("classes_", "prototype_labels_", "n_features_in_", "n_iter_"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
        assert type(getattr(found, name)) is type(getattr(expected, name))


@pytest.mark.parametrize("learner", LEARNERS + SETTINGS, ids=str)
def test_a_fit_to_partitions_is_the_fit_in_memory(learner):
    X, y = wine()
    expected = clone(learner).fit(X, y)
    given = clone(learner)
    found = wn.distributed.fit(given, in_chunks(X), in_chunks(y))
    assert found is given
    assert_same_learner(found, expected)
    assert_array_equal(found.predict(X), expected.predict(X))
    assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("learner", LEARNERS[:3], ids=str)
def test_digits_are_learned_alike(learner):
    X, y = sorted_by_class(*load_digits(return_X_y=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of constant columns, and that a few iterations do not converge
        expected = clone(learner).set_params(max_iter=20).fit(X, y)
        found = wn.distributed.fit(clone(learner).set_params(max_iter=20), in_chunks(X), in_chunks(y))
        assert_same_learner(found, expected)


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS[:3], ids=str)
def test_letters_are_learned_alike(learner, real_data):
    table = datasets.load("letter", real_data)
    X, y = scale(table.X.to_numpy(dtype=float)), np.asarray(table.y)
    expected = clone(learner).fit(X, y)
    assert_same_learner(wn.distributed.fit(clone(learner), in_chunks(X), in_chunks(y)), expected)


def test_a_fit_repeats_to_the_last_bit():
    X, y = wine()
    one, other = (wn.distributed.fit(wn.GMLVQ(), in_chunks(X), in_chunks(y)) for _ in range(2))
    assert_array_equal(one.metric_.omega, other.metric_.omega)


def test_numbers_of_four_bytes_are_learned_as_their_float64():
    X, y = wine()
    X = X.astype(np.float32)
    expected = wn.GMLVQ().fit(X.astype(float), y)
    assert_same_learner(wn.distributed.fit(wn.GMLVQ(), in_chunks(X), in_chunks(y)), expected)


def test_a_pipeline_of_a_dask_dataframe_has_its_names():
    X, y = load_wine(return_X_y=True, as_frame=True)
    labels = y.map({0: "a", 1: "b", 2: "c"}).astype(object)
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), wn.GMLVQ())
    expected = clone(model).fit(X, labels)
    table = dd.from_pandas(X.assign(y=labels), npartitions=5)
    found = wn.distributed.fit(model, table[list(X)], table["y"])
    assert_same_learner(found[-1], expected[-1])
    assert_array_equal(found.feature_names_in_, expected.feature_names_in_)
    assert_array_equal(found.predict(X), expected.predict(X))


def test_categories_and_gaps_are_encoded_by_partition():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X = X[["alcohol", "hue"]].assign(place=pd.Series(["u", "v"] * 88 + ["rare", "rare"], dtype=object))
    X.loc[5:40:7, "hue"] = np.nan
    X.loc[60:70, "place"] = None
    model = make_pipeline(wn.TableEncoder("onehot", "median"), StandardScaler(), wn.GRLVQ())
    expected = clone(model).fit(X, y)
    found = wn.distributed.fit(clone(model), in_partitions(X), in_partitions(y))
    assert_same_learner(found[-1], expected[-1])
    assert wn.as_metric(found).feature_names == wn.as_metric(expected).feature_names


@pytest.mark.parametrize("settings", [{}, {"effective_dim": 4}, {"fit_intercept": False}], ids=str)
def test_the_map_of_least_norm_is_that_of_all_rows(settings):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X = X.assign(twin=X["bmi"] * 2.0)
    expected = wn.MinimumNormRegressor(**settings).fit(X, y)
    found = wn.distributed.fit(wn.MinimumNormRegressor(**settings), in_partitions(X), in_partitions(y))
    assert vars(found).keys() == vars(expected).keys()
    assert_allclose(found.coef_, expected.coef_, rtol=1e-8, atol=1e-8)
    for name in ("origin_", "target_origin_", "cases_", "targets_", "input_range_", "case_places_", "row_names_"):
        assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("settings", [{}, {"n_components": 2, "n_passes": 2}, {"class_weight": "balanced"}], ids=str)
def test_large_margins_are_those_of_all_rows(settings):
    X, y = wine()
    table, labels = pd.DataFrame(X).add_prefix("c"), pd.Series(y).map({0: "a", 1: "b", 2: "c"}).astype(object)
    expected = wn.LMNN(**settings).fit(table, labels)
    found = wn.distributed.fit(wn.LMNN(**settings), in_partitions(table), in_partitions(labels))
    assert vars(found).keys() == vars(expected).keys()
    assert_allclose(found.metric_.omega, expected.metric_.omega, atol=1e-8)
    for name in ("classes_", "codes_", "cases_", "row_names_", "input_range_", "feature_names_in_", "n_iter_"):
        assert_array_equal(getattr(found, name), getattr(expected, name))
        assert type(getattr(found, name)) is type(getattr(expected, name))
    assert_array_equal(found.predict(table), expected.predict(table))


def test_local_metrics_of_few_rows_are_those_of_all():
    X, y = wine()
    settings = {"epochs": 3, "step": 0.1, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 2}
    expected = wn.LANN(**settings, random_state=0, class_weight="balanced").fit(X, y)
    given = wn.LANN(**settings, random_state=0, class_weight="balanced")
    found = wn.distributed.fit(given, in_chunks(X), in_chunks(y))
    assert vars(found).keys() == vars(expected).keys()
    assert_array_equal(found.metric_.weights, expected.metric_.weights)
    assert_array_equal(found.codes_, expected.codes_)
    assert found.loss_curve_ == expected.loss_curve_


def assert_regions_predict_as_well(X, y, monkeypatch, region_rows):
    X, held_out, y, answers = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    settings = {"epochs": 2, "step": 0.3, "beta": 0.3, "decay": 0.0, "shared_step": 0.01, "shared_epochs": 5}
    expected = wn.LANN(**settings, random_state=0).fit(X, y)
    monkeypatch.setattr("whynear.large.local_metrics.REGION_ROWS", region_rows)
    found = wn.distributed.fit(wn.LANN(**settings, random_state=0), in_chunks(X), in_chunks(y))
    assert vars(found).keys() == vars(expected).keys()
    assert_array_equal(found.metric_.anchors, expected.metric_.anchors)
    assert found.local_ == expected.local_
    assert len(found.loss_curve_) == len(expected.loss_curve_)
    assert np.abs(found.metric_.weights / expected.metric_.weights - 1).max() > 0.1  # regions were trained
    scores = [100 * model.score(held_out, answers) for model in (found, expected)]
    assert scores[0] > scores[1] - 0.5


@pytest.mark.parametrize("kind", [wn.RFM, wn.RFMRegressor])
def test_leaves_of_kernels_are_those_of_a_fit_in_memory(kind, monkeypatch):
    monkeypatch.setattr(leaves, "WHOLE_ROWS", 100)
    monkeypatch.setattr(leaves, "LEAF_ROWS", 50)
    X, y = wine()
    expected = kind("l1", "values", max_steps=1, random_state=0).fit(X, y)
    found = wn.distributed.fit(clone(expected), in_chunks(X), in_chunks(y))
    assert expected.leaves_.max() > 1
    assert vars(found).keys() == vars(expected).keys()
    assert_array_equal(found.members_, expected.members_)
    assert_array_equal(found.held_out_, expected.held_out_)
    assert_array_equal(found.predict(X), expected.predict(X))


def test_digits_are_predicted_as_well_by_regions(monkeypatch):
    X, y = load_digits(return_X_y=True)
    assert_regions_predict_as_well(X[:, X.std(axis=0) > 1], y, monkeypatch, 350)


@pytest.mark.slow
def test_letters_are_predicted_as_well_by_regions(monkeypatch, real_data):
    table = datasets.load("letter", real_data)
    X, y = scale(table.X.to_numpy(dtype=float)), np.asarray(table.y)
    assert_regions_predict_as_well(X, y, monkeypatch, 4_000)


def test_some_rows_are_kept_for_explanations(monkeypatch):
    monkeypatch.setattr("whynear.learn.minimum_norm.MOST_CASES", 50)
    X, y = load_diabetes(return_X_y=True)
    expected = wn.MinimumNormRegressor().fit(X, y)
    found = wn.distributed.fit(wn.MinimumNormRegressor(), in_chunks(X), in_chunks(y))
    assert_array_equal(found.case_places_, expected.case_places_)
    assert_array_equal(found.cases_, expected.cases_)
    assert_array_equal(found.targets_, expected.targets_)


def test_fitted_learners_are_saved_and_loaded(tmp_path):
    X, y = wine()
    models = (
        make_pipeline(StandardScaler(), wn.GMLVQ()),
        wn.MinimumNormRegressor(),
        wn.LANN(epochs=1, step=0.1, beta=0.3, decay=0.0, shared_epochs=0, random_state=0),
    )
    for model in models:
        wn.distributed.fit(model, in_chunks(X), in_chunks(y))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the cases that a file contains
            wn.save(model, tmp_path / "model.whynear")
        assert_array_equal(wn.load(tmp_path / "model.whynear").predict(X), model.predict(X))


def test_learners_and_solvers_that_need_all_rows_are_refused():
    X, y = wine()
    with pytest.raises(ValueError, match=r"solver='adam' draws rows at random.*Use solver='lbfgs'"):
        wn.distributed.fit(wn.GRLVQ(solver="adam"), in_chunks(X), in_chunks(y))
    with pytest.raises(TypeError, match="KNeighborsClassifier cannot be fitted to partitions"):
        wn.distributed.fit(KNeighborsClassifier(), in_chunks(X), in_chunks(y))
