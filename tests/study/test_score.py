import numpy as np
import pytest
from sklearn.metrics import accuracy_score, r2_score

from whynear.study.score import Score, score_of, share_right, variance_explained

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
    assert share_right(right, np.ones(10, dtype=bool)) == Score(0.8, pytest.approx(np.sqrt(0.8 * 0.2 / 9)))


def test_a_constant_target_has_no_variance_to_explain():
    assert variance_explained(np.ones(3), np.zeros(3)) == Score(0.0, 0.0)
    assert share_right(np.array(["u"]), np.array(["u"])) == Score(1.0, 0.0)


def test_rows_of_a_group_are_not_independent_and_one_group_leaves_the_error_unknown():
    right, groups = np.repeat([True, False], 50), np.arange(100) // 10
    scores = [score_of(right, np.ones(100, dtype=bool), "accuracy", given) for given in (None, groups, groups * 0)]
    assert scores[1] == Score(0.5, pytest.approx(0.5 / np.sqrt(9)))
    assert scores[0].error < scores[1].error / 3
    assert str(scores[2]) == "50.0% ± unknown"
    true, predicted = np.repeat(TRUE, 4), np.repeat(PREDICTED, 4)
    by_group = score_of(true, predicted, "r2", np.repeat(np.arange(len(TRUE)), 4))
    assert by_group.error == pytest.approx(score_of(TRUE, PREDICTED, "r2").error)
