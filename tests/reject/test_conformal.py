import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.helpers.nearness import some_nearness, truth_for
from whynear.reject.calibration import fewest_for_sets, members, strangeness, strangeness_of_true, strangest_accepted
from whynear.reject.nearness import Nearness


def test_strangeness_is_its_formula():
    nearness = some_nearness(30)
    found = strangeness(nearness)
    for row, code in np.ndindex(found.shape):
        others = np.delete(nearness.sq_by_class[row], code)
        assert_allclose(found[row, code], np.log(nearness.sq_by_class[row, code] / others.min()))


@given(st.lists(st.sampled_from([0.0, 1.0, np.inf]), min_size=2, max_size=4))
def test_strangeness_is_never_nan(sq):
    codes = np.zeros(1, dtype=int)
    assert not np.isnan(strangeness(Nearness(codes, np.full((1, len(sq)), 1 / len(sq)), np.array([sq])))).any()


@pytest.mark.parametrize("coverage", [0.8, 0.95])
@pytest.mark.parametrize("distances", [True, False])
def test_sets_contain_the_right_class_as_often_as_asked(coverage, distances):
    covered = []
    for seed in range(200):
        nearness = some_nearness(150, seed=seed, distances=distances)
        scores, true = strangeness(nearness), truth_for(nearness, seed + 1000)
        limit = strangest_accepted(strangeness_of_true(scores[:100], true[:100]), coverage)
        covered.append(members(scores[100:], limit)[np.arange(50), true[100:]].mean())
    error = np.std(covered) / np.sqrt(len(covered))
    assert coverage - 3 * error <= np.mean(covered) <= coverage + 1 / 101 + 3 * error


@given(st.floats(0.5, 0.995))
def test_fewer_cases_than_needed_give_every_class(coverage):
    fewest = fewest_for_sets(coverage)
    assert np.isfinite(strangest_accepted(np.zeros(fewest), coverage))
    if fewest > 1:
        assert strangest_accepted(np.zeros(fewest - 1), coverage) == np.inf


def test_a_class_that_is_not_known_is_infinitely_strange():
    scores = np.array([[0.5, -0.5], [1.0, -1.0]])
    assert_allclose(strangeness_of_true(scores, np.array([1, -1])), [-0.5, np.inf])
