import numpy as np
import pandas as pd

from tests.helpers.studies import numeric_study
from whynear.study.residuals import MOST_SHOWN, residuals_of


def test_the_largest_residuals_come_first_with_the_names_of_their_rows():
    true = np.array([1.0, 2.0, 3.0, 4.0])
    rows = pd.DataFrame({"true": true, "predicted": [1.0, 5.0, 2.0, 4.5]}, index=["a", "b", "c", "d"])
    found = residuals_of(rows)
    assert [error.row for error in found.largest] == ["b", "c", "d", "a"]
    assert (found.largest[0].true, found.largest[0].residual) == (2.0, -3.0)
    assert found.typical == np.sqrt((9 + 1 + 0.25) / 4)
    assert found.median == 0.75


def test_the_errors_of_a_numeric_target_are_those_of_its_predictions():
    study = numeric_study()
    predictions = study.comparison.predictions
    assert len(study.errors.largest) == MOST_SHOWN
    worst = study.errors.largest[0]
    assert abs(worst.residual) == (predictions["true"] - predictions["predicted"]).abs().max()
    assert worst.true == predictions["true"].loc[worst.row]
    assert study.errors.to_dict()["largest"][0]["row"] == worst.row
    errors = predictions["true"] - predictions["predicted"]
    assert errors.between(*study.errors.interval).mean() >= 0.9
