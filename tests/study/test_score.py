import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, r2_score, roc_auc_score

import whynear as wn
from tests.helpers.studies import iris_study, numeric_study, part_of_study, small_study
from whynear.study.comparison import RowScores, error_of_difference, row_scores
from whynear.study.score import (
    NAMES,
    Score,
    ScoreSums,
    direction,
    parts_of,
    score_of,
    score_without_features,
)

RNG = np.random.default_rng(0)
TRUE = RNG.standard_normal(200)
PREDICTED = TRUE + 0.5 * RNG.standard_normal(200)


def test_scores_equal_those_of_scikit_learn():
    assert score_of(TRUE, PREDICTED, "r2").value == pytest.approx(r2_score(TRUE, PREDICTED))
    assert score_of(TRUE > 0, PREDICTED > 0, "accuracy").value == accuracy_score(TRUE > 0, PREDICTED > 0)


def test_errors_are_those_of_drawing_the_rows_again():
    for measure, true, predicted in (("r2", TRUE, PREDICTED), ("accuracy", TRUE > 0, PREDICTED > 0)):
        drawn = []
        for rows in RNG.integers(200, size=(2_000, 200)):
            drawn.append(score_of(true[rows], predicted[rows], measure).value)
        assert score_of(true, predicted, measure).error == pytest.approx(np.std(drawn), rel=0.1)


def test_the_error_of_a_share_is_that_of_a_binomial():
    right = np.arange(10) < 8
    assert score_of(right, np.ones(10, dtype=bool), "accuracy") == Score(0.8, pytest.approx(np.sqrt(0.8 * 0.2 / 9)))


def test_a_constant_target_has_no_variance_to_explain():
    assert score_of(np.ones(3), np.zeros(3), "r2") == Score(0.0, 0.0, "r2")


def test_the_error_of_a_single_row_is_not_known():
    score = score_of(np.array(["u"]), np.array(["u"]), "accuracy")
    assert (score, str(score)) == (Score(1.0, np.inf), "100.0% ± unknown")


def test_rows_of_a_group_are_not_independent_and_one_group_leaves_the_error_unknown():
    right, groups = np.repeat([True, False], 50), np.arange(100) // 10
    scores = [score_of(right, np.ones(100, dtype=bool), "accuracy", given) for given in (None, groups, groups * 0)]
    assert scores[1] == Score(0.5, pytest.approx(0.5 / np.sqrt(9)))
    assert scores[0].error < scores[1].error / 3
    assert str(scores[2]) == "50.0% ± unknown"
    true, predicted = np.repeat(TRUE, 4), np.repeat(PREDICTED, 4)
    by_group = score_of(true, predicted, "r2", np.repeat(np.arange(len(TRUE)), 4))
    assert by_group.error == pytest.approx(score_of(TRUE, PREDICTED, "r2").error)


def classified(n_rows, n_classes, seed):
    """Classes, each with a row, with probabilities in steps, so that some are equal, and the likeliest class."""
    rng = np.random.default_rng(seed)
    names = np.array(["a", "b", "c", "d"])[:n_classes]
    true = rng.permutation(np.concatenate([names, rng.choice(names, n_rows - n_classes)]))
    shares = rng.integers(0, 5, (n_rows, n_classes)) + 2.0 * (true[:, None] == names) + 0.01
    shares = pd.DataFrame(shares / shares.sum(axis=1, keepdims=True), columns=names)
    return true, names[shares.to_numpy().argmax(axis=1)], shares


@given(n_rows=st.integers(6, 60), n_classes=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_scores_of_classes_equal_those_of_scikit_learn(n_rows, n_classes, seed):
    true, predicted, shares = classified(n_rows, n_classes, seed)
    found = {name: score_of(true, predicted, name, None, shares).value for name in NAMES if name != "r2"}
    areas = {"multi_class": "ovr", "average": "weighted"}
    area = roc_auc_score(true, shares["b"] if n_classes == 2 else shares.to_numpy(), **areas)
    assert found["accuracy"] == accuracy_score(true, predicted)
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted))
    assert found["log_loss"] == pytest.approx(log_loss(true, shares.to_numpy()))
    assert found["roc_auc"] == pytest.approx(area)


@pytest.mark.parametrize("measure", ["balanced_accuracy", "log_loss", "roc_auc"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_errors_of_scores_of_classes_are_those_of_drawing_the_rows_again(measure, n_classes):
    true, predicted, shares = classified(300, n_classes, 0)
    drawn = [
        score_of(true[rows], predicted[rows], measure, None, shares.iloc[rows]).value
        for rows in RNG.integers(300, size=(600, 300))
    ]
    score = score_of(true, predicted, measure, None, shares)
    assert score.error == pytest.approx(np.std(drawn), rel=0.15)
    copies = score_of(
        np.repeat(true, 3),
        np.repeat(predicted, 3),
        measure,
        np.repeat(np.arange(300), 3),
        shares.iloc[np.arange(300).repeat(3)],
    )
    assert copies.error == pytest.approx(score.error)


@given(n_rows=st.integers(8, 60), n_classes=st.integers(2, 4), seed=st.integers(0, 10**6))
def test_weighted_scores_equal_those_of_scikit_learn(n_rows, n_classes, seed):
    true, predicted, shares = classified(n_rows, n_classes, seed)
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.1, 5.0, n_rows)
    weights[np.setdiff1d(rng.integers(n_rows, size=3), np.unique(true, return_index=True)[1])] = 0.0
    found = {name: score_of(true, predicted, name, None, shares, weights).value for name in NAMES if name != "r2"}
    areas = {"multi_class": "ovr", "average": "weighted", "sample_weight": weights}
    area = roc_auc_score(true, shares["b"] if n_classes == 2 else shares.to_numpy(), **areas)
    counted = {"sample_weight": weights}
    assert found["accuracy"] == pytest.approx(accuracy_score(true, predicted, **counted))
    assert found["accuracy"] == score_of(true, predicted, "accuracy", None, None, weights).value
    assert found["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(true, predicted, **counted))
    assert found["log_loss"] == pytest.approx(log_loss(true, shares.to_numpy(), **counted))
    assert found["roc_auc"] == pytest.approx(area)
    numbers = rng.standard_normal((2, n_rows))
    assert score_of(*numbers, "r2", None, None, weights).value == pytest.approx(r2_score(*numbers, **counted))


def scored(measure, weights=None, groups=None, rows=slice(None), n_classes=3):
    """A score of the same 60 rows, or of some of them, with their groups and weights."""
    true, predicted, shares = classified(60, n_classes, 1)
    if measure == "r2":
        true, predicted = TRUE[:60], PREDICTED[:60]
    given = [None if part is None else part[rows] for part in (groups, weights)]
    return score_of(true[rows], predicted[rows], measure, given[0], shares.iloc[rows], given[1])


@pytest.mark.parametrize("measure", NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_row_of_weight_two_is_two_rows_that_are_not_independent(measure, n_classes):
    counts = np.random.default_rng(0).integers(1, 4, 60)
    copied, rows, groups = np.repeat(np.arange(60), counts), np.arange(60), np.arange(60) // 4
    for of_rows, of_copies in ((None, rows), (groups, groups)):
        weighted = scored(measure, 0.5 * counts, of_rows, n_classes=n_classes)
        repeated = scored(measure, None, of_copies, copied, n_classes)
        assert weighted.value == pytest.approx(repeated.value)
        assert weighted.error == pytest.approx(repeated.error)


@pytest.mark.parametrize("measure", NAMES)
def test_weights_of_one_change_no_bit_and_a_row_without_weight_is_left_out(measure):
    assert scored(measure, np.ones(60)) == scored(measure)
    weights, groups = np.random.default_rng(0).integers(0, 3, 60).astype(float), np.arange(60) // 4
    for given_groups in (None, groups):
        assert scored(measure, weights, given_groups) == scored(measure, weights, given_groups, weights > 0)
    nothing = scored(measure, np.zeros(60))
    assert np.isnan([nothing.value, nothing.error]).all()


def test_a_class_of_probability_zero_counts_as_in_scikit_learn():
    true, shares = np.array(["u", "v"]), pd.DataFrame({"u": [0.0, 0.5], "v": [1.0, 0.5]})
    assert score_of(true, true, "log_loss", None, shares).value == pytest.approx(log_loss(true, shares.to_numpy()))


def test_rows_of_one_class_have_no_area_and_probabilities_are_needed():
    true, shares = np.array(["u", "u"]), pd.DataFrame({"u": [0.5, 0.5], "v": [0.5, 0.5]})
    assert np.isnan(score_of(true, true, "roc_auc", None, shares).value)
    with pytest.raises(ValueError, match="measure='log_loss' needs the probabilities of the classes"):
        parts_of(true, true, "log_loss")


def test_scores_are_written_as_shares_or_numbers_and_less_log_loss_is_better():
    assert str(Score(0.5, 0.01, "balanced_accuracy")) == "50.0% ± 1.0%"
    assert str(Score(0.5, 0.01, "roc_auc")) == "0.500 ± 0.010"
    assert [direction(name) for name in NAMES] == [1, 1, -1, 1, 1]


def test_the_score_without_features_is_that_of_the_best_constant_answer():
    y = np.repeat(["u", "v", "w"], [60, 30, 10])
    shares = pd.DataFrame({"u": [0.6] * 100, "v": [0.3] * 100, "w": [0.1] * 100})
    for measure in ("accuracy", "balanced_accuracy", "log_loss", "roc_auc"):
        constant = score_of(y, np.full(100, "u"), measure, None, shares).value
        assert score_without_features(y, measure) == pytest.approx(constant)
        weights = np.where(y == "w", 7.0, 0.0) + (y == "v")
        shares_by_weight = pd.DataFrame({"u": [0.0] * 100, "v": [0.3] * 100, "w": [0.7] * 100})
        constant = score_of(y, np.full(100, "w"), measure, None, shares_by_weight, weights).value
        assert score_without_features(y, measure, weights) == pytest.approx(constant)


def score_of_of_parts_score(kind, *batches):
    sums = ScoreSums(kind)
    for y, predicted, weights in batches:
        sums.add(np.array(y), np.array(predicted), np.array(weights, dtype=float))
    return sums.score("1 of 3 files")


def test_batches_are_counted_together():
    score = score_of_of_parts_score(
        "classes", (["a", "b"], ["a", "a"], [1, 1]), ([], [], []), (["b", "b"], ["b", "b"], [1, 1])
    )
    assert score.to_dict() == {
        "parts": "1 of 3 files",
        "rows": 4,
        "score": 0.75,
        "error": pytest.approx(0.2165, abs=1e-4),
    }
    assert score.sentence == (
        "The model has seen no row of 1 of 3 files: of their 4 rows it predicts 75.0% ± 21.7% right."
    )


def test_of_numbers_the_variance_explained_is_that_of_all_batches():
    y, predicted = np.array([1e9, 1e9 + 2, 1e9 + 4]), np.array([1e9, 1e9 + 2, 1e9 + 2])
    score = score_of_of_parts_score("numbers", (y[:1], predicted[:1], [1]), (y[1:], predicted[1:], [1, 1]))
    assert score.to_dict() == {"parts": "1 of 3 files", "rows": 3, "score": pytest.approx(0.5), "error": None}
    assert "it explains 50.0% of the variance" in score.sentence


def test_equal_values_have_no_variance():
    score = score_of_of_parts_score("numbers", ([1.0, 1.0], [1.0, 1.0], [1, 1]))
    assert score.to_dict()["score"] is None
    assert "it explains no variance" in score.sentence


def test_rows_without_weight_are_not_predicted():
    score = score_of_of_parts_score("classes", (["a"], ["a"], [0]))
    assert score.to_dict()["score"] is None
    assert "predicts none, because none has a weight" in score.sentence


# What each held-out row adds to a score, and the error of a difference of two scores.


@pytest.mark.parametrize("study", [small_study, numeric_study])
def test_the_mean_of_the_parts_is_the_score_also_when_it_was_written(study):
    held = row_scores(study().comparison)
    assert held.parts.mean() == pytest.approx(study().comparison.expected)
    assert RowScores.from_dict(json.loads(json.dumps(study().to_dict()["row_scores"]))) == held


def test_studies_of_the_same_rows_are_compared_by_rows_whatever_their_folds_and_columns():
    names = (iris_study().comparison, small_study().comparison)
    first, second = map(row_scores, names)
    assert first.rows != second.rows  # the classes of one are numbers, those of the other names
    same = error_of_difference(first, replace(second, rows=first.rows))
    assert same == pytest.approx(np.std(second.parts - first.parts, ddof=1) / np.sqrt(150))


def test_the_error_is_that_of_drawing_the_rows_again():
    parts = RNG.integers(0, 2, 300) * 1.0
    other = np.where(RNG.random(300) < 0.1, 1 - parts, parts)
    first, second = (RowScores("these", held) for held in (parts, other))
    drawn = RNG.integers(300, size=(4_000, 300))
    gaps = other[drawn].mean(axis=1) - parts[drawn].mean(axis=1)
    assert error_of_difference(first, second) == pytest.approx(gaps.std(), rel=0.05)


def test_rows_of_a_group_are_not_independent_and_one_group_says_nothing():
    parts, other = np.repeat([1.0, 0.0, 1.0, 0.0], 5), np.repeat([1.0, 1.0, 1.0, 0.0], 5)
    first, second = RowScores("these", parts, np.repeat(np.arange(4), 5)), RowScores("these", other)
    for one, two in ((first, second), (second, first)):
        assert error_of_difference(one, two) == pytest.approx(0.25)
    assert error_of_difference(replace(first, groups=np.zeros(20, dtype=int)), second) is None


def test_other_rows_and_older_files_have_no_error_of_rows():
    one = RowScores("these", np.ones(4))
    for other in (RowScores("others", np.ones(4)), RowScores("these", np.ones(3)), None):
        assert error_of_difference(one, other) is None


@pytest.mark.parametrize(
    "held", [{"parts": [1.0, 0.0], "groups": [0]}, {"parts": [[1.0]], "groups": None}, {"parts": ["x"], "groups": None}]
)
def test_parts_that_do_not_fit_together_are_refused(held):
    with pytest.raises(ValueError, match=r"row_scores has no part|could not convert"):
        RowScores.from_dict({"rows": "these", **held})


def test_an_undefined_score_has_no_parts():
    assert RowScores.from_dict({"rows": "these", "parts": [None, None], "groups": None}) is None


def test_weighted_rows_and_groups_are_those_that_count():
    X = pd.DataFrame(RNG.standard_normal((60, 2)), columns=["a", "b"])
    table = X.assign(y=np.where(X["a"] > 0, "u", "v"), w=np.arange(60) % 3, who=np.arange(60) // 2)
    how = {"splitting": wn.Splitting(folds=2, group="who"), "reading": wn.Reading(weight="w")}
    comparison = part_of_study("comparison", table, "y", learner="grlvq", **how)
    held = row_scores(comparison)
    assert (len(held.parts), len(held.groups), len(np.unique(held.groups))) == (40, 40, 30)
    assert held.parts.mean() == pytest.approx(comparison.expected)
