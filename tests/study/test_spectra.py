"""Whole studies of spectra."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.gasoline import CENTRE, PLANTED, WIDTH, gasoline
from tests.helpers.studies import grade_study, octane_study, small_study
from whynear.data.spectra import SpectralAxis, spectral_axis
from whynear.study.bands import FEWEST_BANDS, MOST_BANDS, Bands, bands_of, spectra_of


def overlaps_planted(study, names):
    """Which of these bands overlap the place of the peak that decides."""
    at, ranges = (
        study.spectra.axis.positions,
        dict(zip(study.spectra.bands.names, study.spectra.bands.ranges, strict=True)),
    )
    return [at[ranges[name][0]] <= PLANTED[1] and at[ranges[name][1]] >= PLANTED[0] for name in names]


def check_planted(study):
    assert any(overlaps_planted(study, study.verdicts.sets.best)), study.verdicts.sets.best
    assert all(overlaps_planted(study, study.verdicts.named("indispensable")))
    assert study.verdicts.sets.best[0].endswith(" nm")
    assert f"“{study.verdicts.sets.best[0]}”" in study.finding()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(range(1, 10), marks=pytest.mark.slow, id="nine more")])
def test_the_planted_band_is_found_and_no_other_is_indispensable(seed):
    for one in [seed] if isinstance(seed, int) else seed:
        study = wn.study(gasoline(seed=one), "octane")
        check_planted(study)
        assert study.comparison.score_of("PLS").value > 0.8


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, pytest.param(range(1, 10), marks=pytest.mark.slow, id="nine more")])
def test_the_planted_band_is_found_for_two_classes(seed):
    for one in [seed] if isinstance(seed, int) else seed:
        check_planted(wn.study(gasoline(120, seed=one, two_classes=True), "grade", learner="grlvq"))


@pytest.mark.slow
@pytest.mark.slow
def test_the_fat_of_meat_is_read_where_fat_absorbs(real_data):
    """The 100 channels are 850 to 1050 nm, and fat absorbs near 930 nm."""
    data = wn.datasets.load("tecator", real_data)
    study = wn.study(data.X, data.y)
    bands, place = study.spectra.bands, round((930 - 850) / 200 * data.X.shape[1])
    holding = [name for name, (first, last) in zip(bands.names, bands.ranges, strict=True) if first <= place <= last]
    assert holding[0] in study.verdicts.sets.best
    assert study.spectra.choice.chosen == "SNV"


@pytest.mark.slow
def test_the_features_of_a_study_are_bands_and_the_other_columns():
    study = octane_study()
    names = study.verdicts.feature_names
    assert names[-2:] == ("temperature", "site")
    assert len(study.spectra.bands.names) == len(names) - 2
    assert study.relevance.feature_names == names
    assert tuple(study.profiles.index) == names
    assert {level.feature for level in study.levels} <= set(names)
    assert study.profiles.sum().tolist() == pytest.approx([1.0])


@pytest.mark.slow
def test_cases_are_explained_by_bands():
    study = grade_study()
    assert study.cases
    for case in study.cases:
        assert tuple(case.why.values.index) == study.verdicts.feature_names
        np.testing.assert_allclose(case.why.contributions.sum(axis=1), case.why.neighbors["sq_distance"])
    assert {part.feature for reason in study.reasons for part in reason.parts} <= set(study.verdicts.feature_names)


@pytest.mark.slow
def test_weights_of_a_numeric_target_are_signed_coefficients():
    study = octane_study()
    spectra, learner = study.spectra, study.model[-1]
    assert spectra.upwards == "a larger value raises “octane”"
    assert spectra.weights.shape == (121,)
    assert set(spectra.weights) <= {0.0, *learner.coef_.tolist()}
    top = spectra.weights[np.abs(spectra.axis.positions - 1210).argmin()]
    assert top > 0


@pytest.mark.slow
def test_the_sign_of_a_weight_for_two_classes_says_in_which_values_are_larger():
    spectra = grade_study().spectra
    assert spectra.upwards == "values are larger in “low” than in “high”"
    assert list(spectra.means) == ["high", "low"]
    peak = np.abs(spectra.axis.positions - 1210).argmin()
    near = spectra.weights[peak - 2 : peak + 3]
    assert near.min() < 0
    assert (near <= 0).all()


@pytest.mark.slow
def test_weights_of_three_classes_have_no_sign():
    table = gasoline(60).assign(grade=np.tile(["a", "b", "c"], 20)).drop(columns="octane")
    study = wn.study(table, "grade", learner="grlvq", splitting=wn.Splitting(folds=2))
    assert study.spectra.upwards == ""
    assert study.spectra.signs == {}
    assert (study.spectra.weights >= 0).all()


@pytest.mark.slow
def test_bands_have_the_sign_of_most_of_their_weight():
    spectra = octane_study().spectra
    for (first, last), sign in zip(spectra.bands.ranges, spectra.signs.values(), strict=True):
        own = spectra.weights[first : last + 1]
        up = own[own > 0].sum() / max(np.abs(own).sum(), 1e-300)
        assert sign == ("+" if up >= 0.8 else "−" if up <= 0.2 else "mixed")


@pytest.mark.slow
def test_the_choice_of_preprocessing_is_said_with_the_folds_that_agree():
    spectra = octane_study().spectra
    often = spectra.by_fold.count(spectra.choice.chosen)
    chosen = "no preprocessing" if spectra.choice.chosen == "none" else spectra.choice.chosen
    assert octane_study().findings.sentences[-1] == spectra.sentence == (
        f"The spectra were interpreted with {chosen}, chosen from 7 ways of preprocessing. It was also chosen in "
        f"{often} of 3 folds, each time from the training rows alone."
    )  # fmt: skip


@pytest.mark.slow
def test_a_study_without_spectra_has_none():
    assert small_study().spectra is None
    assert "spectra" not in small_study().to_dict()
    assert spectra_of(small_study().problem, None, (), None, small_study().problem) is None
    flat = wn.study(gasoline(40), "octane", reading=wn.Reading(spectra=False), splitting=wn.Splitting(folds=2))
    assert flat.spectra is None
    assert len(flat.verdicts.feature_names) == 121


@pytest.mark.slow
def test_everything_is_in_the_record():
    study = octane_study()
    held = json.loads(json.dumps(study.to_dict()["spectra"]))
    assert held["unit"] == "nm"
    assert sum(len(band["channels"]) for band in held["bands"]) == 121
    assert held["preprocessing"]["chosen"] == study.spectra.choice.chosen
    frame = study.spectra.frame()
    assert list(frame.columns) == ["channel", "position", "band", "weight", "mean"]
    assert list(grade_study().spectra.frame().columns)[-2:] == ["mean high", "mean low"]


@pytest.mark.slow
def test_the_saved_model_takes_the_table(tmp_path):
    study = octane_study()
    study.save(tmp_path)
    model = wn.load(tmp_path / "model.whynear")
    X = study.problem.X
    np.testing.assert_allclose(model.predict(X), study.model.predict(X))


@pytest.mark.slow
def test_one_channel_stands_for_its_neighbours_in_caveats():
    table = gasoline(60)
    table["octane"] = table["1212nm"]
    table["1218nm"] = table["1212nm"] * 2
    said = [
        caveat
        for caveat in wn.study(table, "octane", splitting=wn.Splitting(folds=2)).caveats
        if "says the same as the target" in caveat
    ]
    assert said == [
        "Column '1212nm' says the same as the target, as does another channel: if it was made from it, leave it out "
        "with --drop."
    ]


@pytest.mark.slow
def test_cases_of_a_measured_target_are_explained_by_bands_that_add_up():
    study = octane_study()
    assert not set(study.verdicts.sets.best) & set(study.verdicts.named("no evidence"))
    bands = set(study.spectra.bands.names)
    assert study.cases
    for case in study.cases:
        why = case.why
        assert tuple(why.contributions.index) == study.spectra.bands.feature_names_in_
        assert why.mean_prediction + why.contributions.sum() == pytest.approx(why.prediction)
        assert np.allclose(why.distance_shares.sum(axis=1), why.neighbors["sq_distance"])
        assert why.neighbors["distance"].is_monotonic_increasing
        assert all(np.isnan(slope) for name, slope in why.coefficients.items() if name in bands)
        assert np.isfinite(why.coefficients["temperature"])
    assert {part.feature for reason in study.reasons for part in reason.parts} & bands


def steps_of(widths, n_rows=30, noise=0.01):
    """Spectra that are constant within blocks of these widths, which vary independently."""
    rng = np.random.default_rng(0)
    blocks = np.repeat(rng.standard_normal((n_rows, len(widths))), widths, axis=1)
    blocks += noise * rng.standard_normal(blocks.shape)
    return pd.DataFrame(blocks, columns=[f"{n}nm" for n in range(blocks.shape[1])])


def axis_of(table):
    return spectral_axis(table, "t.csv", True)[0]


@pytest.fixture
def bands():
    """Three bands beside two other columns, one of which is named as a band would be."""
    axis = SpectralAxis(("1nm", "2nm", "3nm", "4nm"), np.arange(1.0, 5.0), "nm")
    return Bands(axis, ((0, 1), (2, 2), (3, 3)), ("1nm", "3 nm", "2nm", "3nm", "4nm", "site"))


def test_bands_are_the_blocks_of_channels_that_vary_together():
    widths = [5, 3, 8, 2, 6, 4, 7, 3, 5, 4]
    found = bands_of(table := steps_of(widths), axis_of(table))
    ends = np.cumsum(widths)
    assert found.ranges == tuple(zip((ends - widths).tolist(), (ends - 1).tolist(), strict=True))


@pytest.mark.parametrize(("widths", "n_bands"), [([60], FEWEST_BANDS), ([1] * 60, MOST_BANDS), ([1] * 6, 6)])
def test_there_are_neither_too_few_nor_too_many(widths, n_bands):
    found = bands_of(table := steps_of(widths), axis_of(table))
    assert len(found.ranges) == n_bands
    covered = [channel for first, last in found.ranges for channel in range(first, last + 1)]
    assert covered == list(range(table.shape[1]))


def test_bands_describe_most_of_the_variance():
    spectra = gasoline(60).drop(columns="octane")
    found = bands_of(spectra, axis_of(spectra))
    values = spectra.to_numpy() - spectra.to_numpy().mean(axis=0)
    left = sum(
        np.square(values[:, a : b + 1] - values[:, a : b + 1].mean(axis=1, keepdims=True)).sum()
        for a, b in found.ranges
    )
    assert left <= 0.1 * np.square(values).sum()


def test_a_band_covers_the_top_of_a_peak():
    """Found without the target, on spectra whose baselines were removed."""
    spectra = wn.spectra.Baseline().set_output(transform="pandas").fit_transform(gasoline().drop(columns="octane"))
    found = bands_of(spectra, axis_of(spectra))
    at = found.axis.positions
    assert any(at[a] <= CENTRE <= at[b] and at[b] - at[a] <= 3 * WIDTH for a, b in found.ranges)


def test_names_are_in_the_unit_and_unlike_those_of_other_columns(bands):
    assert bands.names == ("1 to 2 nm", "3 nm'", "4 nm")
    assert bands.features_of_columns == ("1 to 2 nm", "3 nm", "1 to 2 nm", "3 nm'", "4 nm", "site")
    assert bands.feature_names_in_ == ("1 to 2 nm", "3 nm", "3 nm'", "4 nm", "site")
    assert bands.features_of(["site", "2nm"]) == ["site", "1 to 2 nm"]
    assert bands.noun == "feature"
    assert Bands(bands.axis, bands.ranges, bands.axis.columns).noun == "band"


def test_values_are_summed_and_averaged_by_band(bands):
    assert bands.sums([1, 2, 3, 4, 5, 6]).tolist() == [4, 2, 4, 5, 6]
    assert bands.decoded([1.0, 2.0, 3.0, 4.0, 5.0, "a"]) == [2.0, 2.0, 4.0, 5.0, "a"]
    table = pd.DataFrame([[1.0, 2.0, 3.0, 4.0, 5.0, "a"]], columns=list(bands.columns), index=["row"])
    made = bands.table(table)
    assert made.loc["row"].tolist() == [2.0, 2.0, 4.0, 5.0, "a"]
    profiles = pd.DataFrame({"low": np.arange(6.0)}, index=pd.Index(bands.columns, name="feature"))
    assert bands.profiles(profiles)["low"].tolist() == [2.0, 1.0, 3.0, 4.0, 5.0]
    assert bands.profiles(profiles).index.name == "feature"


def test_an_explanation_by_bands_adds_up_to_the_same_distances():
    table = gasoline(40, two_classes=True)
    X, y = table.drop(columns="grade"), table["grade"].to_numpy()
    why = wn.explain(wn.GRLVQ(random_state=0).fit(X, y), X.iloc[0])
    by_band = bands_of(X, axis_of(X)).summed(why)
    assert by_band.contributions.shape[1] <= MOST_BANDS
    assert_allclose(by_band.contributions.sum(axis=1), why.neighbors["sq_distance"])
    assert by_band.held_off_by.index[0].endswith(" nm")


def test_dates_beside_bands_stay_dates():
    table = gasoline(40).assign(day=pd.date_range("2022-03-04", periods=40, freq="9D").astype(str))
    X = table.drop(columns="octane")
    encoder = wn.TableEncoder(readings={"day": "date ISO8601"})
    model = make_pipeline(encoder, StandardScaler(), wn.MinimumNormRegressor()).fit(X, table["octane"])
    channels = [name for name in X if name != "day"]
    why = wn.explain(model, X.iloc[[0]])
    by_band = bands_of(X[channels], axis_of(X[channels]))
    by_band = Bands(by_band.axis, by_band.ranges, tuple(X)).summed(why)
    assert by_band.values["day"] == why.values["day"] == "2022-03-04"
    assert by_band.mean_values["day"] == why.mean_values["day"] == "2022-08-26"
