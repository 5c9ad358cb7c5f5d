import numpy as np
import pytest

from papers.relevance_bounds import (
    Case,
    bounds,
    cases,
    error_curve,
    errors,
    identical_rows,
    largest_rows,
    paths,
    split_of,
)
from tests.helpers.reproduction import lines_of
from whynear import LinearMetric

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


@pytest.fixture
def case():
    return Case("xor", "GMLVQ", {}, [1, 2, 3, 5], published=3, n_folds=2)


def results(case, test, folds):
    """Results of the curve on test rows, and of the curves on folds."""
    known = {case.curve: test, **dict(zip(case.folds, folds, strict=True))}
    return lambda cell: {"train": [0, 0, 0, 0], "test": known[cell]}


def test_the_smallest_dimension_near_the_lowest_error_is_chosen(case):
    result_of = results(case, [0.5, 0.209, 0.2, 0.2], [[0.4, 0.4, 0.1, 0.0], [0.4, 0.4, 0.1, 0.3]])
    assert case.by_test(result_of) == 2
    assert case.by_folds(result_of) == 3
    assert case.test_error(result_of, 5) == 0.2


def test_bounds_are_those_at_the_chosen_dimension(case):
    def result_of(cell):
        return {"test": [0.5, 0.1, 0.1, 0.1]} if cell == case.curve else {"dimension": cell.arguments["dimension"]}

    assert case.chosen(result_of) == {"dimension": 2}
    assert case.bounds_at(2) in case.bounds


def test_folds_are_numbered(case):
    assert [cell.arguments["fold"] for cell in case.folds] == [0, 1]
    assert "fold" not in case.curve.arguments


def test_cases_have_the_names_of_the_table():
    named = cases()
    rows = {row for row, _ in lines_of("schulz-table1", {})}
    assert rows - set(named) == {
        "GMLVQ on adrenal",
        "LMNN on adrenal",
        "identical rows of tecator on both sides of the split",
    }
    assert set(named) <= rows
    assert all(case.published is None or case.published in case.dimensions for case in named.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", ["wine", "tecator"])
def test_spectra_are_classified_after_regularization(result_of, name):
    case = cases()[name]
    # Rounding alone decides how far these steps lead: of three numbers of steps, the one of least error is judged.
    steps = [case.settings["max_iter"] + more for more in (0, 5, 10)]
    fits = [Case(case.dataset, case.learner, {**case.settings, "max_iter": most}, [7, 9, 12]) for most in steps]
    quick = min(fits, key=lambda one: result_of(one.errors)["train"])
    assert result_of(quick.errors)["train"] <= 0.12
    criterion = lines_of("schulz-table1", {})[name, "regularized, K by the test set"].criterion
    assert quick.test_error(result_of, quick.by_test(result_of)) <= criterion
