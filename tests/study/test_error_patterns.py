import numpy as np
import pandas as pd
import pytest

from whynear.study.error_patterns import FEWEST_ROWS, ErrorPattern, error_patterns


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
