import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import whynear as wn
from tests.helpers.gasoline import CENTRE, WIDTH, gasoline
from whynear.data.spectra import SpectralAxis, spectral_axis
from whynear.study.spectra import FEWEST, MOST, Bands, bands_of


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


@pytest.mark.parametrize(("widths", "n_bands"), [([60], FEWEST), ([1] * 60, MOST), ([1] * 6, 6)])
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
    assert by_band.contributions.shape[1] <= MOST
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
