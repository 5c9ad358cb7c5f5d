"""Transformers of spectra, and the spectra of a table."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from tests.helpers.gasoline import gasoline
from whynear.data.options import Reading, TableRefused
from whynear.data.problem import problem_from
from whynear.data.reading import NamedTable
from whynear.data.spectra import SpectralAxis, neighbour_likeness, recipe_name, recipes, spectral_axis
from whynear.spectra import Baseline, SavitzkyGolay, StandardNormalVariate

ALL = [StandardNormalVariate(), SavitzkyGolay(), SavitzkyGolay(derivative=1), Baseline()]
NAMED = {"ids": lambda one: repr(one)}


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_steps_pass_the_checks_of_scikit_learn(step):
    results = check_estimator(clone(step), on_skip=None)
    assert len([one for one in results if one["status"] == "passed"]) > 40


@pytest.fixture
def table():
    table = gasoline(20).drop(columns="octane")
    table.insert(3, "temperature", np.arange(20.0))
    return table


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_other_columns_are_kept_and_channels_are_as_if_alone(step, table):
    channels = [name for name in table if name != "temperature"]
    step = step.set_params(columns=channels).set_output(transform="pandas")
    made = step.fit_transform(table)
    assert list(made) == list(table)
    assert_allclose(made["temperature"], table["temperature"])
    alone = type(step)(**{**step.get_params(), "columns": None}).fit_transform(table[channels].to_numpy())
    assert_allclose(made[channels], alone)
    by_place = type(step)(**{**step.get_params(), "columns": [j for j in range(122) if j != 3]})
    assert_allclose(by_place.fit_transform(table.to_numpy()), made)


@pytest.mark.parametrize("step", ALL, **NAMED)
def test_a_row_is_changed_in_the_same_way_wherever_it_stands(step):
    spectra = gasoline(20).drop(columns="octane").to_numpy()
    step = step.set_params(columns=None).set_output(transform="default")
    made = step.fit_transform(spectra)
    assert_allclose(step.fit(spectra[10:]).transform(spectra[:3]), made[:3], atol=1e-12)


def test_the_input_is_not_changed(table):
    before = table.copy()
    StandardNormalVariate().fit_transform(table)
    pd.testing.assert_frame_equal(table, before)


@pytest.mark.parametrize("columns", [["900nm", "1nm"], [0, 500], [-1]])
def test_unknown_channels_are_named(columns, table):
    with pytest.raises(ValueError, match=r"columns holds .*(1nm|500|-1).*, which X does not have"):
        Baseline(columns=columns).fit(table)


@pytest.mark.parametrize("degree", [0, 1, 2, 5])
def test_equals_the_residuals_of_a_polynomial_fit(degree):
    spectra = gasoline(6, n_channels=50).drop(columns="octane").to_numpy()
    along = np.linspace(-1, 1, 50)
    expected = [row - np.polynomial.Polynomial.fit(along, row, degree)(along) for row in spectra]
    assert_allclose(Baseline(degree).fit_transform(spectra), expected, atol=1e-12)


def test_an_added_polynomial_vanishes():
    spectra = gasoline(6, n_channels=50).drop(columns="octane").to_numpy()
    along = np.arange(50.0)
    assert_allclose(Baseline(2).fit_transform(spectra + 3 + 0.1 * along - 0.01 * along**2),
                    Baseline(2).fit_transform(spectra), atol=1e-10)  # fmt: skip


def test_a_degree_that_cannot_be_is_refused():
    with pytest.raises(ValueError, match="degree must be an integer >= 0, got -1"):
        Baseline(-1).fit(np.ones((3, 20)))


@pytest.mark.parametrize("derivative", [0, 1, 2])
def test_equals_polynomials_fitted_channel_by_channel(derivative):
    spectra = gasoline(4, n_channels=40).drop(columns="octane").to_numpy()
    made = SavitzkyGolay(7, 3, derivative).fit_transform(spectra)
    for row, spectrum in enumerate(spectra):
        for channel in range(40):
            first = min(max(channel - 3, 0), 40 - 7)
            around = np.arange(first, first + 7)
            fitted = np.polynomial.Polynomial.fit(around, spectrum[around], 3).deriv(derivative)
            assert made[row, channel] == pytest.approx(fitted(channel), abs=1e-10)


def test_smoothing_is_nearer_to_the_spectrum_without_noise():
    rng = np.random.default_rng(0)
    clean = np.sin(np.linspace(0, 6, 100))[None] * np.ones((5, 1))
    noisy = clean + 0.1 * rng.standard_normal(clean.shape)
    assert np.abs(SavitzkyGolay(15).fit_transform(noisy) - clean).mean() < 0.6 * np.abs(noisy - clean).mean()


def test_the_window_is_no_longer_than_the_spectrum():
    assert SavitzkyGolay(11).fit(np.ones((2, 6))).window_ == 5
    assert_allclose(SavitzkyGolay(11, 2, 2).fit_transform(np.arange(4.0).reshape(2, 2)), 0.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"window": 10}, "window=10 has no channel in its middle. Use 11"),
        ({"window": 2.5}, "window must be an integer >= 3, got 2.5"),
        ({"window": 5, "order": 5}, "order=5 needs a window of more channels than 5. Use order <= 4"),
        ({"order": 1, "derivative": 2}, "derivative=2 of a polynomial of order 1 is zero. Use order=2"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        SavitzkyGolay(**parameters).fit(np.ones((3, 20)))


def test_each_spectrum_has_mean_zero_and_deviation_one():
    made = StandardNormalVariate().fit_transform(gasoline(15).drop(columns="octane"))
    assert_allclose(made.mean(axis=1), 0.0, atol=1e-12)
    assert_allclose(made.std(axis=1), 1.0)


def test_scatter_and_offset_of_a_row_vanish():
    spectra = gasoline(15).drop(columns="octane").to_numpy()
    rng = np.random.default_rng(0)
    scattered = rng.uniform(0.5, 2.0, (15, 1)) * spectra + rng.standard_normal((15, 1))
    assert_allclose(StandardNormalVariate().fit_transform(scattered), StandardNormalVariate().fit_transform(spectra))


def test_a_flat_spectrum_becomes_zero():
    assert StandardNormalVariate().fit_transform([[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]).tolist() == [[0.0] * 3] * 2


def test_recipes_are_named_and_the_first_changes_nothing():
    made = recipes([f"{n}nm" for n in range(100)])
    assert [recipe_name(steps) for steps in made] == [
        "none", "smoothing", "baseline", "SNV", "first derivative", "second derivative", "SNV and first derivative"
    ]  # fmt: skip
    assert made[0] == ()
    assert recipe_name([SavitzkyGolay(order=3, derivative=3)]) == "derivative 3"


@pytest.mark.parametrize(("n_channels", "window"), [(5, 5), (100, 5), (401, 13), (3000, 25)])
def test_windows_grow_with_the_axis(n_channels, window):
    assert recipes([str(n) for n in range(n_channels)])[1][0].window == window


def test_every_recipe_takes_and_returns_a_table():
    table = gasoline(10).assign(temperature=20.0)
    channels = [name for name in table if name.endswith("nm")]
    for steps in recipes(channels):
        made = table
        for step in steps:
            made = step.fit_transform(made)
        assert list(made) == list(table)
        assert (made["temperature"] == 20.0).all()


def smooth(names):
    """Sums of a few random waves: neighbouring columns are alike."""
    along = np.linspace(0.0, 6.0, len(names))
    waves = np.array([np.sin(along), np.cos(along), np.sin(2 * along), np.ones(len(names))])
    return pd.DataFrame(np.random.default_rng(0).standard_normal((40, 4)) @ waves, columns=names)


def noise(names):
    return pd.DataFrame(np.random.default_rng(0).standard_normal((40, len(names))), columns=names)


NUMBERS = np.arange(850.5, 900.0, 1.0)


@pytest.mark.parametrize(
    ("pattern", "unit", "span"),
    [
        ("{}nm", "nm", "850.5 to 899.5 nm"),
        ("X{}", "channel", "channels 850.5 to 899.5"),
        ("{} cm-1", "cm⁻¹", "850.5 to 899.5 cm⁻¹"),
        ("X{}.cm.1", "cm⁻¹", "850.5 to 899.5 cm⁻¹"),
        ("{}", "channel", "channels 850.5 to 899.5"),
        ("wl_{} (um)", "µm", "850.5 to 899.5 µm"),
        ("mz_{}", "m/z", "850.5 to 899.5 m/z"),
        ("{} eV", "eV", "850.5 to 899.5 eV"),
        ("{}[MHz]", "MHz", "850.5 to 899.5 MHz"),
    ],
)
def test_names_give_positions_and_unit(pattern, unit, span):
    axis, said = spectral_axis(smooth([pattern.format(number) for number in NUMBERS]), "t.csv", None)
    assert axis.unit == unit
    np.testing.assert_array_equal(axis.positions, NUMBERS)
    assert axis.span(0, len(NUMBERS) - 1) == span
    first, last = pattern.format(NUMBERS[0]), pattern.format(NUMBERS[-1])
    assert said == [
        f"The 50 columns, {first!r} to {last!r}, were taken as a spectrum over {span}; --no-spectra takes them as "
        "separate features."
    ]


def test_a_falling_axis_is_stated_with_the_smaller_number_first():
    axis, _ = spectral_axis(smooth([f"{number} cm-1" for number in range(4000, 3900, -4)]), "t.csv", None)
    assert axis.span(0, 2) == "3,992 to 4,000 cm⁻¹"
    assert axis.span(1, 1) == "3,996 cm⁻¹"


def test_negative_positions_are_read_where_the_name_is_a_number():
    axis, _ = spectral_axis(smooth([f"{number / 10} ppm" for number in range(-10, 30)]), "t.csv", None)
    assert axis.positions[0] == -1.0


def test_other_columns_stay_features():
    table = smooth([f"{number}nm" for number in range(30)])
    table.insert(10, "temperature", 1.0)
    axis, _ = spectral_axis(table, "t.csv", None)
    assert len(axis.columns) == 30
    assert "temperature" not in axis.columns


@pytest.mark.parametrize("pattern", ["x{}", "{}", "gene{}", "Soil_Type{}"])
def test_unrelated_numbered_columns_are_no_spectrum(pattern):
    assert spectral_axis(noise([pattern.format(number) for number in range(100)]), "t.csv", None) == (None, [])


def test_columns_that_share_one_cause_are_no_spectrum():
    """Correlated, but neighbours no more than others."""
    table = noise([f"x{number}" for number in range(100)])
    shared = table + 10 * np.random.default_rng(1).standard_normal((40, 1))
    near, far = neighbour_likeness(shared, shared.columns)
    assert near > 0.95
    assert abs(near - far) < 0.02
    assert spectral_axis(shared, "t.csv", None)[0] is None


@pytest.mark.parametrize(
    "names",
    [
        [f"{number}nm" for number in range(19)],
        [f"{number}nm" for number in [*range(20), 3.5]],
        [f"pixel_{row}_{column}" for row in range(8) for column in range(8)],
        [f"g{number}: Hsa.{7 * number}" for number in range(60)],
    ],
    ids=["too few", "not in order", "two numbers", "names of their own"],
)
def test_names_that_give_no_axis_are_no_spectrum(names):
    assert spectral_axis(smooth(names), "t.csv", None)[0] is None


def test_text_and_empty_or_constant_channels_do_not_stop_the_search():
    table = smooth([f"{number}nm" for number in range(40)])
    table["3nm"], table["4nm"] = np.nan, 1.0
    table.loc[5, "9nm"] = np.nan
    table["kind"] = "a"
    axis, _ = spectral_axis(table, "t.csv", None)
    assert len(axis.columns) == 40


def test_of_two_spectra_the_longer_is_taken_and_the_other_named():
    table = pd.concat([smooth([f"NIR{n}" for n in range(50)]), smooth([f"VIS{n}" for n in range(30)])], axis=1)
    axis, said = spectral_axis(table, "t.csv", None)
    assert axis.columns[0] == "NIR0"
    assert said[1] == (
        "The 30 columns 'VIS0' to 'VIS29' look like another spectrum; they stay separate features, because one "
        "spectrum is analysed at a time."
    )


def test_what_was_asked_for_is_taken_even_if_it_is_rough():
    axis, said = spectral_axis(noise([f"x{number}" for number in range(6)]), "t.csv", True)
    assert len(axis.columns) == 6
    assert said == ["The 6 columns, 'x0' to 'x5', were taken as a spectrum over channels 0 to 5."]
    assert spectral_axis(smooth([f"{number}nm" for number in range(40)]), "t.csv", False) == (None, [])


def test_asking_where_there_is_no_axis_is_an_error_with_a_way_out():
    with pytest.raises(ValueError, match=r"no columns form a spectrum: .* leave out --spectra"):
        spectral_axis(noise(["a", "b", "c"]), "t.csv", True)


def test_equal_spacing_is_known():
    assert SpectralAxis(("a", "b", "c"), np.array([1.0, 2.0, 3.0]), "nm").is_even
    assert not SpectralAxis(("a", "b", "c"), np.array([1.0, 2.0, 4.0]), "nm").is_even


def test_channels_end_halfway_to_their_neighbours():
    assert SpectralAxis(("a", "b", "c"), np.array([4.0, 2.0, 1.0]), "nm").edges.tolist() == [4.0, 3.0, 1.5, 1.0]


def test_the_axis_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        SpectralAxis(("a", "b"), np.array([1.0, 2.0]), "nm").positions[0] = 5.0


def test_a_problem_has_the_axis_and_says_so_only_where_spectra_may_be_found():
    table = NamedTable("t.csv", gasoline().assign(temperature=20.0 + np.arange(60) % 7))
    assert problem_from(table, "octane", Reading(spectra=False)).axis is None
    problem = problem_from(table, "octane")
    assert problem.axis.unit == "nm"
    assert problem.X.shape[1] == 122
    assert sum("taken as a spectrum over 900 to 1,620 nm" in line for line in problem.decisions) == 1


def test_strict_leaves_the_decision_to_the_user():
    with pytest.raises(TableRefused, match=r"look like a spectrum. .*\(--spectra\), or .*--no-spectra"):
        problem_from(NamedTable("t.csv", gasoline()), "octane", reading=Reading(spectra=None, strict=True))
    assert problem_from(NamedTable("t.csv", gasoline()), "octane", reading=Reading(spectra=True, strict=True)).axis


@pytest.mark.parametrize(
    ("unit", "label"),
    [
        ("nm", "wavelength (nm)"),
        ("cm⁻¹", "wavenumber (cm⁻¹)"),
        ("ppm", "chemical shift (ppm)"),
        ("MHz", "frequency (MHz)"),
        ("m/z", "m/z"),
        ("channel", "channel"),
    ],
)
def test_the_axis_is_labelled_with_its_quantity(unit, label):
    assert SpectralAxis(("a", "b"), np.array([1.0, 2.0]), unit).label == label
