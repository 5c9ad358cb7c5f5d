import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.helpers.gasoline import gasoline
from whynear.spectra import Baseline


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
