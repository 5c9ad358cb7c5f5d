import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from tests.helpers.nearness import some_nearness
from whynear.learn.lvq.prototypes import relative_distances
from whynear.reject.nearness import (
    MEASURES,
    PROBABILITY_MEASURES,
    PROTOTYPE_MEASURES,
    Nearness,
    measures_of,
    usual_measures,
)


def test_each_kind_of_classifier_has_its_measures():
    of_cases, of_prototypes = some_nearness(), some_nearness(shares=False)
    of_probabilities = some_nearness(distances=False, shares=False)
    assert usual_measures(of_cases) == MEASURES == tuple(measures_of(of_cases))
    assert usual_measures(of_prototypes) == PROTOTYPE_MEASURES
    assert usual_measures(of_probabilities) == PROBABILITY_MEASURES == tuple(measures_of(of_probabilities))


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
