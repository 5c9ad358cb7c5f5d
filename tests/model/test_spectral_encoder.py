import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.helpers.gasoline import gasoline

import whynear as wn
from whynear.data.encoder import TableEncoder
from whynear.model.encoders import SpectralEncoder, split_spectra
from whynear.model.pipeline import FittedPipeline
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate

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
