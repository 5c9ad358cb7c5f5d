import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

import whynear as wn
from papers.profiles_and_embeddings import N_PERMUTATIONS, _profile_difference, embedding, profiles, scaled_rows
from papers.projected_maps import (
    alignment,
    centred,
    coefficients,
    correlation,
    counts,
    descriptors,
    diagonal,
    error,
    peaks,
    roughness,
    squared_error,
    swept,
)
from papers.splits import Split
from whynear import LinearMetric


def test_profiles_differ_by_the_share_that_must_be_moved():
    shares = np.array([[0.5, 0.5], [0.5, 0.5], [0.9, 0.1]])
    assert _profile_difference(shares, np.array([0, 0, 1])) == pytest.approx(0.4)
    assert _profile_difference(shares, np.array([0, 1, 1])) == pytest.approx(0.2)
    assert _profile_difference(shares[:2], np.array([0, 1])) == 0


def test_profiles_have_a_share_for_every_feature_of_every_class():
    found = profiles("breast_cancer", {"epochs": 1, "step": 1.0, "beta": 0.3, "decay": 0.0, "shared_epochs": 0})
    assert set(found["profiles"]) == {"malignant", "benign"}
    assert all(len(shares) == len(found["features"]) == 30 for shares in found["profiles"].values())
    assert 0 < found["difference"] < 1
    assert 1 / (1 + N_PERMUTATIONS) <= found["p_value"] <= 1


def test_rows_to_embed_are_z_scores_with_class_names():
    X, labels = scaled_rows("licorice")
    assert np.abs(X.mean(axis=0)).max() < 1e-9
    assert len(X) == len(labels)
    assert labels.dtype.kind == "U"


@pytest.mark.parametrize("method", ["Euclidean", "GMLVQ"])
def test_an_embedding_has_a_point_for_every_row_and_an_accuracy(method):
    found = embedding("iris", method, {} if method == "Euclidean" else {"n_components": 2})
    assert np.shape(found["points"]) == (150, 2)
    assert 0.8 < found["score"] <= 1


def test_ranks_are_split_into_training_and_test_rows(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    data = descriptors("pac_retention", seed=3, share=0.75, n_bins=2)
    assert (len(data.X), len(data.X_test)) == (156, 53)
    assert_allclose(data.X.mean(axis=0), 0, atol=1e-9)
    together = np.concatenate([data.y, data.y_test])
    assert np.bincount(together).tolist() == [104, 105]
    whole = np.vstack([data.X, data.X_test])
    doubled = 2 * (whole - whole.min(axis=0))  # equal values share a rank that may be a half
    assert_allclose(doubled, doubled.round(), atol=1e-9)
    other = descriptors("pac_retention", seed=4, share=0.75, n_bins=None)
    assert np.unique(other.y).size > 2


def test_a_sweep_is_prediction_from_principal_components():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 6)), rng.standard_normal(20)
    data = Split(X[:12], y[:12], X[12:], y[12:])
    curve = swept(wn.MinimumNormRegressor().fit(data.X, data.y), data, squared_error)
    assert len(curve["test"]) == 7
    for kept in (1, 3):
        pca = PCA(kept).fit(data.X)
        model = wn.MinimumNormRegressor().fit(pca.transform(data.X), data.y)
        assert curve["test"][kept - 1] == pytest.approx(
            squared_error(model.predict(pca.transform(data.X_test)), data.y_test)
        )
    assert curve["train"][-2] == pytest.approx(curve["train"][-1])


def test_both_parts_are_centred_by_the_training_rows():
    data = centred(Split(np.array([[0.0], [2.0]]), np.zeros(2), np.array([[5.0]]), np.zeros(1)))
    assert (data.X.tolist(), data.X_test.tolist()) == ([[-1.0], [1.0]], [[4.0]])


def test_scores_of_predictions():
    assert error(np.array([1, 2]), np.array([1, 1])) == 0.5
    assert squared_error(np.array([1.0, 2]), np.array([1.0, 4])) == 2
    assert correlation(np.array([1.0, 2, 3]), np.array([2.0, 4, 6])) == pytest.approx(1)


def test_alignment_is_the_share_of_variance_in_one_direction():
    assert alignment(np.array([[0.0, 0], [1, 1], [2, 2]])) == pytest.approx(1)
    assert alignment(np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1]])) == pytest.approx(0.5)


def test_spectra_are_counted(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    assert list(counts("wine_spectra").values()) == [124, 256, 30, 91]


def test_the_projected_coefficients_are_shorter(real_data, monkeypatch):
    monkeypatch.setenv("WHYNEAR_DATA", str(real_data))
    maps = coefficients("wine_spectra", 12)
    assert np.linalg.norm(maps["projected"]) < np.linalg.norm(maps["whole"])


def test_the_diagonal_is_that_of_lambda():
    omega = np.array([[1.0, -2.0, 0.0], [3.0, 0.5, 1.0]])
    assert diagonal(omega.tolist()) == pytest.approx(np.diag(omega.T @ omega))
    assert diagonal(omega.tolist()) == pytest.approx(LinearMetric(omega).relevances())


def test_equal_entries_are_smooth():
    assert roughness(np.ones(5)) == 0
    assert roughness(np.array([1.0, 0, 1, 0])) == pytest.approx(1.5)
    assert roughness(np.array([2.0, 0, 2, 0])) == pytest.approx(1.5)


def test_peaks_are_the_two_highest_local_maxima():
    assert peaks(np.array([0.0, 2, 1, 5, 0, 3, 4, 1])) == [4, 7]
