import numpy as np
from numpy.testing import assert_allclose

from tests.helpers.gasoline import gasoline
from whynear.spectra import StandardNormalVariate


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
