import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OneHotEncoder, RobustScaler, StandardScaler
from tests.helpers.gasoline import gasoline
from tests.helpers.learners import Holder
from tests.helpers.mixed_tables import MIXED, NUMBERS, model_of, table

import whynear as wn
from whynear.data.encoder import TableEncoder
from whynear.metric.steps import Scaling, Selection
from whynear.model.encoders import SpectralEncoder, blocks_of, combined, split_columns, split_spectra
from whynear.model.pipeline import FittedPipeline
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate


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


CHANNELS = [name for name in gasoline(4) if name.endswith("nm")]


def steps(columns=CHANNELS):
    made = StandardNormalVariate(columns), SavitzkyGolay(derivative=1, columns=columns)
    return [step.set_output(transform="pandas") for step in made]


def mixed():
    """Spectra with two gaps, a number and a category."""
    table = gasoline(40, two_classes=True).assign(temperature=np.arange(40.0), site=["a", "b", "c", "d"] * 10)
    table.loc[[2, 7], "1212nm"] = np.nan
    return table.drop(columns="grade"), table["grade"].to_numpy()


@pytest.fixture(scope="module")
def alone():
    table = gasoline(40, two_classes=True)
    X, y = table.drop(columns="grade"), table["grade"].to_numpy()
    return make_pipeline(*steps(), StandardScaler(), wn.GMLVQ(random_state=0)).fit(X, y), X, y


@pytest.fixture(scope="module")
def behind_table_encoder():
    X, y = mixed()
    model = make_pipeline(TableEncoder("onehot", "median"), *steps(), StandardScaler(), wn.GMLVQ(random_state=0))
    return model.fit(X, y), X, y


def test_the_metric_is_stated_in_the_preprocessed_channels(alone):
    model, X, _ = alone
    metric = wn.as_metric(model)
    assert metric.feature_names == tuple(X.columns)
    made = model[:2].transform(X)
    assert_allclose(metric.sq_distances(made), model[-1].metric_.sq_distances(model[:3].transform(X)), atol=1e-8)


def test_the_model_behind_the_encoder_predicts_the_same(alone, behind_table_encoder):
    for model, X, _ in (alone, behind_table_encoder):
        fitted = FittedPipeline.of(model)
        assert isinstance(fitted.encoder, SpectralEncoder)
        assert list(fitted.columns) == list(X.columns)
        assert fitted.preprocessed == tuple(CHANNELS)
        rest = fitted.without_encoder
        assert (rest.predict(fitted.numbers(X)) == model.predict(X)).all()
        assert (fitted.behind_encoder(rest).predict(X) == model.predict(X)).all()


def test_categories_and_gaps_beside_a_spectrum_are_encoded(behind_table_encoder):
    model, X, _ = behind_table_encoder
    fitted = FittedPipeline.of(model)
    assert fitted.text_columns == ("site",)
    assert "1212nm" in fitted.filled_columns
    assert fitted.known_categories == {"site": ["a", "b", "c", "d"]}
    assert fitted.sources.count("site") == 4
    assert_allclose(fitted.sums(np.ones(len(fitted.made)))[list(X.columns).index("site")], 4.0)


def test_an_explanation_shows_case_and_neighbours_preprocessed(alone, behind_table_encoder):
    for model, X, _ in (alone, behind_table_encoder):
        why = wn.explain(model, X.iloc[0])
        seen = FittedPipeline.of(model).numbers(X.iloc[[0]])
        assert why.values["1200nm"] == pytest.approx(float(seen["1200nm"].iloc[0]))
        assert list(why.values.index) == list(X.columns)
        assert_allclose(why.contributions.sum(axis=1), why.neighbors["sq_distance"])
        assert np.abs(np.asarray(why.neighbor_values["1200nm"], dtype=float)).max() < 1.0  # a derivative, not a signal


def test_an_unusual_channel_is_stated_with_the_values_that_the_learner_sees(alone):
    model, X, _ = alone
    strange = X.iloc[[0]].copy()
    strange["1212nm"] += 3.0
    unusual = {one.column: one for one in wn.explain(model, strange).unusual}
    assert unusual["1206nm"].value > unusual["1206nm"].high
    assert unusual["1206nm"].value == pytest.approx(float(FittedPipeline.of(model).numbers(strange)["1206nm"].iloc[0]))


def test_models_without_names_are_taken_without_a_warning(alone):
    _, X, y = alone
    model = make_pipeline(SavitzkyGolay(), StandardScaler(), wn.GRLVQ(random_state=0)).fit(X.to_numpy(), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wn.explain(model, X.to_numpy()[0]).values.index[0] == "x0"
        assert wn.as_metric(model).n_features == len(CHANNELS)


def test_a_saved_model_predicts_the_same(alone, behind_table_encoder, tmp_path):
    for model, X, _ in (alone, behind_table_encoder):
        wn.save(model, tmp_path / "model.whynear")
        loaded = wn.load(tmp_path / "model.whynear")
        assert (loaded.predict(X) == model.predict(X)).all()
        assert wn.as_metric(loaded).feature_names == wn.as_metric(model).feature_names


def test_missing_channels_are_named(alone):
    model, X, _ = alone
    gap = X.copy()
    gap.loc[gap.index[3], "1212nm"] = np.nan
    with pytest.raises(ValueError, match="1212nm"):
        wn.explain(model, gap.iloc[3])


def test_a_model_without_preprocessing_is_left_to_others():
    table = pd.DataFrame({"a": [0.0, 1.0, 2.0]})
    assert split_spectra([StandardScaler().fit(table), Baseline().fit(table)], ["a"]) is None
    assert split_spectra([Baseline().fit(table)], ["a"]) is None


def test_an_explanation_says_what_was_done_to_the_spectra(alone):
    model, X, _ = alone
    why = wn.explain(model, X.iloc[0])
    assert why.preprocessing == why.to_dict()["preprocessing"] == "SNV and first derivative"
    plain = wn.explain(wn.GRLVQ(random_state=0).fit(X, alone[2]), X.iloc[0])
    assert plain.preprocessing == ""
    assert "preprocessing" not in plain.to_dict()


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
