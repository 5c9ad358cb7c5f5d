"""The errors of a study of classes."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import balanced_accuracy_score, precision_score, recall_score, roc_auc_score

from tests.helpers.studies import iris_study
from whynear.study.comparison import Comparison
from whynear.study.errors import MOST_WORST, MOST_WRITTEN, errors_of


def compared(true, predicted, probabilities):
    """A comparison with these predictions and probabilities only."""
    probability = probabilities.to_numpy()[np.arange(len(true)), probabilities.columns.get_indexer(predicted)]
    found = pd.DataFrame({"true": true, "predicted": predicted, "probability": probability, "fold": 1})
    nothing = pd.DataFrame()
    return Comparison(nothing, "", pd.Series(), found, by_method=nothing, probabilities=probabilities, models=())


@pytest.fixture
def comparison():
    """Four classes of which the last is never predicted."""
    rng = np.random.default_rng(0)
    true = np.repeat(["u", "v", "w", "x"], [40, 25, 20, 5])
    support = rng.gamma(1.0, size=(90, 4))
    support[np.arange(90), np.repeat(np.arange(4), [40, 25, 20, 5])] += 1
    support[:, 3] = 0.01
    probabilities = pd.DataFrame(support / support.sum(axis=1, keepdims=True), columns=["u", "v", "w", "x"])
    return compared(true, probabilities.idxmax(axis=1).to_numpy(), probabilities)


def test_rows_of_the_confusion_sum_to_the_counts_of_the_classes(comparison):
    errors = errors_of(comparison)
    assert errors.confusion.sum(axis=1).tolist() == [40, 25, 20, 5]
    assert [one.count for one in errors.by_class] == [40, 25, 20, 5]
    assert errors.shares.sum(axis=1) == pytest.approx(np.ones(4))
    for i, true in enumerate(errors.classes):
        for j, predicted in enumerate(errors.classes):
            found = (comparison.predictions["true"] == true) & (comparison.predictions["predicted"] == predicted)
            assert errors.confusion[i, j] == found.sum()


def test_the_accuracy_is_the_share_of_the_diagonal(comparison):
    errors = errors_of(comparison)
    assert errors.accuracy == np.trace(errors.confusion) / 90 == comparison.expected
    assert (errors.n_rows, errors.n_wrong) == (90, comparison.wrong.sum())


def test_measures_equal_those_of_scikit_learn(comparison):
    errors, found = errors_of(comparison), comparison.predictions
    true, predicted = found["true"], found["predicted"]
    assert errors.balanced_accuracy == pytest.approx(balanced_accuracy_score(true, predicted))
    recall = recall_score(true, predicted, average=None)
    precision = precision_score(true, predicted, average=None, zero_division=0)
    assert [one.recall for one in errors.by_class] == pytest.approx(recall.tolist())
    assert [one.precision or 0.0 for one in errors.by_class] == pytest.approx(precision.tolist())
    area = roc_auc_score(true, comparison.probabilities, multi_class="ovr")
    assert errors.roc.area == pytest.approx(area)


def test_a_class_that_is_never_predicted_has_no_precision(comparison):
    last = errors_of(comparison).by_class[-1]
    assert (last.predicted, last.precision, last.recall) == (0, None, 0.0)


def test_the_worst_errors_are_the_surest_wrong_predictions(comparison):
    worst, found = errors_of(comparison).worst, comparison.predictions
    assert len(worst) == MOST_WORST
    wrong = found[comparison.wrong].sort_values("probability", ascending=False)
    assert [error.probability for error in worst] == wrong["probability"][:MOST_WORST].tolist()
    assert [error.row for error in worst] == wrong.index[:MOST_WORST].tolist()
    assert all(error.true == found["true"].loc[error.row] != error.predicted for error in worst)


def test_confused_classes_come_by_their_number_of_rows(comparison):
    errors = errors_of(comparison)
    assert sum(pair.count for pair in errors.confused) == errors.n_wrong
    assert all(pair.true != pair.predicted for pair in errors.confused)
    counts = [pair.count for pair in errors.confused]
    assert counts == sorted(counts, reverse=True)
    assert errors.frame()["count"].sum() == 90


def test_perfect_predictions_have_no_worst_error():
    true = np.array(["true", "false"] * 10)
    probabilities = pd.DataFrame({"false": true == "false", "true": true == "true"}, dtype=float)
    errors = errors_of(compared(true, true, probabilities))
    assert (errors.accuracy, errors.roc.area, errors.calibration.error) == (1.0, 1.0, 0.0)
    assert errors.worst == errors.confused == ()


def test_the_confusion_of_very_many_classes_is_written_as_pairs_only(comparison):
    errors = errors_of(comparison)
    assert errors.to_dict()["confusion"] == errors.confusion.tolist()
    many = replace(errors, classes=tuple(range(MOST_WRITTEN + 1)), confusion=np.eye(MOST_WRITTEN + 1, dtype=np.intp))
    assert many.to_dict()["confusion"] is None


def test_a_study_holds_the_errors_of_its_predictions():
    study = iris_study()
    assert_array_equal(study.errors.confusion, errors_of(study.comparison).confusion)
    assert study.errors.accuracy == study.comparison.expected
    with pytest.raises(ValueError, match="read-only"):
        study.errors.confusion[0, 0] = 7
