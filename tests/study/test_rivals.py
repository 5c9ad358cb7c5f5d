"""Simple methods that predict better than the model of a study."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import whynear as wn
from tests.helpers.studies import iris_study, measured
from whynear.study.comparison import Comparison
from whynear.study.feature_findings import ONE_SIDED, better_rival

RNG = np.random.default_rng(0)


def of_numbers(true, own, **rivals):
    """A comparison of numeric predictions."""
    by_method = {"minimum norm": own, "plain kNN": own, "ridge": own, "PLS": own, **rivals}
    return _comparison("r2", "minimum norm", true, own, by_method)


def of_classes(true, own, plain, nca=None):
    """A comparison of predicted classes."""
    by_method = {"gmlvq": own, "plain kNN": plain, "NCA with kNN": own if nca is None else nca}
    return _comparison("accuracy", "gmlvq", true, own, by_method)


def _comparison(measure, chosen, true, own, by_method):
    predictions = pd.DataFrame({"true": true, "predicted": own})
    return Comparison(
        pd.DataFrame({name: [0.0] for name in by_method}),
        chosen,
        pd.Series([0.0]),
        predictions,
        measure,
        by_method=pd.DataFrame(by_method),
        models=(),
    )


TRUE = RNG.standard_normal(200)
GOOD, FAIR, POOR = (TRUE + size * RNG.standard_normal(200) for size in (0.2, 0.3, 0.5))


def test_the_best_rival_is_named_with_both_scores():
    comparison = of_numbers(TRUE, POOR, PLS=GOOD, ridge=FAIR)
    sentence = better_rival(comparison)
    scores = f"{comparison.score_of('PLS').value:.1%} against {comparison.score.value:.1%}"
    assert sentence.startswith(f"PLS predicts better than the linear map ({scores} of the variance explained): what ")
    assert better_rival(of_numbers(TRUE, POOR, ridge=GOOD)).startswith("Ridge predicts better")


@pytest.mark.parametrize("grouped", [False, True])
def test_a_rival_that_is_better_on_rows_that_count_is_named(grouped):
    rows, groups = np.arange(200), pd.Series(np.arange(200) // 2) if grouped else None
    labels, flipped = np.where(TRUE > 0, "u", "v"), np.where(TRUE > 0, "v", "u")
    half = rows < 100
    one, other = (np.where(part & (rows % 3 == 0), flipped, labels) for part in (half, ~half))
    numbers = of_numbers(TRUE, np.where(half, POOR, GOOD), PLS=np.where(half, GOOD, POOR))
    for comparison in (of_classes(labels, one, other), numbers):
        for heavy, better in ((half, True), (~half, False)):
            for light in (0.0, 0.1):
                weights = pd.Series(np.where(heavy, 1.0, light))
                said = better_rival(replace(comparison, weights=weights, groups=groups))
                assert (said is not None) == better
        assert better_rival(comparison) is None


def test_plain_knn_suggests_a_target_that_is_not_linear():
    sentence = better_rival(of_numbers(TRUE, POOR, **{"plain kNN": GOOD}))
    assert sentence.startswith("Plain kNN predicts better than the linear map")
    assert "not linear" in sentence
    assert "--bins 3" in sentence


def test_equal_and_worse_rivals_are_not_named():
    assert better_rival(of_numbers(TRUE, GOOD)) is None
    assert better_rival(of_numbers(TRUE, GOOD, ridge=POOR, PLS=POOR)) is None


def test_a_difference_that_does_not_show_in_the_scores_is_not_stated():
    close, closer = TRUE + 1e-4, TRUE + 1e-5
    assert better_rival(of_numbers(TRUE, close, ridge=closer)) is None


@pytest.mark.parametrize("gained", range(1, 8))
def test_plain_knn_is_tested_by_the_rows_that_only_one_predicts_right(gained):
    true, own, plain = np.full(100, "u"), np.full(100, "u"), np.full(100, "u")
    own[:gained], plain[-2:] = "v", "v"
    differences = np.repeat([1.0, 0.0, -1.0], [gained, 98 - gained, 2])
    clear = differences.mean() > ONE_SIDED * differences.std(ddof=1) / 10
    sentence = better_rival(of_classes(true, own, plain))
    assert (sentence is not None) == clear == (gained >= 7)
    if clear:
        assert sentence.startswith("Plain kNN predicts better than the learned metric (98.0% against 93.0% of held-out")


def test_nca_is_no_rival_because_it_learns_a_metric_too():
    true, wrong = np.full(50, "u"), np.repeat(["v", "u"], 25)
    assert better_rival(of_classes(true, wrong, wrong, nca=true)) is None


def test_noise_seldom_makes_a_rival_better():
    found, rng = 0, np.random.default_rng(0)
    for _ in range(200):
        predicted = TRUE + 0.5 * rng.standard_normal((2, 200))
        found += better_rival(of_numbers(TRUE, predicted[0], ridge=predicted[1], PLS=predicted[1] + 1)) is not None
    assert found <= 20


@pytest.mark.slow
def test_studies_where_the_model_predicts_well_do_not_name_a_rival():
    assert better_rival(iris_study().comparison) is None
    study = wn.study(measured(), "y", splitting=wn.Splitting(folds=3))
    assert "suffice" in study.findings.sentences[0]
    assert study.findings.sentences[-1].startswith("A linear map of")


@pytest.mark.slow
def test_the_finding_of_a_measured_target_that_is_not_linear_starts_with_plain_knn():
    X = pd.DataFrame(np.random.default_rng(1).standard_normal((200, 2)), columns=["a", "b"])
    study = wn.study(X.assign(y=np.cos(2 * X["a"]) + X["b"] ** 2), "y", splitting=wn.Splitting(folds=3))
    assert study.finding().startswith("Plain kNN predicts better than the linear map (")
    assert study.findings.sentences[-1].startswith("A linear map of")
    assert not any("kNN" in caveat for caveat in study.caveats)


@pytest.mark.slow
def test_the_finding_of_classes_that_no_global_metric_separates_starts_with_plain_knn():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.uniform(-1, 1, (300, 2)), columns=["a", "b"])
    cells = np.floor(3 * (X["a"] + 1)) + np.floor(3 * (X["b"] + 1))
    study = wn.study(
        X.assign(y=np.where(cells % 2 == 0, "u", "v")), "y", learner="grlvq", splitting=wn.Splitting(folds=3)
    )
    assert study.finding().startswith("Plain kNN predicts better than the learned metric (")
    assert study.findings.sentences[-1].startswith("GRLVQ predicts")
    assert not any("kNN" in caveat for caveat in study.caveats)


def test_a_rival_must_be_better_over_groups_where_rows_belong_together():
    true = np.repeat(["u", "v"], 100)
    own = np.where(np.arange(200) < 20, "v", true)  # wrong in twenty rows, which are of one group
    comparison = of_classes(true, own, true)
    assert better_rival(comparison) is not None
    assert better_rival(replace(comparison, groups=pd.Series(np.arange(200) // 20))) is None
