"""Selected cases and their explanations."""

import numpy as np
import pandas as pd
from numpy.testing import assert_allclose

from tests.helpers.studies import iris_study
from whynear.study.cases import MOST_CLASSES, cases_frame, selected_rows


def test_cases_are_explained_by_a_model_that_was_fitted_without_them():
    study = iris_study()
    kinds = {(case.true, case.kind) for case in study.cases}
    assert {("0", "typical"), ("1", "typical"), ("2", "typical")} <= kinds
    for case in study.cases:
        predicted = study.comparison.predictions.loc[case.row]
        assert (predicted["true"] == predicted["predicted"]) == (case.kind != "wrong")
        assert_allclose(case.why.contributions.sum(axis=1), case.why.neighbors["sq_distance"])


def predicted(true, right, probability):
    """Held-out predictions, right where said."""
    return pd.DataFrame({"true": true, "predicted": np.where(right, true, "other"), "probability": probability})


def test_a_typical_a_wrong_and_a_borderline_row_of_a_class_are_selected():
    y = np.repeat(["u", "v"], [15, 5])
    right = np.ones(20, dtype=bool)
    right[[2, 3]] = False
    probability = np.linspace(0.5, 0.975, 20)  # the median of the right ones of u is that of row 8 or 9
    found = selected_rows(y, predicted(y, right, probability))
    assert found == [(8, "typical"), (3, "wrong"), (0, "borderline"), (17, "typical")]


def test_no_more_than_a_fifth_of_a_class_is_selected_but_one_row():
    y = np.repeat(["u", "v"], [10, 3])
    found = selected_rows(y, predicted(y, np.ones(13, dtype=bool), np.linspace(0.5, 0.9, 13)))
    assert [y[place] for place, _ in found] == ["u", "u", "v"]


def test_classes_that_would_be_left_with_one_row_are_not_explained():
    y = np.repeat(["u", "v"], [10, 2])
    found = selected_rows(y, predicted(y, np.ones(12, dtype=bool), np.full(12, 0.9)))
    assert {y[place] for place, _ in found} == {"u"}


def test_only_the_largest_classes_are_explained():
    y = np.repeat([f"c{i}" for i in range(MOST_CLASSES + 2)], np.arange(5, 5 + MOST_CLASSES + 2))
    found = selected_rows(y, predicted(y, np.ones(len(y), dtype=bool), np.full(len(y), 0.9)))
    assert {y[place] for place, _ in found} == {f"c{i}" for i in range(2, MOST_CLASSES + 2)}


def test_the_table_of_cases_has_a_row_for_each():
    study = iris_study()
    frame = cases_frame(study.cases)
    assert frame["row"].tolist() == [case.row for case in study.cases]
    assert frame["predicted"].tolist() == [case.why.prediction for case in study.cases]
    assert (frame["nearest_other"] != frame["predicted"]).all()
    assert list(cases_frame(())) == list(frame)
