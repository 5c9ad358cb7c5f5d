"""Preprocessing of spectra as scikit-learn transformers; the channels keep their names and their axis."""

from whynear.data.spectra import Baseline, SavitzkyGolay, SpectralTransformer, StandardNormalVariate

__all__ = ["Baseline", "SavitzkyGolay", "SpectralTransformer", "StandardNormalVariate"]
