from copy import deepcopy
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from tests.helpers.rejection import compared
from whynear.reject.nearness import MEASURES
from whynear.study.methods import Methods
from whynear.study.rejection import KEPT_AS, option_of, rejection_of, remember_rejection


def rejection(setting="", seed=0):
    problem, comparison = compared(setting)
    return rejection_of(problem, comparison, fitted(), seed)


@cache
def fitted():
    problem, comparison = compared()
    return Methods(0).fitted(comparison.chosen, problem.X, problem.y)


def model_with(found):
    return remember_rejection(deepcopy(fitted()), found)


def test_each_held_out_prediction_has_a_certainty_that_fits():
    _, comparison = compared()
    found = rejection()
    assert found.certainty.shape == (450,)
    right = ~comparison.wrong
    assert found.certainty[right].mean() > found.certainty[~right].mean() + 0.1
    assert abs(found.certainty.mean() - right.mean()) < 0.02
    assert found.curve.area < 1 - right.mean()


def test_promises_are_those_of_the_calibration():
    found = rejection()
    for promise in found.promises:
        assert promise == found.calibration.promise(promise.accuracy, 0.9)
        assert promise.n_cases == 270
    assert found.sentences[0] == found.promise.sentence
    assert found.promises[0].sentence in found.sentences
    assert found.sentences[-1].startswith("A promise counts 270 of the 450 held-out rows, drawn at random")
    assert found.promise == next(promise for promise in found.promises if promise.given)


def test_rejected_cases_are_those_below_the_threshold_with_a_reason():
    found, (_, comparison) = rejection(), compared()
    frame = found.frame()
    assert len(frame) == np.count_nonzero(found.certainty <= found.promise.threshold) > 0
    assert set(frame["reason"]) == {"ambiguous", "outlier"}
    assert frame["certainty"].is_monotonic_increasing
    of_row = comparison.predictions.loc[frame["row"].iloc[0]]
    assert of_row["predicted"] == frame["predicted"].iloc[0]
    assert found.to_dict()["rejected"] == len(frame)


def test_one_row_of_each_group_counts():
    found = rejection("group")
    assert {promise.unit for promise in found.promises} == {"groups"}
    assert found.promises[0].n_cases == 90
    assert found.certainty.shape == (450,)
    assert "held-out groups" in found.promises[0].sentence
    assert found.sentences[-1].startswith("A promise counts 90 of the 150 held-out groups")


def test_nothing_is_promised_for_rows_in_time():
    found = rejection("time")
    assert found.promises == ()
    assert found.promise is None
    assert found.sentences == (found.refusal,)
    assert "'day'" in found.refusal
    assert len(found.certainty) < 450
    with pytest.raises(ValueError, match=r"accuracy=0\.9: Nothing .* Predict without an accuracy"):
        option_of(model_with(found), 0.9, 0.9)


def test_weights_do_not_count_and_that_is_said():
    problem, comparison = compared()
    weighted = replace(comparison, weights=pd.Series(np.ones(450)))
    assert (
        rejection_of(problem, weighted, fitted(), 0).sentences[-1].endswith("Rows count once, whatever their weights.")
    )


def test_folds_that_chose_other_learners_share_fewer_measures():
    problem, comparison = compared()
    predictions = comparison.predictions.assign(by=np.where(comparison.predictions["fold"] == 1, "lann", "grlvq"))
    found = rejection_of(problem, replace(comparison, predictions=predictions), fitted(), 0)
    assert found.calibration.rule.model.names == ("relative_distance", "probability", "near_share", "margin")
    assert not len(found.calibration.nearest)
    assert rejection().calibration.rule.model.names == MEASURES


def test_a_model_in_a_file_decides_as_before(tmp_path):
    found = rejection()
    model = model_with(found)
    wn.save(model, tmp_path / "model")
    X = compared()[0].X
    first, second = (option_of(one, 0.9, 0.9).decide(X) for one in (model, wn.load(tmp_path / "model")))
    assert first == second
    assert_array_equal(first.predicted, model.predict(X))
    assert_allclose(option_of(model, 0.9, 0.9).promise.coverage, found.promises[2].coverage)


def test_a_model_without_a_calibration_is_refused():
    problem, comparison = compared()
    model = Methods(0).fitted(comparison.chosen, problem.X, problem.y)
    assert not hasattr(model[-1], KEPT_AS)
    with pytest.raises(ValueError, match="does not know how often"):
        option_of(model, 0.9, 0.9)


def test_an_option_keeps_its_own_settings():
    problem, _ = compared()
    option = wn.RejectOption(wn.GRLVQ(random_state=0), accuracy=0.9, random_state=0).fit(problem.X, problem.y)
    assert option_of(option, 0.8, 0.9).accuracy == 0.8
    assert option.accuracy == 0.9
