import numpy as np
import pytest

from whynear import LinearMetric
from whynear.reproduce.schulz.cells import (
    bounds,
    error_curve,
    errors,
    identical_rows,
    largest_rows,
    paths,
    split_of,
)

XOR = {"dataset": "xor", "learner": "GMLVQ", "settings": {"n_prototypes": 2, "n_components": 2}}


def test_identical_rows_share_a_number():
    numbers = identical_rows(np.array([[1.0, 2], [3, 4], [1, 2], [3, 5]]))
    assert numbers[0] == numbers[2]
    assert len(set(numbers)) == 3


def test_the_largest_rows_of_a_map_come_first():
    metric = LinearMetric([[0.0, 1.0], [-3.0, 0.0]])
    assert largest_rows(metric).tolist() == [[3, 0], [0, 1]]
    assert largest_rows(metric, most=1).tolist() == [[3, 0]]


def test_xor_data_have_a_seed_and_a_noise():
    first, again, other = (split_of(name).X for name in ("xor", "xor0", "xor1"))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    quiet, loud = (split_of(name).X for name in ("xor0@0.01", "xor0@0.2"))
    assert np.std(loud[:, 0] - loud[:, 1]) > 10 * np.std(quiet[:, 0] - quiet[:, 1])
    assert len(first) == 300


def test_a_split_has_all_classes_on_both_sides():
    data = split_of("breast_cancer")
    assert set(data.y) == set(data.y_test) == {0, 1}
    assert len(data.X_test) == pytest.approx(0.25 * 569, abs=1)


def test_xor_is_learned_without_errors():
    assert errors(**XOR) == {"train": 0, "test": 0, "split_pairs": 0}


def test_a_curve_has_an_error_for_each_dimension():
    curve = error_curve(**XOR, dimensions=[1, 3])
    assert len(curve["train"]) == len(curve["test"]) == 2
    assert curve["test"][1] < curve["test"][0]
    on_fold = error_curve(**XOR, dimensions=[1, 3], fold=0)
    assert on_fold["test"][1] < on_fold["test"][0]


def test_bounds_are_ordered_and_the_mean_map_predicts():
    found = bounds(**XOR, dimension=3)
    assert np.all(np.array(found["lower"]) <= found["upper"])
    assert found["strength"] == ["weak", "weak", "weak", "strong", "irrelevant", "irrelevant"]
    assert np.shape(found["original"]) == np.shape(found["average"]) == (2, 6)
    assert found["average_test"] == 0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # as in a run
def test_shrinkage_has_weights_for_each_method_and_penalty():
    found = paths(**XOR)
    assert set(found["weights"]) == set(found["alphas"]) == {"lasso", "elastic net", "ridge"}
    for method, weights in found["weights"].items():
        assert np.shape(weights) == (len(found["alphas"][method]), len(found["features"]))
