import pytest

from tests.helpers.reproduction import lines_of
from whynear.reproduce.schulz.cases import Case, cases


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
