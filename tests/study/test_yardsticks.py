"""How the learner of a study stands to a forest, boosting and a linear model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from tests.helpers.studies import iris_study, numeric_study
from whynear.data.rows import error_of_mean
from whynear.study.comparison import Comparison
from whynear.study.folds import folds_of
from whynear.study.methods import FOREST, LOGISTIC, NUMERIC_YARDSTICKS, YARDSTICKS, Methods
from whynear.study.yardsticks import Standing, standing_of
from whynear.verdict.outside import boosting, logistic_regression, trees_for

RNG = np.random.default_rng(0)
TRUE = RNG.standard_normal(300)


def comparison_of(measure, true, own, rivals, **more):
    """A comparison with the predictions of a learner and of yardsticks."""
    by_method = {"gmlvq": own, **rivals}
    predictions = pd.DataFrame({"true": true, "predicted": own})
    accuracy = pd.DataFrame({name: [0.0] for name in by_method})
    return Comparison(
        accuracy,
        "gmlvq",
        pd.Series([0.0]),
        predictions,
        measure,
        scores=accuracy,
        by_method=pd.DataFrame(by_method),
        models=(),
        places=np.arange(len(true)),
        **more,
    )


def wrong_in(n, first=0):
    """Labels of 200 rows of class u, of which some are predicted wrong."""
    return np.where((np.arange(200) >= first) & (np.arange(200) < first + n), "v", "u")


def test_yardsticks_are_fitted_on_the_folds_of_the_learners_and_are_never_chosen():
    for study, names in ((iris_study(), YARDSTICKS), (numeric_study(), NUMERIC_YARDSTICKS)):
        comparison = study.comparison
        assert comparison.yardsticks == names
        assert comparison.chosen not in names
        assert {method.name for method in comparison.methods} >= set(names)


@pytest.mark.parametrize("name", YARDSTICKS)
def test_the_numbers_are_those_of_cross_validation_on_the_same_folds(name):
    study = iris_study()
    X, y = study.problem.X, study.problem.y
    for number, (train, test) in enumerate(folds_of(y, 3, 0), start=1):
        model = Methods(0).fitted(name, X.iloc[train], y[train])
        again = clone(model[-1]).fit(model[:-1].transform(X.iloc[train]), y[train])
        predicted = again.predict(model[:-1].transform(X.iloc[test]))
        assert study.scores[name][number - 1] == (predicted == y[test]).mean()


def test_the_clause_is_true_of_the_held_out_predictions():
    for study in (iris_study(), numeric_study()):
        comparison, standing = study.comparison, standing_of(study.comparison)
        scores = {name: comparison.score_of(name).value for name in comparison.yardsticks}
        assert scores[standing.yardstick] == max(scores.values())
        assert standing.gain == pytest.approx(comparison.expected - max(scores.values()))
        assert any(standing.clause in sentence for sentence in study.findings.sentences)


def test_within_one_standard_error_of_the_paired_difference_it_is_as_good():
    for n_lost in (1, 2, 5, 40):
        comparison = comparison_of("accuracy", np.full(200, "u"), wrong_in(n_lost), {FOREST: wrong_in(1, 100)})
        gains = 1.0 * (wrong_in(n_lost) == "u") - (wrong_in(1, 100) == "u")
        error = error_of_mean(gains)
        standing = standing_of(comparison)
        assert standing.gain == pytest.approx(gains.mean())
        assert standing.error == pytest.approx(float(error))
        assert standing.side == ("as good" if abs(gains.mean()) <= error else "worse")
    assert standing.clause == "19.5 points below a forest"


def test_the_best_of_several_is_named_and_the_learner_may_be_better():
    rivals = {FOREST: wrong_in(60), "boosting": wrong_in(40), LOGISTIC: wrong_in(50)}
    standing = standing_of(comparison_of("accuracy", np.full(200, "u"), wrong_in(2), rivals))
    assert standing.clause == "better than the best yardstick, boosting, by 19.0 points"
    even = standing_of(comparison_of("accuracy", np.full(200, "u"), wrong_in(40), rivals))
    assert even.clause == "as good as the best yardstick, boosting"


def test_numbers_are_compared_by_the_share_of_variance_explained():
    good, poor = TRUE + 0.1 * RNG.standard_normal(300), TRUE + 0.7 * RNG.standard_normal(300)
    standing = standing_of(comparison_of("r2", TRUE, poor, {FOREST: good, "boosting": poor, "ridge": poor}))
    lost = standing_of(comparison_of("r2", TRUE, good, {FOREST: poor}))
    assert standing.side == "worse"
    assert standing.clause.endswith(" points below a forest")
    assert lost.gain == pytest.approx(-standing.gain)
    assert lost.side == "better"


def test_rows_of_a_group_count_together():
    comparison = comparison_of("accuracy", np.full(200, "u"), wrong_in(20), {FOREST: wrong_in(10, 20)})
    assert standing_of(comparison).side == "worse"
    assert standing_of(replace(comparison, groups=pd.Series(np.arange(200) // 20))).side == "as good"


@pytest.mark.parametrize(
    ("gain", "clause"),
    [(-0.1, "worse than ridge by 0.100"), (0.1, "better than the best yardstick, ridge, by 0.100")],
)
def test_a_score_that_is_no_share_has_no_points(gain, clause):
    assert Standing("ridge", gain, 0.01, "log_loss").clause == clause


def test_a_difference_that_does_not_show_is_none():
    assert Standing("boosting", -0.0004, 0.0001, "accuracy").side == "as good"


def test_without_yardsticks_nothing_is_compared():
    assert standing_of(comparison_of("accuracy", np.full(200, "u"), wrong_in(2), {})) is None


def test_the_cost_of_yardsticks_is_bounded_by_rows_columns_and_classes():
    assert trees_for(400, 10, measured=False) == trees_for(400, 10, measured=True) == 300
    assert trees_for(4_000, 1_000, measured=False) == 100
    assert trees_for(4_000, 1_000, measured=True) == 25
    assert boosting(30, 2).max_iter == 100
    assert boosting(2_000, 10).max_iter == 25
    assert boosting(2_000, 10).learning_rate > boosting(30, 2).learning_rate
    assert logistic_regression(4_000, 2_000, 10).max_iter < logistic_regression(400, 20, 2).max_iter
