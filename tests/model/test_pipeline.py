import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler
from tests.helpers.learners import Holder
from tests.helpers.mixed_tables import MIXED, NUMBERS, model_of, table

import whynear as wn
from whynear.model.pipeline import FittedPipeline, weights_for


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


# Weights of rows, passed to those who take them.


WEIGHTS = pd.Series([2.0, 1.0, 0.0])


def test_every_step_that_takes_weights_gets_them():
    found = weights_for(make_pipeline(StandardScaler(), wn.GRLVQ()), WEIGHTS)
    assert list(found) == ["standardscaler__sample_weight", "grlvq__sample_weight"]
    for weights in found.values():
        assert_array_equal(weights, WEIGHTS)
    assert list(weights_for(LinearRegression(), WEIGHTS)) == ["sample_weight"]
    assert weights_for(KNeighborsClassifier(), WEIGHTS) == {}


def test_weights_of_one_are_not_passed():
    assert weights_for(LinearRegression(), None) == {}
    assert weights_for(LinearRegression(), np.ones(3)) == {}
