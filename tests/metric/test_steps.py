import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.decomposition import NMF, PCA, SparsePCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, PowerTransformer, StandardScaler

import whynear as wn
from whynear.metric.steps import (
    Mixing,
    Scaling,
    Selection,
    estimators_of,
    kept_columns,
    linear_steps,
    transformed,
    units_of,
)


def test_pipelines_within_pipelines_are_taken_apart():
    pipeline = make_pipeline("passthrough", make_pipeline(StandardScaler(), wn.GRLVQ()))
    assert [type(step).__name__ for step in estimators_of(pipeline)] == ["StandardScaler", "GRLVQ"]


SCALING = Scaling(np.array([2.0, 4.0, 8.0]), np.array([True, True, False]))
SELECTION = Selection(np.array([2, 0]), 3)
MIXING = Mixing(np.ones((1, 2)))


def test_columns_are_followed_through_steps_that_mix_none():
    kept = kept_columns([SCALING, SELECTION], 3)
    assert_array_equal(kept.numbers, [2, 0])
    assert_array_equal(kept.divisor, [8, 2])
    assert_array_equal(kept.standard, [False, True])
    assert kept_columns([SCALING, SELECTION, MIXING], 3) is None


@pytest.mark.parametrize(
    ("steps", "units"),
    [
        ([], "per unit"),
        ([SELECTION], "per unit"),
        ([SCALING], "per scaled unit"),
        ([Scaling(np.ones(3), np.ones(3, dtype=bool))], "per standard deviation"),
        ([SELECTION, MIXING, SCALING], "per unit"),
    ],
)
def test_units_are_those_before_the_first_step_that_mixes_columns(steps, units):
    assert units_of(steps, 3) == units


@pytest.mark.parametrize(
    "step", [StandardScaler(), MinMaxScaler((-1, 3)), VarianceThreshold(), PCA(2), PCA(2, whiten=True)], ids=str
)
def test_linear_steps_map_differences_as_the_transformer_does(step):
    X = np.random.default_rng(0).standard_normal((20, 4)) * [1, 10, 0, 5]
    moved = np.diff(transformed(step.fit(X), X), axis=0)
    differences = np.diff(X, axis=0)
    for part in linear_steps(step):
        match part:
            case Scaling(scale):
                differences = differences / scale
            case Selection(kept):
                differences = differences[:, kept]
            case Mixing(components):
                differences = differences @ components.T
    assert_allclose(differences, moved, atol=1e-9)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (PowerTransformer(), "PowerTransformer is not known to be a linear map"),
        (NMF(2, random_state=0, max_iter=2000), "NMF does not transform by X @ components_.T"),
        (SparsePCA(2, random_state=0), "SparsePCA does not transform"),
        (MinMaxScaler(clip=True), "clips values"),
        (SimpleImputer(add_indicator=True), "indicator"),
        (LinearDiscriminantAnalysis(solver="lsqr"), "solver='lsqr'"),
        (SimpleImputer(missing_values=0), "replaces real values"),
        (FunctionTransformer(np.abs), "applies a function"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_not_linear_is_refused_by_name(step, message):
    with pytest.raises(TypeError, match=message):
        linear_steps(step.fit(*load_iris(return_X_y=True)))
