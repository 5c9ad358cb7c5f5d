"""Preprocessing of spectra as scikit-learn transformers; the channels keep their names and their axis."""

from whynear.spectra.base import SpectralTransformer
from whynear.spectra.baseline import Baseline
from whynear.spectra.savitzky_golay import SavitzkyGolay
from whynear.spectra.scatter import StandardNormalVariate

__all__ = ["Baseline", "SavitzkyGolay", "SpectralTransformer", "StandardNormalVariate"]
