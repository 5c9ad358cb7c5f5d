"""Spectra: the axis of their channels, and their preprocessing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.signal import savgol_filter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from whynear.utils.arrays import Array, Indices
from whynear.utils.checks import whole
from whynear.utils.text import listed


class SpectralTransformer(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """A transformer that changes the channels of each row, given in the order of their axis.

    Nothing is learned from other rows, so a row is changed in the same way wherever it stands.

    Parameters
    ----------
    columns : sequence of str or int, optional
        The channels, by name or position, in the order of the axis; all columns for None. Others are kept.

    Attributes
    ----------
    channels_ : ndarray of int
        The positions of the channels.

    Examples
    --------
    >>> from whynear.spectra import StandardNormalVariate
    >>> issubclass(StandardNormalVariate, SpectralTransformer)
    True
    >>> StandardNormalVariate(columns=[0, 1, 2]).fit_transform([[1.0, 2.0, 3.0, 20.0]]).round(2).tolist()
    [[-1.22, 0.0, 1.22, 20.0]]
    """

    columns: Sequence[str] | Sequence[int] | None
    channels_: Indices

    def fit(self, X: ArrayLike, y: Any = None) -> Self:  # noqa: ARG002 - a Pipeline passes y to every step
        """Check the parameters and find the channels."""
        validate_data(self, X, dtype=np.float64)
        self.channels_ = self._found_channels()
        self._prepare(len(self.channels_))
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Return the table with changed channels."""
        check_is_fitted(self)
        values = np.array(validate_data(self, X, dtype=np.float64, reset=False))
        values[:, self.channels_] = self._changed(values[:, self.channels_])
        return values

    def _found_channels(self) -> Indices:
        if self.columns is None:
            return np.arange(self.n_features_in_)
        names = list(getattr(self, "feature_names_in_", []))
        unknown = [
            one
            for one in self.columns
            if not (one in names if isinstance(one, str) else 0 <= int(one) < self.n_features_in_)
        ]
        if unknown:
            raise ValueError(f"columns holds {listed(unknown)}, which X does not have. Give names or positions of X.")
        return np.array([names.index(one) if isinstance(one, str) else int(one) for one in self.columns], dtype=np.intp)

    def _prepare(self, n_channels: int) -> None:
        """Check the parameters for this number of channels, and compute what all rows share."""

    def _changed(self, spectra: Array) -> Array:
        """Return the changed channels of each row."""
        raise NotImplementedError


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


NONE = "none"
CHANNELS_PER_WINDOW = 30  # windows are a thirtieth of the axis
SHORTEST, LONGEST = 5, 25  # windows
_DERIVATIVES = ("smoothing", "first derivative", "second derivative")


def recipes(columns: Sequence[str]) -> tuple[tuple[SpectralTransformer, ...], ...]:
    """Return the steps of each recipe for spectra in these columns of a DataFrame; the first has none."""
    channels = list(columns)
    window = min(max(SHORTEST, len(channels) // CHANNELS_PER_WINDOW), LONGEST) // 2 * 2 + 1

    def smoothed(derivative: int) -> SpectralTransformer:
        return SavitzkyGolay(window, 2, derivative, columns=channels)

    made: tuple[tuple[SpectralTransformer, ...], ...] = (
        (),
        (smoothed(0),),
        (Baseline(columns=channels),),
        (StandardNormalVariate(channels),),
        (smoothed(1),),
        (smoothed(2),),
        (StandardNormalVariate(channels), smoothed(1)),
    )
    for step in chain.from_iterable(made):
        step.set_output(transform="pandas")
    return made


def recipe_name(steps: Sequence[SpectralTransformer]) -> str:
    """Return the name of preprocessing in the words of the field.

    >>> recipe_name([StandardNormalVariate(), SavitzkyGolay(derivative=1)])
    'SNV and first derivative'
    """

    def name(step: SpectralTransformer) -> str:
        if isinstance(step, SavitzkyGolay):
            return _DERIVATIVES[step.derivative] if step.derivative < 3 else f"derivative {step.derivative}"
        return "baseline" if isinstance(step, Baseline) else "SNV"

    return " and ".join(map(name, steps)) or NONE


FEWEST_CHANNELS = 20  # to be taken as a spectrum by default
FEWEST_GIVEN = 5  # with ``spectra=True``
ALIKE = 0.95  # median correlation of neighbouring channels, at least, where the names have no known unit
SMOOTHER = 3.0  # how many times less than distant channels neighbours differ, at least, for the same
CHANNEL = "channel"  # the unit where the names have none
EVEN = 0.05  # largest relative difference of spacings that count as equal
_NAME = re.compile(r"(?P<prefix>(?!-)\D*|)(?P<number>-?\d+(?:\.\d+)?)(?P<suffix>\D.*)?")
_UNITS = {
    "nm": ("nm", "nanometer", "nanometre", "nanometers", "nanometres"),
    "µm": ("um", "µm", "μm", "micron", "microns", "micrometer", "micrometre"),
    "cm⁻¹": ("cm-1", "cm^-1", "cm.1", "cm⁻¹", "1/cm", "cm−1", "wavenumber"),
    "m/z": ("m/z", "mz"),
    **{unit: (unit.lower(),) for unit in ("ppm", "eV", "keV", "Hz", "kHz", "MHz", "GHz", "THz")},
}
_QUANTITIES = {
    "nm": "wavelength", "µm": "wavelength", "cm⁻¹": "wavenumber", "ppm": "chemical shift", "eV": "energy",
    "keV": "energy",
}  # fmt: skip
_UNIT_OF = {written: unit for unit, spellings in _UNITS.items() for written in spellings}


@dataclass(frozen=True, eq=False)
class SpectralAxis:
    """The columns of a table that are the channels of a spectrum, and where each lies on the axis.

    Attributes
    ----------
    columns : tuple of str
        The channels, in the order of the table.
    positions : ndarray of shape (n_channels,)
        Where they lie; strictly rising or strictly falling.
    unit : str
        The unit of the positions, such as ``"nm"``; ``"channel"`` where the names have none.
    """

    columns: tuple[str, ...]
    positions: Array
    unit: str

    def __post_init__(self) -> None:
        positions = np.array(self.positions, dtype=np.float64)
        positions.setflags(write=False)
        object.__setattr__(self, "positions", positions)

    @property
    def is_even(self) -> bool:
        """Whether neighbouring channels lie equally far from each other."""
        steps = np.abs(np.diff(self.positions))
        return bool(np.ptp(steps) <= EVEN * steps.max())

    @property
    def edges(self) -> Array:
        """Where channels begin and end: halfway to their neighbours; one more than there are channels."""
        return np.concatenate([self.positions[:1], (self.positions[1:] + self.positions[:-1]) / 2, self.positions[-1:]])

    @property
    def label(self) -> str:
        """The name of the axis in a figure."""
        if self.unit in (CHANNEL, "m/z"):
            return self.unit
        return f"{_QUANTITIES.get(self.unit, 'frequency')} ({self.unit})"

    def span(self, first: int, last: int) -> str:
        """Return the range from one channel to another, in the unit of the axis, the smaller number first.

        >>> SpectralAxis(("1180nm", "1190nm"), np.array([1180.0, 1190.0]), "nm").span(0, 1)
        '1,180 to 1,190 nm'
        """
        ends = sorted((self.positions[first], self.positions[last]))
        numbers = " to ".join(dict.fromkeys(f"{end:,.7g}" for end in ends))
        if self.unit != CHANNEL:
            return f"{numbers} {self.unit}"
        return f"{CHANNEL}{'' if first == last else 's'} {numbers}"


def spectral_axis(X: pd.DataFrame, source: str, given: bool | None) -> tuple[SpectralAxis | None, list[str]]:
    """Find the channels of a spectrum among the columns of a table, and the caveats on them.

    They are numeric columns whose names are one common text around numbers that strictly rise or fall. Unless spectra
    are required (``given`` is True), there must be at least twenty of them, and neighbours must be more alike than
    distant channels: much more if the names have no known unit, so that numbered columns are not taken for a spectrum.
    """
    if given is False:
        return None, []
    fewest = FEWEST_GIVEN if given else FEWEST_CHANNELS
    found = [axis for axis in _numbered(X) if len(axis.columns) >= fewest and (given or _is_smooth(X, axis))]
    if not found:
        if given:
            raise ValueError(
                f"{source}: no columns form a spectrum: at least {FEWEST_GIVEN} numeric columns are needed whose names "
                "are numbers in order with the same unit, such as '1100nm', '1102nm'. Rename them, or leave out "
                "--spectra."
            )
        return None, []
    found.sort(key=lambda axis: -len(axis.columns))
    largest, *others = found
    channels = f"{len(largest.columns)} columns, {largest.columns[0]!r} to {largest.columns[-1]!r},"
    over = largest.span(0, len(largest.columns) - 1)
    undone = "" if given else "; --no-spectra takes them as separate features"
    said = [f"The {channels} were taken as a spectrum over {over}{undone}."]
    said += [
        f"The {len(other.columns)} columns {other.columns[0]!r} to {other.columns[-1]!r} look like another spectrum; "
        "they stay separate features, because one spectrum is analysed at a time."
        for other in others
    ]
    return largest, said


def _numbered(X: pd.DataFrame) -> list[SpectralAxis]:
    """Return the sets of numeric columns whose names differ only in a number that rises or falls."""
    sets: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for name in map(str, X.columns[[pd.api.types.is_numeric_dtype(kind) for kind in X.dtypes]]):
        if match := _NAME.fullmatch(name):
            sets[match["prefix"], match["suffix"] or ""].append((name, float(match["number"])))
    axes = []
    for (prefix, suffix), members in sets.items():
        names, positions = zip(*members, strict=True)
        steps = np.diff(positions)
        if len(steps) and ((steps > 0).all() or (steps < 0).all()):
            axes.append(SpectralAxis(names, np.array(positions), _unit_of(suffix) or _unit_of(prefix) or CHANNEL))
    return axes


def _unit_of(text: str) -> str | None:
    return _UNIT_OF.get(text.strip(" ._()[]-").lower()) or _UNIT_OF.get(text.strip(" ._()[]").lower())


def _is_smooth(X: pd.DataFrame, axis: SpectralAxis) -> bool:
    """Return whether neighbouring channels are more alike than distant ones."""
    near, far = neighbour_likeness(X, axis.columns)
    if axis.unit != CHANNEL:
        return near > far
    return near >= ALIKE and (1 - far) >= SMOOTHER * (1 - near)


def neighbour_likeness(X: pd.DataFrame, columns: Sequence[str]) -> tuple[float, float]:
    """Return the median correlation of neighbouring columns, and that of columns a third of the axis apart."""
    values = X[list(columns)].to_numpy(dtype=np.float64, na_value=np.nan)
    values = values[:, np.isfinite(values).any(axis=0)]
    values = np.where(np.isfinite(values), values, np.nanmedian(np.where(np.isfinite(values), values, np.nan), axis=0))
    values = values[:, np.ptp(values, axis=0) > 0]
    if values.shape[1] < FEWEST_GIVEN or len(values) < 3:
        return 0.0, 0.0
    centred = values - values.mean(axis=0)
    scaled = centred / np.linalg.norm(centred, axis=0)
    apart = max(2, scaled.shape[1] // 3)
    near = np.median((scaled[:, 1:] * scaled[:, :-1]).sum(axis=0))
    far = np.median((scaled[:, apart:] * scaled[:, :-apart]).sum(axis=0))
    return float(near), float(far)
