"""The errors of held-out predictions."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import binomtest
from sklearn.metrics import auc, balanced_accuracy_score, precision_score, recall_score, roc_auc_score

import whynear as wn
from tests.helpers.measured_tables import numbers
from tests.helpers.studies import iris_study, numeric_study
from whynear.study.comparison import Comparison
from whynear.study.errors import (
    FEWEST_ROWS,
    MOST_CURVES,
    MOST_SHOWN,
    MOST_WRITTEN,
    N_BINS,
    ErrorPattern,
    calibration_of,
    error_interval,
    error_patterns,
    errors_of,
    remember_errors,
    residuals_of,
    roc_of,
    wilson_interval,
)


def compared(true, predicted, probabilities):
    """A comparison with these predictions and probabilities only."""
    probability = probabilities.to_numpy()[np.arange(len(true)), probabilities.columns.get_indexer(predicted)]
    found = pd.DataFrame({"true": true, "predicted": predicted, "probability": probability, "fold": 1})
    nothing = pd.DataFrame()
    more = {"scores": nothing, "by_method": nothing, "models": (), "places": np.arange(len(true))}
    return Comparison(nothing, "", pd.Series(), found, probabilities=probabilities, **more)


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
    assert len(worst) == MOST_SHOWN
    wrong = found[comparison.wrong].sort_values("probability", ascending=False)
    assert [error.probability for error in worst] == wrong["probability"][:MOST_SHOWN].tolist()
    assert [error.row for error in worst] == wrong.index[:MOST_SHOWN].tolist()
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


def noisy_table(n, rng, noise):
    X = pd.DataFrame(rng.standard_normal((n, 4)), columns=list("abcd"))
    return X.assign(y=X["a"] - 2 * X["b"] + noise(n))


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["normal", "skewed"])
def test_nine_of_ten_new_values_lie_within(noise):
    rng = np.random.default_rng(0)
    draw = rng.standard_normal if noise == "normal" else lambda n: rng.exponential(2, n)
    inside = []
    for _ in range(5):
        model = wn.learn_table(noisy_table(120, rng, draw), "y").model
        new = noisy_table(2000, rng, draw)
        found = wn.predict_table(model, new)
        inside.append(((found["low"] <= new["y"]) & (new["y"] <= found["high"])).mean())
    assert np.mean(inside) == pytest.approx(0.9, abs=0.035)


def test_a_skewed_error_gives_a_skewed_interval():
    low, high = error_interval(np.random.default_rng(0).exponential(2, 500) - 2)
    assert high > -1.5 * low


def test_nineteen_rows_are_needed():
    assert error_interval(np.zeros(18)) is None
    assert error_interval(np.arange(19.0)) == (0.0, 18.0)
    assert error_interval(np.array([])) is None


def test_a_model_without_a_map_is_left_as_it_is():
    class Mean:
        pass

    found = pd.DataFrame({"true": np.zeros(30), "predicted": np.ones(30)})
    assert vars(remember_errors(Mean(), found)) == {}


def test_few_rows_have_no_interval():
    X, y = numbers(12)
    found = wn.predict_table(wn.learn_table(X.assign(y=y), "y").model, X)
    assert list(found) == ["row", "predicted", "out_of_range"]


def test_a_model_fitted_by_hand_has_none():
    X, y = numbers()
    assert "low" not in wn.predict_table(wn.MinimumNormRegressor().fit(X, y), X)


def table(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.standard_normal(n), "b": rng.random(n), "town": rng.choice(["x", "y"], n)})
    return X, rng.standard_normal(n), rng


def predictions(errors, predicted=None):
    predicted = np.random.default_rng(9).random(len(errors)) if predicted is None else predicted
    return pd.DataFrame({"true": predicted + errors, "predicted": predicted})


def said(X, errors, predicted=None, groups=None):
    return [str(pattern) for pattern in error_patterns(X, predictions(errors, predicted), groups)]


def test_errors_that_grow_with_a_column_are_said():
    X, noise, _ = table()
    (sentence,) = said(X, noise * (0.1 + X["b"]))
    assert sentence.startswith("Errors are larger where “b” is high (rank correlation +0.")
    (sentence,) = said(X, noise * (1.1 - X["b"]))
    assert sentence.startswith("Errors are larger where “b” is low (rank correlation -0.")


def test_errors_that_grow_with_the_prediction_are_said_with_what_follows():
    X, noise, rng = table()
    level = rng.random(200)
    (sentence,) = said(X, noise * level, level)
    assert sentence.startswith("Errors are larger where the prediction is high (rank correlation +0.")
    assert sentence.endswith("): there, the interval of a prediction is too narrow.")


def test_the_category_with_the_largest_errors_is_named():
    X, noise, _ = table()
    assert said(X, noise * np.where(X["town"] == "y", 5, 1)) == [
        "Errors differ with “town” and are largest where it is “y”."
    ]


def test_missing_values_that_go_with_errors_are_said():
    X, noise, _ = table()
    X.loc[:29, "a"] = np.nan
    assert said(X, noise * np.where(X["a"].isna(), 6, 1)) == ["Errors are larger where “a” is missing."]


@pytest.mark.parametrize("seed", range(5))
def test_nothing_is_said_where_nothing_goes_with_the_errors(seed):
    X, noise, _ = table(seed=seed)
    assert said(X, noise) == []


def test_chance_is_that_of_all_features_together():
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.standard_normal((60, 12))).rename(columns=str)
        found += bool(said(X, rng.standard_normal(60)))
    assert found <= 3  # 0.6 are expected


def test_few_rows_groups_and_exact_predictions_are_not_tested():
    X, noise, _ = table()
    errors = noise * (0.1 + X["b"].to_numpy())
    assert said(X, errors, groups=pd.Series(np.arange(200) // 2)) == []
    few = FEWEST_ROWS - 1
    assert said(X[:few], errors[:few]) == []
    assert said(X, np.zeros(200), np.ones(200)) == []


def test_hostile_names_are_printable():
    assert "\x1b" not in str(ErrorPattern("\x1b[2J", 0.5, None, 0.0))


def test_categories_whose_errors_are_all_the_same_do_not_differ():
    """Without the few rows of a third category every error is equal, and no test can tell the others apart."""
    X = pd.DataFrame({"town": ["x"] * 30 + ["y"] * 28 + ["z"] * 2})
    assert said(X, np.repeat([0.5, 2.0], [58, 2]), np.zeros(60)) == []


RNG = np.random.default_rng(0)


def predicted(n_rows, n_classes):
    """True classes, the probabilities of classes that follow them loosely, and the classes."""
    classes = np.array([f"class {code}" for code in range(n_classes)])
    codes = np.arange(n_rows) % n_classes
    support = RNG.gamma(1.0, size=(n_rows, n_classes))
    support[np.arange(n_rows), codes] *= 3
    return classes[codes], support / support.sum(axis=1, keepdims=True), classes


def test_the_area_of_two_classes_is_that_of_scikit_learn():
    true, probabilities, classes = predicted(100, 2)
    roc = roc_of(true, probabilities, classes)
    assert roc.area == roc_auc_score(true, probabilities[:, 1])
    (curve,) = roc.curves
    assert (curve.label, curve.area) == ("class 1", roc.area)


def test_the_mean_area_of_several_classes_is_that_of_scikit_learn():
    true, probabilities, classes = predicted(120, 4)
    roc = roc_of(true, probabilities, classes)
    assert roc.area == pytest.approx(roc_auc_score(true, probabilities, multi_class="ovr"))
    assert [curve.label for curve in roc.curves] == classes.tolist()


def test_the_area_of_a_curve_lies_under_its_points():
    for curve in roc_of(*predicted(90, 3)).curves:
        assert auc(curve.false_rate, curve.true_rate) == pytest.approx(curve.area)
        assert_allclose([curve.false_rate[[0, -1]], curve.true_rate[[0, -1]]], [[0, 1], [0, 1]])
        assert (np.diff(curve.true_rate) >= 0).all()


def test_only_the_curves_of_the_largest_classes_are_kept():
    true, probabilities, classes = predicted(90, 9)
    true[:40] = "class 8"
    roc = roc_of(true, probabilities, classes)
    assert len(roc.curves) == MOST_CURVES
    assert roc.curves[-1].label == "class 8"
    assert roc.area == pytest.approx(roc_auc_score(true, probabilities, multi_class="ovr"))


def test_curves_are_written_as_plain_values():
    held = roc_of(*predicted(60, 3)).to_dict()
    assert [curve["class"] for curve in held["curves"]] == ["class 0", "class 1", "class 2"]
    assert held["curves"][0]["true_rate"][-1] == 1.0


PROBABILITY = RNG.uniform(0.3, 1.0, 500)
RIGHT = RNG.random(500) < PROBABILITY


def test_every_prediction_is_in_one_bin():
    found = calibration_of(PROBABILITY, RIGHT)
    assert sum(held.count for held in found.bins) == 500
    assert sum(held.count * held.right for held in found.bins) == pytest.approx(RIGHT.sum())
    for held in found.bins:
        assert held.lower < held.probability <= held.upper
        assert held.least <= held.right <= held.most


def test_the_error_is_the_mean_gap_of_the_bins_one_by_one():
    gaps = 0.0
    for code in range(N_BINS):
        inside = (code / N_BINS < PROBABILITY) & ((code + 1) / N_BINS >= PROBABILITY)
        if inside.any():
            gaps += inside.mean() * abs(PROBABILITY[inside].mean() - RIGHT[inside].mean())
    assert calibration_of(PROBABILITY, RIGHT).error == pytest.approx(gaps)


def test_probabilities_that_hold_have_a_small_error_and_sure_ones_a_large_one():
    assert calibration_of(PROBABILITY, RIGHT).error < 0.07
    assert calibration_of(np.ones(500), RIGHT).error == pytest.approx(1 - RIGHT.mean())


def test_the_ends_belong_to_the_first_and_the_last_bin():
    first, last = calibration_of(np.array([0.0, 1.0]), np.array([False, True])).bins
    assert (first.lower, last.upper) == (0.0, 1.0)


@pytest.mark.parametrize(("right", "count"), [(0, 5), (3, 7), (40, 40)])
def test_intervals_are_those_of_wilson(right, count):
    expected = binomtest(right, count).proportion_ci(method="wilson")
    assert wilson_interval(right / count, count) == pytest.approx((expected.low, expected.high), abs=1e-6)


def test_bins_are_written_as_plain_values():
    held = calibration_of(PROBABILITY, RIGHT).to_dict()
    assert held["bins"][-1]["upper"] == 1.0
    assert set(held) == {"error", "bins"}
