"""The preprocessing that is tried for spectra, the simplest first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from whynear.spectra.base import SpectralTransformer
from whynear.spectra.baseline import Baseline
from whynear.spectra.savitzky_golay import SavitzkyGolay
from whynear.spectra.scatter import StandardNormalVariate

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
    return " and ".join(map(_name, steps)) or NONE


def _name(step: SpectralTransformer) -> str:
    if isinstance(step, SavitzkyGolay):
        return _DERIVATIVES[step.derivative] if step.derivative < 3 else f"derivative {step.derivative}"
    return "baseline" if isinstance(step, Baseline) else "SNV"
