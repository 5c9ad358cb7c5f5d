"""Studies in which a kernel regression under a learned distance is compared, chosen, explained and saved."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import whynear as wn
from whynear.learn.registry import COMPARED, MINIMUM_NORM, OF_NUMBERS
from whynear.study.comparison import compare
from whynear.study.methods import KeptFits, Methods, chosen_settings, settled
from whynear.study.yardsticks import standing_of

RNG = np.random.default_rng(0)
X = pd.DataFrame(RNG.standard_normal((160, 4)), columns=["a", "b", "c", "d"])
CLASSES = np.where(X["a"] * X["b"] > 0, "u", "v")
NUMBERS = (np.sin(X["a"]) + X["b"] * X["c"]).to_numpy()
LINE = (3 * X["a"] + X["b"] + 0.3 * RNG.standard_normal(160)).to_numpy()


@cache
def study_of(kind):
    """A study of classes by RFM, or of numbers by the learners of a default study."""
    y, learner = (CLASSES, "rfm") if kind == "classes" else (NUMBERS, "auto")
    return wn.study(X.assign(y=y), "y", splitting=wn.Splitting(folds=3), learner=learner)


def compared(y, learners, **settings):
    return compare(X, y, learners, Methods(0, **settings), n_folds=3, report=lambda *_: None)


def test_it_is_compared_by_default_between_global_and_local_metrics():
    assert "rfm" in COMPARED
    assert COMPARED.index("gmlvq") < COMPARED.index("rfm") < COMPARED.index("lgmlvq")
    assert OF_NUMBERS == (MINIMUM_NORM, "rfm")


def test_it_is_chosen_where_no_global_metric_separates_the_classes():
    comparison = compared(CLASSES, ("grlvq", "gmlvq", "rfm"))
    assert comparison.chosen == "rfm"
    assert set(comparison.predictions["by"]) == {"rfm"}
    assert comparison.expected > comparison.score_of("gmlvq").value + 0.2


def test_a_linear_map_is_kept_where_it_is_enough():
    comparison = compared(LINE, OF_NUMBERS)
    assert comparison.chosen == MINIMUM_NORM
    assert set(comparison.predictions["by"]) == {MINIMUM_NORM}


@pytest.mark.parametrize("y", [CLASSES, NUMBERS], ids=["classes", "numbers"])
def test_what_it_chooses_is_chosen_once_for_a_fold(y, monkeypatch, tmp_path):
    seen, fitted = [], Methods._fitted
    monkeypatch.setattr(
        Methods,
        "_fitted",
        lambda self, name, *rows: seen.append((name, dict(self.chosen))) or fitted(self, name, *rows),
    )
    learners = ("grlvq", "rfm") if y is CLASSES else OF_NUMBERS
    comparison = compared(y, learners, kept=KeptFits(tmp_path))
    given = [chosen for name, chosen in seen if name == "rfm"]
    assert [chosen for chosen in given if not chosen] == [{}] * 3
    wanted = [chosen_settings(model) for model in comparison.models if chosen_settings(model)]
    within = [chosen for chosen in given if chosen]
    assert len(within) == 9
    assert all(within.count(one) >= 3 for one in wanted)
    assert all(not chosen for name, chosen in seen if name != "rfm")


def test_a_model_that_is_fitted_again_keeps_what_it_has_chosen():
    model = study_of("numbers").model
    again = settled(model)
    assert again[-1].get_params()["shape"] == model[-1].shape_ != "auto"
    assert again.fit(X, NUMBERS)[-1].shape_ == model[-1].shape_
    assert chosen_settings(wn.GRLVQ()) == {}


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_a_study_explains_saves_and_predicts_with_it(kind, tmp_path):
    study = study_of(kind)
    assert study.comparison.chosen == "rfm"
    study.save(tmp_path)
    loaded = wn.load(tmp_path / "model.whynear")
    assert_array_equal(loaded.predict(X), study.model.predict(X))
    table = wn.predict_table(loaded, X)
    assert_array_equal(table["predicted"], study.model.predict(X))
    why = wn.explain_row(loaded, X, 3)
    assert why.prediction == study.model.predict(X.iloc[[2]])[0]
    assert len(study.cases)
    assert len(study.reasons)
    assert study.relevance.feature_names == tuple(X.columns)
    assert "RFM" in study.finding()


def test_the_intervals_of_held_out_errors_belong_to_predicted_numbers():
    table = wn.predict_table(study_of("numbers").model, X)
    assert (table["low"] < table["predicted"]).all()
    assert (table["predicted"] < table["high"]).all()


def test_the_finding_states_it_beside_the_best_yardstick():
    study = study_of("numbers")
    standing = standing_of(study.comparison)
    scores = study.comparison
    best = max(scores.yardsticks, key=lambda name: scores.score_of(name).value)
    assert (standing.yardstick, standing.side) == (best, "better")
    points = f"{100 * (scores.expected - scores.score_of(best).value):.1f} points"
    assert f"this is better than the best yardstick, boosting, by {points}." in study.finding()
    assert study.findings.sentences[-1].startswith(
        "RFM, the simplest of 2 learners near the best, chosen in 3 of 3 folds"
    )


@pytest.mark.parametrize("columns", ["values", "ranks"])
def test_a_distance_that_is_no_quadratic_form_has_weights_without_intervals(columns):
    from whynear.interpret.relevance import weights_as_bounds  # what a study takes for such a metric

    model = wn.RFMRegressor("l1", columns, random_state=0).fit(X, NUMBERS)
    found = weights_as_bounds(model.metric_)
    assert_allclose(found.lower, model.metric_.mean_shares())
    assert_array_equal(found.lower, found.upper)
    assert set(found.strength) == {"unknown"}
    assert found.frame()["feature"].tolist() == list(X.columns)


def test_a_study_says_that_such_weights_have_no_intervals():
    study = study_of("numbers")
    bounded = isinstance(study.metric, wn.LinearMetric | wn.DiagonalMetric)
    assert study.interpretation.bounded == bounded
    assert any("weights have no intervals" in caveat for caveat in study.caveats) == (not bounded)


@pytest.mark.parametrize("learner", OF_NUMBERS)
def test_one_learner_of_numbers_can_be_given(learner):
    learned = wn.learn_table(X.assign(y=NUMBERS), "y", learner=learner)
    assert learned.learner == learner
    assert type(learned.model[-1]) is {"rfm": wn.RFMRegressor, MINIMUM_NORM: wn.MinimumNormRegressor}[learner]


def test_a_learner_of_numbers_is_refused_for_classes():
    with pytest.raises(ValueError, match="has 2 classes, and minimum norm predicts numbers"):
        wn.learn_table(X.assign(y=CLASSES), "y", learner=MINIMUM_NORM)


def test_what_is_given_is_not_chosen_again():
    first = wn.RFM(random_state=0).fit(X, CLASSES)
    again = wn.RFM(random_state=0, **first.chosen_settings()).fit(X, CLASSES)
    assert not hasattr(again, "search_results_")
    assert (again.shape_, again.columns_, again.n_steps_) == (first.shape_, first.columns_, first.n_steps_)
    assert_allclose(again.held_out_, first.held_out_)
    with pytest.raises(ValueError, match="n_folds=None chooses nothing, and shape='auto'"):
        wn.RFM(n_folds=None).fit(X, CLASSES)
