"""Scatter correction: each spectrum centred and scaled by itself."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from whynear.spectra.base import SpectralTransformer
from whynear.utils.arrays import Array


class StandardNormalVariate(SpectralTransformer):
    r"""Subtract the mean of each spectrum and divide by its standard deviation: :math:`(x - \bar x) / s_x`.

    Removes what multiplies a whole spectrum or is added to it, such as scatter by particle size. It is no linear map:
    every channel depends on all others, also on those that matter.

    Parameters
    ----------
    columns : sequence of str or int, optional
        The channels, by name or position; all columns for None. Others are kept.

    References
    ----------
    Barnes, Dhanoa, Lister: Standard normal variate transformation and de-trending of near-infrared diffuse reflectance
    spectra, 1989.

    Examples
    --------
    >>> StandardNormalVariate().fit_transform([[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]]).round(3).tolist()
    [[-1.225, 0.0, 1.225], [-1.225, 0.0, 1.225]]
    """

    def __init__(self, columns: Sequence[str] | Sequence[int] | None = None) -> None:
        self.columns = columns

    def _changed(self, spectra: Array) -> Array:
        centred = spectra - spectra.mean(axis=1, keepdims=True)
        deviations = np.sqrt(np.square(centred).mean(axis=1, keepdims=True))
        flat = deviations <= 1e-12 * np.abs(spectra).max(axis=1, keepdims=True, initial=0.0)
        return np.asarray(np.where(flat, 0.0, centred / np.where(flat, 1.0, deviations)))
