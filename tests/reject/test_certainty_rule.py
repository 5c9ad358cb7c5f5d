from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.helpers.nearness import some_nearness, truth_for
from whynear.reject.calibration import calibrated
from whynear.reject.certainty import CertaintyRule

CLASSES = np.array(["a", "b", "c"])


def of_prototypes(n=600, seed=0):
    """What prototypes say about cases, and coordinates in which the classes lie apart as the distances do not show."""
    nearness = some_nearness(n, seed=seed, shares=False)
    true = truth_for(nearness, seed + 1)
    centres = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0]])
    return replace(nearness, seen=np.random.default_rng(seed + 2).normal(size=(n, 2)) + centres[true]), true


def test_near_cases_of_other_classes_lower_the_certainty():
    nearness, true = of_prototypes()
    rule = calibrated(nearness, CLASSES[true], CLASSES)[0].rule
    new, of_new = of_prototypes(seed=10)
    right = of_new == new.predicted
    certainty = rule.certainty_of(new)
    assert certainty[right].mean() > certainty[~right].mean() + 0.4
    alone = calibrated(replace(nearness, seen=None), CLASSES[true], CLASSES)[0].rule.certainty_of(new)
    assert alone[right].mean() < alone[~right].mean() + 0.3


def test_a_case_farther_than_twice_the_farthest_is_not_certain():
    nearness, true = of_prototypes()
    rule = calibrated(nearness, CLASSES[true], CLASSES)[0].rule
    row = nearness.rows([0])
    at = [replace(row, sq_by_class=np.full((1, 3), (share * rule.farthest) ** 2)) for share in (1.99, 2.01)]
    assert rule.certainty_of(at[0]) > 0
    assert rule.certainty_of(at[1]) == 0


def test_plain_values_give_the_same_rule():
    for nearness in (of_prototypes()[0], some_nearness(distances=False, shares=False)):
        true = CLASSES[truth_for(nearness)]
        rule = calibrated(nearness, true, CLASSES)[0].rule
        again = CertaintyRule.from_dict(rule.to_dict())
        assert again == rule
        assert_array_equal(again.certainty_of(nearness), rule.certainty_of(nearness))


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("model", "scale", [10**400, 1.0]),
        ("model", "scale", np.zeros(2)),
        ("model", "slopes", np.ones(3)),
        ("model", "mean", np.array([np.nan, 0.0])),
        ("model", "intercepts", "abc"),
        ("near", "codes", np.array([0, 3])),
        ("near", "codes", np.array([0.5, 1.0])),
        ("near", "cases", np.ones((3, 2))),
    ],
)
def test_a_rule_that_does_not_fit_together_is_refused_by_name(part, name, value):
    two = np.array([0.0, 1.0])
    arrays = {"low": two, "high": two, "mean": two, "scale": two + 1, "slopes": two, "intercepts": np.zeros(3)}
    near = {"cases": np.ones((2, 2)), "codes": np.array([0, -1])}
    held = {"model": {"names": ["margin", "share"], **arrays}, "scales": [], "near": near, "farthest": None}
    CertaintyRule.from_dict(held)
    held[part][name] = value
    with pytest.raises(ValueError, match=rf"damaged: its ({name}|codes)"):
        CertaintyRule.from_dict(held)


def test_scales_and_distances_that_are_no_numbers_are_refused():
    nearness, true = of_prototypes()
    held = calibrated(nearness, CLASSES[true], CLASSES)[0].rule.to_dict()
    for wrong in ({"scales": [np.ones((3, 2))]}, {"farthest": 10**400}, {"farthest": -1.0}):
        with pytest.raises((ValueError, TypeError), match=r"scales|farthest"):
            CertaintyRule.from_dict({**held, **wrong})
