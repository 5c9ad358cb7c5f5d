from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyRegressor

import whynear as wn
from tests.helpers.studies import houses_study
from whynear.model.pipeline import FittedPipeline
from whynear.study.feature_findings import sign_sentence


def judged(*indispensable):
    return SimpleNamespace(named=lambda _: list(indispensable))


def of_models(models):
    return SimpleNamespace(fitted=tuple(FittedPipeline.of(model) for model in models))


def compared(*coefficients, names=("a", "b")):
    """Models of folds with these coefficients."""
    X = pd.DataFrame(np.eye(2, len(names)), columns=list(names))
    learner = wn.MinimumNormRegressor().fit(X, [0.0, 1.0])
    return of_models(learner.with_metric(wn.LinearMetric([row], list(names))) for row in coefficients)


def test_directions_are_said_of_indispensable_features_in_their_order():
    comparison = compared([2.0, -3.0], [2.1, -3.0], [1.9, -3.0])
    assert sign_sentence("y", comparison, judged("b", "a")) == (
        "With the other features equal, higher “b” goes with lower “y” (-3 per unit) and higher “a” with higher "
        "(+2 per unit)."
    )
    assert sign_sentence("y", comparison, judged("a")) == (
        "With the other features equal, higher “a” goes with higher “y” (+2 per unit)."
    )


def test_nothing_is_said_of_features_that_are_not_indispensable():
    assert sign_sentence("y", compared([2.0, -3.0], [2.0, -3.0], [2.0, -3.0]), judged()) is None


def test_nothing_is_said_of_signs_that_differ_between_folds():
    comparison = compared([2.0, -3.0], [0.5, 3.0], [1.0, -1.0])
    assert sign_sentence("y", comparison, judged("b")) is None


@pytest.mark.parametrize("models", [[], [DummyRegressor().fit([[0.0]], [0.0])] * 3])
def test_nothing_is_said_without_enough_maps(models):
    assert sign_sentence("y", of_models(models), judged("a")) is None
    assert sign_sentence("y", compared([2.0, 1.0], [2.0, 1.0]), judged("a")) is None


def test_a_study_says_the_true_directions_and_nothing_of_categories():
    finding = houses_study().finding()
    assert "With the other features equal, higher “size” goes with higher “price” (+" in finding
    assert "higher “age” with lower (-" in finding
    assert "higher “town”" not in finding
    assert "higher “noise”" not in finding


@pytest.mark.slow
def test_a_study_that_loses_to_another_method_says_nothing_of_directions():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.uniform(-2, 2, 150), "b": rng.uniform(-2, 2, 150)})
    study = wn.study(
        X.assign(y=X["a"] ** 2 + 0.3 * X["b"] + 0.05 * rng.standard_normal(150)), "y", splitting=wn.Splitting(folds=3)
    )
    assert study.findings.sentences[0].startswith("Plain kNN predicts better than the linear map")
    assert "With the other features equal" not in study.finding()


def test_names_are_printable():
    comparison = compared([2.0, -3.0], [2.0, -3.0], [2.0, -3.0], names=("\x1b[2J", "b"))
    assert "\x1b" not in sign_sentence("\x07", comparison, judged("\x1b[2J"))
