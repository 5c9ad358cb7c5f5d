"""Spectra in a table: the axis that the names of its columns give."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from whynear.utils.arrays import Array

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
    "ppm": ("ppm",),
    "eV": ("ev",),
    "keV": ("kev",),
    "Hz": ("hz",),
    "kHz": ("khz",),
    "MHz": ("mhz",),
    "GHz": ("ghz",),
    "THz": ("thz",),
}
_QUANTITIES = {
    "nm": "wavelength",
    "µm": "wavelength",
    "cm⁻¹": "wavenumber",
    "ppm": "chemical shift",
    "eV": "energy",
    "keV": "energy",
}
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
