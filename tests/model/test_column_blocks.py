import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)
from tests.helpers.learners import Holder
from tests.helpers.mixed_tables import NUMBERS, model_of, table

import whynear as wn
from whynear.metric.steps import Scaling, Selection
from whynear.model.encoders import blocks_of, combined
from whynear.model.pipeline import FittedPipeline


@st.composite
def column_transformers(draw):
    """Scalers, passthrough and drop over any columns in any order, named by text, number or mask."""
    order = draw(st.permutations(range(4)))
    cuts = sorted(draw(st.lists(st.integers(0, 4), min_size=2, max_size=2)))
    parts = [order[: cuts[0]], order[cuts[0] : cuts[1]], order[cuts[1] :]]
    kinds = [StandardScaler(), MinMaxScaler(), RobustScaler(), "passthrough", "drop", FunctionTransformer()]
    blocks = []
    for place, part in enumerate(parts[:2]):
        by_name = [NUMBERS[i] for i in part]
        mask = [i in part for i in range(4)]
        columns = draw(st.sampled_from([by_name, list(part), mask]))
        blocks.append((f"part{place}", draw(st.sampled_from(kinds)), columns))
    remainder = draw(st.sampled_from(["drop", "passthrough", StandardScaler()]))
    return ColumnTransformer(blocks, remainder=remainder)


@settings(max_examples=60, deadline=None)
@given(column_transformers())
def test_distances_in_the_columns_of_the_table_are_those_of_the_learner(transformer):
    X = table()[0][NUMBERS]
    if not transformer.fit_transform(X).shape[1]:
        return
    pipeline = make_pipeline(transformer, Holder()).fit(X)
    metric = wn.as_metric(pipeline)
    assert metric.feature_names == tuple(NUMBERS)
    seen = transformer.fit(X).transform(X)
    assert_allclose(metric.sq_distances(X[:20]), pipeline[-1].metric_.sq_distances(seen[:20]), rtol=1e-9, atol=1e-9)
    model = FittedPipeline.of(pipeline)
    assert_allclose(model.seen(model.table(X)), seen)
    assert_allclose(model.as_seen(metric).as_learned().sq_distances(
        seen[:5] if model.as_seen(metric) is not metric else metric.learned_coordinates(X[:5])
    ), metric.sq_distances(X[:5]), rtol=1e-9, atol=1e-9)  # fmt: skip


def test_a_local_metric_keeps_its_distances_behind_columns_in_another_order():
    X = table()[0][NUMBERS]
    rng = np.random.default_rng(0)
    local = wn.LocalMetric(rng.standard_normal((5, 3)), rng.random((5, 3)))
    transformer = ColumnTransformer([("a", MinMaxScaler(), ["age"]), ("b", StandardScaler(), ["noise", "size"])])
    pipeline = make_pipeline(transformer, Holder(local)).fit(X)
    metric = wn.as_metric(pipeline)
    assert_allclose(metric.sq_distances(X), local.sq_distances(pipeline[0].transform(X)))
    assert np.isinf(metric.scale).tolist() == [False, True, False, False]


@pytest.mark.parametrize(
    ("blocks", "remainder", "units"),
    [
        ([("a", StandardScaler(), NUMBERS)], "drop", "per standard deviation"),
        ([("a", StandardScaler(), ["age"]), ("b", StandardScaler(), NUMBERS[:2])], "drop", "per standard deviation"),
        ([("a", StandardScaler(), NUMBERS[:2])], "drop", "per standard deviation"),
        ([("a", StandardScaler(), NUMBERS[:2])], "passthrough", "per scaled unit"),
        ([("a", StandardScaler(), NUMBERS[:2]), ("b", MinMaxScaler(), NUMBERS[2:])], "drop", "per scaled unit"),
        ([("a", "passthrough", NUMBERS[::-1])], "drop", "per unit"),
    ],
)  # fmt: skip
def test_units_state_whether_all_columns_are_divided_by_their_deviation(blocks, remainder, units):
    X, y = table()
    pipeline = model_of(ColumnTransformer(blocks, remainder=remainder), data=(X[NUMBERS], y))
    assert wn.as_metric(pipeline).units == units
    assert wn.explain(pipeline, X[NUMBERS].iloc[0]).units == units
    assert wn.relevance_intervals(pipeline, X[NUMBERS]).units == units


def test_a_column_that_is_used_twice_counts_with_both():
    X, y = table()
    twice = ColumnTransformer([("a", StandardScaler(), ["size", "age"]), ("b", "passthrough", ["size"])])
    pipeline = make_pipeline(twice, Holder()).fit(X[NUMBERS])
    expected = pipeline[-1].metric_.sq_distances(pipeline[0].transform(X[NUMBERS]))
    assert_allclose(wn.as_metric(pipeline).sq_distances(X[NUMBERS]), expected, atol=1e-8)
    why = wn.explain(model_of(twice, data=(X[NUMBERS], y)), X[NUMBERS].iloc[0])
    assert why.coordinates == "steps"
    assert list(why.contributions) == ["a__size", "a__age", "b__size"]


def test_components_of_some_columns_are_mixed():
    X, _ = table()
    some = ColumnTransformer([("pca", make_pipeline(StandardScaler(), PCA(2)), NUMBERS[:3])], remainder="passthrough")
    pipeline = make_pipeline(some, Holder()).fit(X[NUMBERS])
    expected = pipeline[-1].metric_.sq_distances(pipeline[0].transform(X[NUMBERS]))
    assert_allclose(wn.as_metric(pipeline).sq_distances(X[NUMBERS]), expected, atol=1e-8)


def test_blocks_list_columns_steps_and_factors_in_the_order_of_the_output():
    X, _ = table()
    filled = make_pipeline(SimpleImputer(), StandardScaler())
    parts = [("num", filled, ["age", "size"]), ("no", "drop", ["noise"]), ("cat", OneHotEncoder(), ["sex"])]
    blocks = blocks_of(ColumnTransformer(parts, transformer_weights={"num": 0.5}).fit(X))
    assert [block.inputs.tolist() for block in blocks] == [[4, 0], [3]]
    assert [block.factor for block in blocks] == [0.5, 1.0]
    assert [len(block.imputers) for block in blocks] == [1, 0]
    assert [block.one_hot is None for block in blocks] == [True, False]


def test_blocks_side_by_side_are_one_selection_and_one_scaling():
    scaling = Scaling(np.array([4.0]), np.array([True]))
    steps = combined([(np.array([2]), [scaling], 2.0), (np.array([0]), [], 1.0)], 3)
    assert [type(step) for step in steps] == [Selection, Scaling]
    assert steps[0].kept.tolist() == [2, 0]
    assert steps[1].scale.tolist() == [2.0, 1.0]
    assert combined([(np.arange(3), [], 1.0)], 3) == []
