from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from tests.helpers.nearness import some_nearness, truth_for
from whynear.reject.calibration import (
    Calibration,
    calibrated,
    choosing,
    fewest_for_sets,
    one_of_each,
    strangeness,
    strangeness_of_true,
    strangest_accepted,
)
from whynear.reject.nearness import Nearness

CLASSES = np.array(["a", "b", "c"])


def calibration(n=400, seed=0, **settings):
    nearness = some_nearness(n, seed=seed)
    return calibrated(nearness, CLASSES[truth_for(nearness)], CLASSES, **settings)[0], nearness


def test_cases_that_count_have_no_part_in_certainty_and_thresholds():
    nearness = replace(some_nearness(600, shares=False), seen=np.random.default_rng(5).normal(size=(600, 2)))
    true = CLASSES[truth_for(nearness)]
    counted = ~choosing(np.arange(600), 0)
    others = np.where(counted, np.roll(CLASSES, 1)[truth_for(nearness)], true)
    first, second = (calibrated(nearness, y, CLASSES)[0] for y in (true, others))
    assert first.rule == second.rule
    assert_array_equal(first.chosen_by, second.chosen_by)
    assert_array_equal(first.certainty, second.certainty)
    assert not np.array_equal(first.right, second.right)
    far = replace(nearness, sq_by_class=nearness.sq_by_class * np.where(counted, 1e6, 1.0)[:, None])
    assert (calibrated(far, true, CLASSES)[0].certainty == 0).all()


def test_the_certainty_of_a_case_does_not_depend_on_its_own_class():
    nearness = some_nearness()
    true = CLASSES[truth_for(nearness)]
    for place in (np.flatnonzero(choosing(np.arange(200), 0))[0], np.flatnonzero(~choosing(np.arange(200), 0))[0]):
        other = true.copy()
        other[place] = "c" if true[place] != "c" else "a"
        first, second = (calibrated(nearness, y, CLASSES)[1] for y in (true, other))
        assert first[place] == second[place]


def test_two_fifths_of_the_groups_choose():
    groups = np.repeat(np.arange(50), 4)
    chooses = choosing(groups, 3)
    assert len(np.unique(groups[chooses])) == 20
    assert chooses.sum() == 80
    assert choosing(np.arange(1), 0).tolist() == [True]
    assert choosing(np.arange(20_000), 0).sum() == 5000


def test_certainty_is_calibrated_on_new_cases():
    held, _ = calibration(3000)
    fresh = some_nearness(3000, seed=7)
    certainty, right = held.rule.certainty_of(fresh), truth_for(fresh, 8) == fresh.predicted
    for low in (0.5, 0.7, 0.9):
        some = (certainty > low) & (certainty <= low + 0.1)
        assert abs(right[some].mean() - certainty[some].mean()) < 0.07


def test_a_case_far_from_all_others_is_never_certain():
    held, nearness = calibration()
    far = nearness.rows(slice(0, 2))
    far = Nearness(far.predicted, far.probabilities, far.sq_by_class * [[1.0], [1e6]], far.near_shares)
    certainty = held.rule.certainty_of(far)
    assert certainty[0] > 0
    assert certainty[1] == 0
    assert held.is_outlier(far).tolist() == [False, True]


def test_one_case_in_twenty_is_an_outlier():
    held, nearness = calibration()
    assert held.is_outlier(nearness).mean() == pytest.approx(0.05, abs=0.005)


def test_without_distances_no_case_is_an_outlier():
    nearness = some_nearness(distances=False, shares=False)
    held, _ = calibrated(nearness, CLASSES[truth_for(nearness)], CLASSES)
    assert not held.is_outlier(nearness).any()
    assert (held.rule.certainty_of(nearness) > 0).all()


def test_one_case_of_each_group_counts():
    groups = np.repeat(np.arange(80), 5)
    held, _ = calibration(groups=groups)
    assert held.unit == "groups"
    assert len(held.certainty) == len(held.right) == 48
    assert len(held.strangeness) == 80
    assert len(held.nearest) == 400
    places = one_of_each(groups, seed=3)
    assert_array_equal(groups[places], np.arange(80))
    drawn = np.concatenate([one_of_each(groups, seed) % 5 for seed in range(20)])
    assert_allclose(np.bincount(drawn) / len(drawn), 0.2, atol=0.05)


def test_a_measure_that_the_learner_lacks_is_refused():
    nearness = some_nearness(distances=False, shares=False)
    with pytest.raises(ValueError, match="certainty='relative_distance' needs distances"):
        calibrated(nearness, CLASSES[truth_for(nearness)], CLASSES, certainty="relative_distance")


def test_classes_that_are_not_known_are_wrong_and_strange():
    nearness = some_nearness()
    y = CLASSES[truth_for(nearness)].astype(object)
    y[:5] = "new"
    held, _ = calibrated(nearness, y, CLASSES)
    counted = ~choosing(np.arange(200), 0)
    assert not held.right[: counted[:5].sum()].any()
    assert_array_equal(held.strangeness[:5], np.inf)


@pytest.mark.parametrize("thresholds", ["global", "class"])
def test_plain_values_give_the_same_calibration(thresholds):
    held, nearness = calibration(thresholds=thresholds)
    again = Calibration.from_dict(held.to_dict())
    assert again == held
    assert_array_equal(again.rule.certainty_of(nearness), held.rule.certainty_of(nearness))


def test_distances_that_cannot_be_compared_are_left_out():
    nearness = replace(some_nearness(), same_units=False)
    held, certainty = calibrated(nearness, CLASSES[truth_for(nearness)], CLASSES)
    assert "nearest_distance" not in held.rule.model.names
    assert not held.is_outlier(nearness).any()
    assert_array_equal(certainty[~choosing(np.arange(200), 0)], held.certainty)


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
        covered.append((scores[100:] <= limit)[np.arange(50), true[100:]].mean())
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
