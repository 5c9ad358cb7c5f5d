import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from whynear.stream.memory import k_means, pairs_joined


def test_the_nearest_pairs_become_their_means_at_the_place_of_the_later():
    cases = np.array([[0.0, 10.0, 11.0, 100.0, 0.5]])
    remains = pairs_joined(cases, np.ones(1), 3)
    assert_array_equal(remains, [False, False, True, True, True])
    assert_array_equal(cases[0, remains], [10.5, 100.0, 0.25])


def test_passes_go_on_until_as_many_remain_as_asked():
    rng = np.random.default_rng(0)
    for n in range(1, 40):
        for n_left in {1, (n + 1) // 2, n}:
            cases = rng.standard_normal((2, n))
            mean = cases.mean(axis=1)
            remains = pairs_joined(cases, np.array([1.0, 0.3]), n_left)
            assert remains.sum() == n_left
            assert n_left < n or np.allclose(cases[:, remains].mean(axis=1), mean)


def test_the_metric_says_which_pairs_are_near():
    cases = np.array([[0.0, 0.0, 5.0], [0.0, 3.0, 0.0]])
    near, far = cases.copy(), cases.copy()
    pairs_joined(near, np.array([1.0, 1.0]), 2)
    pairs_joined(far, np.array([0.1, 1.0]), 2)
    assert_array_equal(near[:, 1], [0.0, 1.5])
    assert_array_equal(far[:, 2], [2.5, 0.0])


def test_k_means_is_that_of_scikit_learn():
    rng = np.random.default_rng(1)
    cases = rng.standard_normal((60, 3)) + 4 * rng.integers(0, 3, (60, 1))
    centres = cases[:7].T.copy()
    k_means(np.ascontiguousarray(cases.T), np.ones(3), centres, 100)
    expected = KMeans(7, init=cases[:7], n_init=1, algorithm="lloyd", tol=0.0).fit(cases)
    assert_allclose(centres.T, expected.cluster_centers_)


def test_a_centre_that_is_nearest_to_no_case_stays():
    centres = np.array([[0.0, 50.0]])
    k_means(np.array([[1.0, 3.0]]), np.ones(1), centres, 100)
    assert_array_equal(centres, [[2.0, 50.0]])
