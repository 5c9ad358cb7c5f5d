import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.gasoline import gasoline
from whynear.spectra import SavitzkyGolay


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
