import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import houses_study
from whynear.study import value_cases
from whynear.study.value_cases import SHOWN_PARTS, selected_values, value_reasons
from whynear.study.voters import near_rows_of


def quiet(_step, _share):
    pass


def predicted(errors):
    return pd.DataFrame({"true": np.asarray(errors, dtype=float), "predicted": 0.0})


def test_a_typical_row_and_the_largest_errors_of_both_signs_are_selected():
    found = selected_values(predicted([0.1, -3, 1, 5, -0.2]), np.zeros(5, dtype=int))
    assert found == [(2, "typical"), (1, "overestimate"), (3, "underestimate")]


def test_the_row_with_most_unusual_values_is_selected_and_not_taken_for_typical():
    unusual = np.array([0, 0, 1, 2, 2, 0])
    found = selected_values(predicted([0.1, -3, 1, 0.5, -0.7, 5]), unusual)
    assert (4, "unusual") in found  # of the two with two unusual values, that of the larger error
    assert dict(found)[1] != "unusual"
    assert [place for place, kind in found if kind == "typical"] == [1]


def test_no_row_is_selected_twice():
    found = selected_values(predicted([1.0, 2.0, 3.0]), np.array([0, 0, 4]))
    assert found == [(1, "typical"), (2, "underestimate")]


def test_exact_predictions_have_no_over_and_underestimate():
    assert selected_values(predicted(np.zeros(5)), np.zeros(5, dtype=int)) == [(2, "typical")]


def test_cases_are_explained_by_a_map_fitted_without_them():
    study = houses_study()
    assert [case.kind for case in study.cases][:1] == ["typical"]
    assert {"overestimate", "underestimate"} <= {case.kind for case in study.cases}
    for case in study.cases:
        row = study.comparison.predictions.loc[case.row]
        assert case.why.prediction == pytest.approx(row["predicted"], rel=1e-9)
        assert case.true == row["true"]
        assert case.row not in case.why.neighbors["row"].tolist()
        assert set(case.why.neighbors["row"]) <= set(study.problem.X.index)


def test_reasons_are_those_of_the_same_maps():
    study = houses_study()
    assert [reason.place for reason in study.reasons] == list(range(80))
    reason = study.reasons[17]
    why = wn.explain(study.comparison.model_without(17).model, study.problem.X.iloc[[17]])
    assert reason.text == repr(why)
    assert "Caution, it rests on 'age', which is missing" in reason.text
    assert [one.column for one in reason.unusual] == ["age"]
    assert reason.voters == near_rows_of(why)
    assert [part.feature for part in reason.parts] == why.ranked.index[:SHOWN_PARTS].tolist()
    for part in reason.parts:
        assert part.contribution == why.contributions[part.feature]
        assert (part.value is None) == (part.feature == "age")
        assert (part.mean is None) == (part.feature == "town")


def test_cases_are_not_explained_again(monkeypatch):
    study, explained = houses_study(), []
    known = value_cases.explain_value
    monkeypatch.setattr(value_cases, "explain_value", lambda *given: explained.append(given) or known(*given))
    found = value_reasons(study.problem.X, study.comparison, study.cases, quiet)
    assert found == study.reasons
    assert len(explained) == 80 - len(study.cases)


def test_folds_without_a_varying_column_explain_nothing():
    X = pd.DataFrame({"a": [0.0] * 29 + [1.0]})
    y = np.linspace(0, 1, 30)
    study = wn.study(X.assign(y=y), "y", folds=3)
    explained = {reason.place for reason in study.reasons}
    held_out_with_it = study.comparison.predictions["fold"].to_numpy() == study.comparison.predictions["fold"].iloc[-1]
    assert not explained & set(np.flatnonzero(held_out_with_it))
    assert explained
