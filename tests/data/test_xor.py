import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.neighbors import KNeighborsClassifier

from whynear.datasets import make_xor


@pytest.mark.parametrize("n", [4, 5, 6, 7, 200])
def test_the_four_clusters_are_of_equal_size(n):
    data = make_xor(n, random_state=0)
    cluster = (data.hidden > 0) @ [2, 1]
    sizes = np.bincount(cluster, minlength=4)
    assert sizes.max() - sizes.min() <= 1


def test_the_class_is_whether_the_two_coordinates_differ_in_sign():
    data = make_xor(500, random_state=1)
    assert_array_equal(data.y, np.prod(np.sign(data.hidden), axis=1) < 0)


def test_features_are_what_their_strength_says():
    data = make_xor(2000, noise=0.1, random_state=2)
    X = data.X
    assert_array_equal(data.strength, ["weak"] * 3 + ["strong"] + ["irrelevant"] * 2)
    assert data.groups == [["x1", "x2", "x3"]]
    errors = X[["x1", "x2", "x3"]].sub(data.hidden[:, 0], axis=0)
    assert errors.std().to_numpy() == pytest.approx(0.1, rel=0.1)
    assert np.abs(errors.corr().to_numpy() - np.eye(3)).max() < 0.1
    assert_array_equal(X["x4"], data.hidden[:, 1])
    assert_array_equal(X["x5"], X["x6"])
    assert np.abs(np.corrcoef(X["x5"], data.y)[0, 1]) < 0.1


def test_without_noise_the_copies_are_exact():
    X = make_xor(noise=0, random_state=0).X
    assert_array_equal(X["x1"], X["x2"])
    assert_array_equal(X["x1"], X["x3"])


def test_one_copy_and_the_lone_feature_suffice_and_one_alone_does_not():
    data = make_xor(400, random_state=3)

    def accuracy(names):
        model = KNeighborsClassifier().fit(data.X[names][:200], data.y[:200])
        return model.score(data.X[names][200:], data.y[200:])

    for copy in ["x1", "x2", "x3"]:
        assert accuracy([copy, "x4"]) > 0.99
    assert accuracy(["x1", "x2", "x3"]) < 0.65
    assert accuracy(["x4"]) < 0.65
