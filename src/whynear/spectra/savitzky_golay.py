"""Smoothing and derivatives along the axis, by polynomials fitted to neighbouring channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.signal import savgol_filter

from whynear.spectra.base import SpectralTransformer
from whynear.utils.arrays import Array
from whynear.utils.checks import whole


class SavitzkyGolay(SpectralTransformer):
    """Fit a polynomial to the channels around each channel, and take its value or a derivative there.

    Channels count as equally far apart, and derivatives are per channel. A linear map. At both ends the polynomial of
    the outermost window is used.

    Parameters
    ----------
    window : int, default=11
        Number of channels to fit, odd; the largest odd number possible where there are fewer channels.
    order : int, default=2
        Degree of the polynomial, less than the window.
    derivative : int, default=0
        Which derivative to take, at most the degree: 0 smooths, 1 removes what is added to all channels, 2 removes a
        slope too.
    columns : sequence of str or int, optional
        The channels, by name or position, in the order of the axis; all columns for None. Others are kept.

    References
    ----------
    Savitzky, Golay: Smoothing and differentiation of data by simplified least squares procedures, 1964.

    Examples
    --------
    >>> SavitzkyGolay(window=3, derivative=1).fit_transform([[0, 1, 4, 9, 16]]).round().astype(int).tolist()
    [[0, 2, 4, 6, 8]]
    """

    window_: int

    def __init__(
        self,
        window: int = 11,
        order: int = 2,
        derivative: int = 0,
        columns: Sequence[str] | Sequence[int] | None = None,
    ) -> None:
        self.window = window
        self.order = order
        self.derivative = derivative
        self.columns = columns

    def _prepare(self, n_channels: int) -> None:
        window, order = whole("window", self.window, 3), whole("order", self.order, 0)
        derivative = whole("derivative", self.derivative, 0)
        if window % 2 == 0:
            raise ValueError(f"window={window} has no channel in its middle. Use {window + 1}.")
        if order >= window:
            raise ValueError(f"order={order} needs a window of more channels than {window}. Use order <= {window - 1}.")
        if derivative > order:
            raise ValueError(
                f"derivative={derivative} of a polynomial of order {order} is zero. Use order={derivative}."
            )
        self.window_ = min(window, n_channels - 1 + n_channels % 2)

    def _changed(self, spectra: Array) -> Array:
        order = min(self.order, self.window_ - 1)
        if self.derivative > order:  # there are too few channels for a polynomial of this degree
            return np.zeros_like(spectra)
        return np.asarray(savgol_filter(spectra, self.window_, order, deriv=self.derivative, axis=1, mode="interp"))
