import numpy as np
import pytest

from papers.profiles_and_embeddings import N_PERMUTATIONS, _profile_difference, embedding, profiles, scaled_rows


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
