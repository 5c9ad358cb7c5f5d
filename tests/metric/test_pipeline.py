import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

import whynear as wn
from whynear.metric.pipeline import FittedPipeline
from whynear.metric.steps import estimators_of

NUMBERS = ["size", "count", "age", "noise"]


def table(n=90, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": 10 * rng.standard_normal(n),
            "colour": rng.choice(["red", "green", "blue"], n),
            "count": rng.integers(0, 9, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.uniform(20, 80, n),
            "noise": rng.standard_normal(n),
        }
    )
    y = np.where((frame["size"] > 0) ^ (frame["colour"] == "red"), "yes", "no")
    return frame, y


class Holder(BaseEstimator):
    """A learner that keeps the metric it is given."""

    def __init__(self, metric=None):
        self.metric = metric

    def fit(self, X, y=None):
        self.n_features_in_ = np.shape(X)[1]
        self.metric_ = self.metric or wn.LinearMetric(
            np.random.default_rng(1).standard_normal((3, self.n_features_in_))
        )
        return self


def model_of(transformer, learner=None, data=None):
    X, y = data or table()
    return make_pipeline(transformer, wn.GMLVQ(random_state=0) if learner is None else learner).fit(X, y)


MIXED = {
    "scaled and one-hot": ColumnTransformer(
        [("cat", OneHotEncoder(), ["sex", "colour"]), ("num", StandardScaler(), ["age", "size"])]
    ),
    "remainder passed": ColumnTransformer(
        [("cat", OneHotEncoder(drop="first"), ["colour"]), ("no", "drop", ["sex"])], remainder="passthrough"
    ),
    "imputed": ColumnTransformer(
        [
            ("num", make_pipeline(SimpleImputer(), MinMaxScaler()), ["size", "age"]),
            ("cat", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(drop="if_binary")),
             ["colour", "sex"]),
        ],
        remainder=RobustScaler(),
        transformer_weights={"num": 0.5},
    ),
    "by selector": ColumnTransformer(
        [
            ("num", StandardScaler(), make_column_selector(dtype_include=np.number)),
            ("cat", OneHotEncoder(sparse_output=False), make_column_selector(dtype_exclude=np.number)),
        ]
    ),
}  # fmt: skip


# Numbers only: the metric is stated in the columns of the table


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
def test_units_tell_whether_all_columns_are_divided_by_their_deviation(blocks, remainder, units):
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


def test_missing_numbers_are_filled_in_where_an_imputer_stands():
    X, y = table()
    X = X[NUMBERS].copy()
    X.loc[3, "size"] = np.nan
    parts = [("filled", make_pipeline(SimpleImputer(), StandardScaler()), ["size"])]
    pipeline = model_of(ColumnTransformer(parts, remainder="passthrough"), data=(X, y))
    assert np.isnan(wn.explain(pipeline, X.iloc[3]).values["size"])
    assert FittedPipeline.of(pipeline).filled_columns == ("size",)
    with pytest.raises(ValueError, match="NaN: 1 in column 'age'"):
        wn.explain(pipeline, X.iloc[3].replace(X.loc[3, "age"], np.nan))


def test_directions_are_chosen_for_columns_in_another_order_as_for_the_same():
    X, y = table()
    X = X[NUMBERS]
    turned = ColumnTransformer([("a", StandardScaler(), NUMBERS[::-1])])
    found = wn.effective_dimension(make_pipeline(turned, wn.GMLVQ(random_state=0)), X, y, X, y)
    straight = make_pipeline(StandardScaler(), wn.GMLVQ(random_state=0)).fit(X[NUMBERS[::-1]], y)
    pd.testing.assert_frame_equal(
        found.curve, wn.effective_dimension(straight, X[NUMBERS[::-1]], y, X[NUMBERS[::-1]], y).curve
    )


# Categories: the metric is stated in the columns that are made, results in those of the table


@pytest.mark.parametrize("name", MIXED)
def test_the_encoder_and_the_scalers_behind_it_make_what_the_transformer_makes(name):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    model = FittedPipeline.of(pipeline)
    assert_array_equal(model.seen(model.table(X)), pipeline[0].transform(X))
    assert_array_equal(model.seen(model.table(X[list(X)[::-1]])), pipeline[0].transform(X))
    made = model.numbers(X)
    metric = wn.as_metric(pipeline)
    assert metric.feature_names == tuple(made) == model.made
    assert_array_equal(model.numbers(made), made)
    expected = pipeline[-1].metric_.sq_distances(pipeline[0].transform(X))
    assert_allclose(metric.sq_distances(made), expected, rtol=1e-9, atol=1e-9)
    for made_name, source in zip(model.made, model.sources, strict=True):
        if source not in ("colour", "sex"):
            assert made_name == source
            assert_array_equal(made[made_name], X[source])
    for row in range(5):
        held = dict(zip(model.columns, model.encoder.decoded(made.iloc[row]), strict=True))
        for column, value in held.items():
            assert value == X[column][row] if column in model.sources else value is None


@pytest.mark.filterwarnings("ignore:.*anchors of a local metric")
@pytest.mark.parametrize("learner", [wn.GMLVQ(random_state=0), wn.LANN(random_state=0, epochs=1)], ids=str)
@pytest.mark.parametrize("name", MIXED)
def test_explanations_and_profiles_are_stated_in_the_columns_of_the_table(name, learner):
    X, y = table()
    pipeline = make_pipeline(MIXED[name], learner).fit(X, y)
    why = wn.explain(pipeline, X[list(X)[::-1]].iloc[3])
    assert why.values.index.tolist() == list(X)
    assert why.values["colour"] == X["colour"][3]
    assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
    assert_allclose(why.relevances.sum(), 1)
    assert why.prediction == pipeline.predict(X.iloc[[3]])[0]
    assert why.nearest.values["colour"] in ("red", "green", "blue")
    assert why.frame().shape == (6, 8)
    profiles = wn.class_profiles(pipeline)
    assert profiles.index.tolist() == list(X)
    assert_allclose(profiles.sum(), 1)
    dropped = [column for column in X if column not in FittedPipeline.of(pipeline).sources]
    assert not profiles.loc[dropped].any(axis=None)
    assert not why.contributions[dropped].any(axis=None)
    assert_allclose(wn.class_profiles(pipeline, X, y).sum(), 1)


@pytest.mark.parametrize("name", MIXED)
def test_bounds_are_summed_to_the_columns_of_the_table(name):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    model = FittedPipeline.of(pipeline)
    found = wn.relevance_intervals(pipeline, X)
    parts = wn.relevance_intervals(wn.as_metric(pipeline), model.numbers(X))
    assert found.feature_names == tuple(X)
    assert found.units == parts.units
    assert_array_equal(found.parts.upper, parts.upper)
    sources = np.array(model.sources)
    for column, lower, upper in zip(X, found.lower, found.upper, strict=True):
        assert lower >= parts.lower[sources == column].sum() - 1e-9
        assert upper <= parts.upper[sources == column].sum() + 1e-9
        assert column in sources or (lower, upper) == (0, 0)
    assert_array_equal(wn.relevance_intervals(pipeline, model.numbers(X)).upper, parts.upper)


def test_a_table_encoder_takes_the_table_too():
    X, y = table()
    pipeline = make_pipeline(wn.TableEncoder("onehot"), StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, y)
    model = FittedPipeline.of(pipeline)
    rest, made = model.without_encoder, model.numbers(X)
    assert wn.relevance_intervals(pipeline, X).feature_names == tuple(X)
    assert_array_equal(wn.relevance_intervals(pipeline, X).parts.upper, wn.relevance_intervals(rest, made).upper)
    assert_array_equal(wn.relevance_intervals(pipeline, made).upper, wn.relevance_intervals(rest, made).upper)
    assert_array_equal(
        wn.relevance_intervals(pipeline, made.to_numpy()).upper, wn.relevance_intervals(rest, made).upper
    )
    assert_array_equal(wn.embed(pipeline, X), wn.embed(rest, made))
    assert wn.null_space(pipeline, X) == wn.null_space(rest, made)
    assert wn.regularize(pipeline, X) == wn.regularize(rest, made)
    assert wn.effective_dimension(pipeline, X, y, X, y, candidates=[2, 4]).curve.equals(
        wn.effective_dimension(rest, made, y, made, y, candidates=[2, 4]).curve
    )


def test_missing_values_are_filled_in_where_the_encoder_makes_no_other_columns():
    X, y = table()
    X = X[NUMBERS].assign(empty=np.nan)
    X.loc[[0, 5], "size"] = np.nan
    model = make_pipeline(wn.TableEncoder(impute="median"), StandardScaler(), wn.GRLVQ(random_state=0)).fit(X, y)
    fitted, filled = FittedPipeline.of(model), model[0].transform(X)
    for rows in (X, filled):
        pd.testing.assert_frame_equal(fitted.numbers(rows), filled)
    found = wn.relevance_intervals(model, X)
    assert_array_equal(found.upper, wn.relevance_intervals(model[1:], filled).upper)


@pytest.mark.parametrize("name", MIXED)
def test_a_map_is_drawn_of_the_table(name):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    made = FittedPipeline.of(pipeline).numbers(X)
    assert_array_equal(wn.embed(pipeline, X), wn.embed(wn.as_metric(pipeline), made))


def test_a_search_a_nested_pipeline_and_named_output_change_nothing():
    X, y = table()
    plain = model_of(MIXED["scaled and one-hot"])
    nested = make_pipeline(make_pipeline(MIXED["scaled and one-hot"]), "passthrough", wn.GMLVQ(random_state=0))
    search = GridSearchCV(nested, {"gmlvq__n_prototypes": [1]}, cv=2).fit(X, y)
    named = make_pipeline(
        ColumnTransformer(
            [("cat", OneHotEncoder(sparse_output=False), ["sex", "colour"]), ("num", StandardScaler(), ["age", "size"])]
        ),
        wn.GMLVQ(random_state=0),
    ).set_output(transform="pandas").fit(X, y)  # fmt: skip
    for model in (search, named):
        assert wn.as_metric(model) == wn.as_metric(plain)
        pd.testing.assert_frame_equal(wn.explain(model, X.iloc[3]).frame(), wn.explain(plain, X.iloc[3]).frame())


def test_tables_without_names_are_matched_by_place():
    X, y = table()
    values = X[["size", "colour", "sex"]].to_numpy()
    parts = [("num", StandardScaler(), [0]), ("cat", OneHotEncoder(), [2, 1])]
    pipeline = make_pipeline(ColumnTransformer(parts), wn.GMLVQ(random_state=0)).fit(values, y)
    why = wn.explain(pipeline, values[3])
    assert why.values.to_dict() == {"x0": values[3, 0], "x1": values[3, 1], "x2": values[3, 2]}
    assert wn.relevance_intervals(pipeline, values).feature_names == ("x0", "x1", "x2")


def test_an_unknown_category_is_none_of_those_known():
    X, y = table()
    parts = [("cat", OneHotEncoder(handle_unknown="ignore"), ["colour"]), ("num", StandardScaler(), ["size"])]
    pipeline = make_pipeline(ColumnTransformer(parts), wn.GMLVQ(random_state=0)).fit(X, y)
    case = X.iloc[[0]].assign(colour="violet")
    assert wn.explain(pipeline, case).values["colour"] == "violet"
    model = FittedPipeline.of(pipeline)
    assert model.encoder.decoded(model.numbers(case).iloc[0])[1] is None


def test_rare_categories_are_merged_and_names_that_meet_are_kept_apart():
    X, y = table()
    X = X.assign(colour_red=1.0)
    X.loc[:1, "colour"] = "violet"
    parts = [("cat", OneHotEncoder(min_frequency=5), ["colour"]), ("num", "passthrough", ["colour_red", "size"])]
    model = FittedPipeline.of(make_pipeline(ColumnTransformer(parts), wn.GMLVQ(random_state=0)).fit(X, y))
    assert model.made == (
        "colour_blue",
        "colour_green",
        "colour_red",
        "colour_infrequent_sklearn",
        "colour_red'",
        "size",
    )
    assert model.encoder.decoded(model.numbers(X).iloc[0])[1] == "infrequent_sklearn"


def test_a_one_hot_encoder_alone_encodes():
    X, y = table()
    pipeline = make_pipeline(OneHotEncoder(sparse_output=False), wn.GMLVQ(random_state=0)).fit(X[["colour", "sex"]], y)
    assert wn.explain(pipeline, X[["colour", "sex"]].iloc[0]).values["sex"] == X["sex"][0]


def test_components_behind_an_encoder_are_what_is_explained():
    X, y = table()
    for encoder in (MIXED["scaled and one-hot"], wn.TableEncoder("onehot")):
        pipeline = make_pipeline(encoder, PCA(2), wn.GMLVQ(random_state=0)).fit(X, y)
        why = wn.explain(pipeline, X.iloc[0])
        assert why.coordinates == "steps"
        assert len(why.values) == 2
        assert wn.class_profiles(pipeline).index.tolist() == list(X)


def test_what_is_neither_linear_nor_one_hot_leaves_the_learners_coordinates():
    X, y = table()
    parts = [
        ("codes", OrdinalEncoder(), ["sex"]),
        ("cat", OneHotEncoder(), ["colour"]),
        ("num", StandardScaler(), ["size"]),
    ]
    pipeline = make_pipeline(ColumnTransformer(parts), wn.GMLVQ(random_state=0)).fit(X, y)
    why = wn.explain(pipeline, X.iloc[0])
    assert why.coordinates == "steps"
    assert list(why.contributions)[:2] == ["codes__sex", "cat__colour_blue"]
    with pytest.raises(TypeError, match="OrdinalEncoder is not known to be a linear map"):
        wn.as_metric(pipeline)
    weights = ColumnTransformer([("num", StandardScaler(), ["size", "age"])], transformer_weights={"num": 0.0})
    with pytest.raises(TypeError, match="transformer_weights"):
        wn.as_metric(model_of(weights, Holder()))


def test_a_floor_cannot_put_columns_beside_those_of_an_encoder():
    X, y = table()
    with pytest.raises(TypeError, match="ColumnTransformer does not take"):
        wn.relevance_floor(model_of(MIXED["scaled and one-hot"]), X, y)


# Files


@pytest.mark.parametrize("name", [name for name in MIXED if name != "by selector"])
def test_a_pipeline_with_a_column_transformer_is_saved(name, tmp_path):
    X, _ = table()
    pipeline = model_of(MIXED[name])
    wn.save(pipeline, tmp_path / "model")
    again = wn.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), pipeline.predict_proba(X))
    assert wn.as_metric(again) == wn.as_metric(pipeline)
    assert wn.as_metric(again).units == wn.as_metric(pipeline).units


def test_what_is_chosen_by_a_function_cannot_be_saved_and_nothing_is_written(tmp_path):
    with pytest.raises(TypeError, match=r"transformers.* holds make_column_selector, which cannot be saved"):
        wn.save(model_of(MIXED["by selector"]), tmp_path / "model")
    X, y = table()
    function = ColumnTransformer([("log", FunctionTransformer(np.abs), ["size"])], remainder="drop")
    with pytest.raises(TypeError, match="cannot be saved without pickle"):
        wn.save(make_pipeline(function, wn.GMLVQ(random_state=0)).fit(X, y), tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_pipelines_within_pipelines_are_taken_apart():
    pipeline = make_pipeline("passthrough", make_pipeline(StandardScaler(), wn.GRLVQ()))
    assert [type(step).__name__ for step in estimators_of(pipeline)] == ["StandardScaler", "GRLVQ"]
