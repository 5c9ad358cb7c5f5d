import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.lmnn import noisy, sorted_problem
from whynear.learn.lmnn.large_margin import PairSearch
from whynear.learn.lmnn.objective import Impostors, impostor_pairs, loss_grad, target_neighbors


def test_a_search_here_finds_targets_and_the_loss_of_all_impostors():
    X, codes = noisy()
    problem, omega = sorted_problem(X, codes), np.eye(2, 12)
    assert_array_equal(
        PairSearch().targets(problem.X, np.sort(codes), 3), target_neighbors(problem.X, np.sort(codes), 3)
    )
    loss, gradient = PairSearch().loss_near(problem, omega, 0.1)(omega)
    expected = loss_grad(omega, problem, impostor_pairs(omega, problem))
    assert_allclose(loss, expected[0])
    assert_allclose(gradient, expected[1], atol=1e-12)


def test_bands_have_all_pairs_together_and_each_once():
    problem = sorted_problem(*noisy(n=1500))
    everything = {pair for chunk in impostor_pairs(np.eye(12), problem, 0.2) for pair in zip(*chunk, strict=True)}
    bands = [list(impostor_pairs(np.eye(12), problem, 0.2, (i, 3))) for i in range(3)]
    found = [pair for band in bands for chunk in band for pair in zip(*chunk, strict=True)]
    assert len(found) == len(everything)
    assert set(found) == everything


def test_a_band_that_is_too_long_to_keep_is_searched_again():
    problem = sorted_problem(*noisy(n=1500))
    kept, anew = (Impostors(np.eye(12), problem, 0.0, most, (1, 2)) for most in (10**6, 10))
    counts = [sum(len(pairs[0]) for pairs in one.at(np.eye(12))) for one in (kept, anew)]
    assert anew.chunks is None
    assert counts[0] == counts[1] > 0
