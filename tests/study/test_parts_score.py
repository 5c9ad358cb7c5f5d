import numpy as np
import pytest

from whynear.study.score import ScoreSums


def score_of(kind, *batches):
    sums = ScoreSums(kind)
    for y, predicted, weights in batches:
        sums.add(np.array(y), np.array(predicted), np.array(weights, dtype=float))
    return sums.score("1 of 3 files")


def test_batches_are_counted_together():
    score = score_of("classes", (["a", "b"], ["a", "a"], [1, 1]), ([], [], []), (["b", "b"], ["b", "b"], [1, 1]))
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
    score = score_of("numbers", (y[:1], predicted[:1], [1]), (y[1:], predicted[1:], [1, 1]))
    assert score.to_dict() == {"parts": "1 of 3 files", "rows": 3, "score": pytest.approx(0.5), "error": None}
    assert "it explains 50.0% of the variance" in score.sentence


def test_equal_values_have_no_variance():
    score = score_of("numbers", ([1.0, 1.0], [1.0, 1.0], [1, 1]))
    assert score.to_dict()["score"] is None
    assert "it explains no variance" in score.sentence


def test_rows_without_weight_are_not_predicted():
    score = score_of("classes", (["a"], ["a"], [0]))
    assert score.to_dict()["score"] is None
    assert "predicts none, because none has a weight" in score.sentence
