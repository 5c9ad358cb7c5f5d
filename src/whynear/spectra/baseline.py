"""Baselines: a polynomial along the axis, subtracted from each spectrum."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whynear.spectra.base import SpectralTransformer
from whynear.utils.arrays import Array
from whynear.utils.checks import whole


class Baseline(SpectralTransformer):
    """Subtract from each spectrum the polynomial along its channels that fits it best (detrending).

    Channels count as equally far apart. A linear map. The polynomial is fitted to all channels, peaks included, so it
    runs above the foot of high peaks.

    Parameters
    ----------
    degree : int, default=2
        Degree of the polynomial; 0 subtracts the mean.
    columns : sequence of str or int, optional
        The channels, by name or position, in the order of the axis; all columns for None. Others are kept.

    References
    ----------
    Barnes, Dhanoa, Lister: Standard normal variate transformation and de-trending of near-infrared diffuse reflectance
    spectra, 1989.

    Examples
    --------
    >>> abs(Baseline(degree=1).fit_transform([[1.0, 3.0, 5.0, 7.0]])).round(6).tolist()
    [[0.0, 0.0, 0.0, 0.0]]
    """

    basis_: Array

    def __init__(self, degree: int = 2, columns: Sequence[str] | Sequence[int] | None = None) -> None:
        self.degree = degree
        self.columns = columns

    def _prepare(self, n_channels: int) -> None:
        degree = min(whole("degree", self.degree, 0), n_channels - 1)
        powers = np.polynomial.legendre.legvander(np.linspace(-1.0, 1.0, n_channels), degree)
        self.basis_ = np.linalg.qr(powers)[0]

    def _changed(self, spectra: Array) -> Array:
        return spectra - (spectra @ self.basis_) @ self.basis_.T
