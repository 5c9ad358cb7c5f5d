import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    StandardScaler,
)
from tests.helpers.mixed_tables import MIXED, NUMBERS, model_of, table

import whynear as wn
from whynear.model.encoders import split_columns
from whynear.model.pipeline import FittedPipeline


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


def test_a_step_without_categories_is_not_split():
    X, _ = table()
    assert split_columns(StandardScaler().fit(X[NUMBERS]), None) is None
    assert split_columns(ColumnTransformer([("a", StandardScaler(), NUMBERS)]).fit(X), None) is None


def test_sums_of_made_columns_are_those_of_their_sources():
    X, _ = table()
    encoder, _ = split_columns(MIXED["scaled and one-hot"].fit(X), None)
    assert encoder.made_ == ["sex_f", "sex_m", "colour_blue", "colour_green", "colour_red", "age", "size"]
    assert encoder.text_columns == ("sex", "colour")
    summed = dict(zip(X, encoder.sums(np.arange(7.0)), strict=True))
    assert summed == {"size": 6, "colour": 9, "count": 0, "sex": 1, "age": 5, "noise": 0}
