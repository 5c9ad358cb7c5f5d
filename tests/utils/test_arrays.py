import json
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import date
from functools import cache
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import whynear as wn
from tests.helpers.problems import problem_of
from whynear import interpret, metric
from whynear.interpret.intervals import by_column
from whynear.utils.arrays import ByValue, plain_values, python_value, same


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float64(0.5), 0.5),
        (np.int32(3), 3),
        (np.bool_(True), True),
        (np.array([[1.0, np.nan]]), [[1.0, None]]),
        ((1, [2, np.inf]), [1, [2, None]]),
        ({1: np.str_("a"), "b": None}, {"1": "a", "b": None}),
        (date(2020, 1, 2), "2020-01-02"),
    ],
)
def test_values_are_of_types_that_json_returns_unchanged(value, plain):
    assert plain_values(value) == plain
    assert json.loads(json.dumps(plain_values(value), allow_nan=False)) == plain


@pytest.mark.parametrize(
    ("value", "kind"), [(np.int64(3), int), (np.float32(0.5), float), (np.str_("a"), str), (np.bool_(True), bool)]
)
def test_scalars_of_numpy_become_those_of_python_and_others_stay(value, kind):
    assert type(python_value(value)) is kind
    assert python_value(value) == value
    held = [value]
    assert python_value(held) is held


PACKAGES = (metric, interpret, import_module("whynear.explain"))
IRIS = load_iris(as_frame=True)
X = IRIS.data[::5]
Y = IRIS.target[::5]


NAMES = (
    "Relevance",
    "RowBounds",
    "SummedRelevance",
    "Substitutes",
    "RegularizationPaths",
    "NullSpace",
    "EffectiveDimension",
    "RelevanceTolerance",
    "Explanation",
    "Explanations",
    "NearCase",
    "ValueExplanation",
    "Flips",
    "Flip",
    "Evidence",
    "Problem",
)
BY_IDENTITY = {"Cases", "Problem", "Retrieval"}


@cache
def results(_number):
    """One of each public result, made anew of the same table for every number."""
    learner = wn.GMLVQ(random_state=0).fit(X, Y)
    given = learner.metric_
    relevance = wn.relevance_intervals(given, X)
    why = wn.explain(learner, X.iloc[0])
    flips = wn.flips(learner, X.iloc[0], X)
    return {
        "Relevance": relevance,
        "RowBounds": relevance.rows[0],
        "SummedRelevance": by_column(relevance, ["a", "a", "b", "c"]),
        "Substitutes": relevance.substitutes,
        "RegularizationPaths": wn.regularization_paths(given, X),
        "NullSpace": wn.null_space(given, X),
        "EffectiveDimension": wn.effective_dimension(learner, X, Y, X, Y, candidates=[1, 2]),
        "RelevanceTolerance": wn.relevance_tolerance(learner, X, Y, X, Y, candidates=[0.1]),
        "Explanation": why,
        "Explanations": wn.explain(learner, X.iloc[:2]),
        "NearCase": why.nearest,
        "ValueExplanation": wn.explain(wn.MinimumNormRegressor().fit(X, X.iloc[:, 0] * 2.0), X.iloc[0]),
        "Flips": flips,
        "Flip": flips[0],
        "Evidence": learner.evidence(X),
        "Problem": problem_of(X.assign(kind=Y.to_numpy()), "kind"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_results_compare_without_an_error(name):
    first, second = results(1)[name], results(2)[name]
    assert (first == first) is True
    assert (first == second) is (name not in BY_IDENTITY)
    assert (first != second) is (name in BY_IDENTITY)
    assert first != "something else"
    if name not in BY_IDENTITY and any(isinstance(getattr(first, f.name), np.ndarray) for f in fields(first)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(first)


@pytest.mark.parametrize("name", NAMES)
def test_another_value_in_one_field_makes_a_result_another(name):
    first = results(1)[name]
    for field in fields(first):
        value = getattr(first, field.name)
        if field.compare and isinstance(value, np.ndarray) and value.dtype.kind == "f" and name not in BY_IDENTITY:
            assert first != replace(first, **{field.name: value + 1.0})


def test_every_public_result_is_compared_here():
    public = {name for package in PACKAGES for name in package.__all__ if is_dataclass(getattr(package, name))}
    assert public <= {*NAMES, *BY_IDENTITY}
    assert set(NAMES) == results(1).keys()


@dataclass(frozen=True, eq=False)
class Pair(ByValue):
    first: object
    second: object = None


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (np.array([1.0, np.nan]), np.array([1.0, np.nan]), True),
        (np.array([1.0, 2.0]), np.array([1.0, 3.0]), False),
        (np.array([1.0, 2.0]), [1.0, 2.0], False),
        (np.array(["a", None], dtype=object), np.array(["a", None], dtype=object), True),
        (pd.Series([1.0, None]), pd.Series([1.0, None]), True),
        (pd.DataFrame({"a": [1]}), pd.DataFrame({"a": [2]}), False),
        ({"a": np.ones(2)}, {"a": np.ones(2)}, True),
        ({"a": np.ones(2)}, {"b": np.ones(2)}, False),
        ((np.ones(2), 1), (np.ones(2), 1), True),
        ((np.ones(2),), (np.ones(2), 1), False),
        (float("nan"), float("nan"), True),
        (float("nan"), 1.0, False),
        (Pair(np.ones(2)), Pair(np.ones(2)), True),
        (None, np.ones(2), False),
    ],
)
def test_values_are_the_same_entry_by_entry(one, other, expected):
    assert same(one, other) is expected
    assert (Pair(one) == Pair(other)) is expected
