"""Spectra like those of gasoline: overlapping peaks on curved baselines, with scatter; one peak decides."""

import numpy as np
import pandas as pd

CENTRE, WIDTH = 1210.0, 17.0  # nm, of the peak that decides
PLANTED = (1173.5, 1246.5)  # nm: where it is higher than a tenth of its height
OTHERS = ((960.0, 40.0), (1040.0, 30.0), (1120.0, 25.0), (1165.0, 18.0), (1330.0, 40.0), (1420.0, 35.0), (1510.0, 30.0))


def gasoline(
    n_rows: int = 60, seed: int = 0, *, n_channels: int = 121, two_classes: bool = False, scatter: float = 0.05
) -> pd.DataFrame:
    """The columns 900nm, ..., 1620nm and the target ``octane``, or the classes ``low`` and ``high``.

    The target is the height of one peak, which overlaps with another of random height. Each row is multiplied by a
    factor of its own (scatter) and lies on a baseline of its own.
    """
    rng = np.random.default_rng(seed)
    axis = np.linspace(900.0, 1620.0, n_channels)
    height = rng.normal(1.0, 0.15, n_rows)
    spectra = height[:, None] * np.exp(-0.5 * ((axis - CENTRE) / WIDTH) ** 2)
    for centre, width in OTHERS:
        spectra += rng.normal(1.0, 0.15, (n_rows, 1)) * np.exp(-0.5 * ((axis - centre) / width) ** 2)
    along = np.linspace(-1.0, 1.0, n_channels)
    baseline = rng.normal(0.3, 0.1, (n_rows, 1)) + rng.normal(0.1, 0.1, (n_rows, 1)) * along
    baseline += rng.normal(0.0, 0.05, (n_rows, 1)) * along**2
    spectra = np.exp(rng.normal(0.0, scatter, (n_rows, 1))) * (spectra + baseline)
    spectra += rng.normal(0.0, 0.004, spectra.shape)
    table = pd.DataFrame(spectra, columns=[f"{position:g}nm" for position in axis])
    if two_classes:
        return table.assign(grade=np.where(height > np.median(height), "high", "low"))
    return table.assign(octane=85.0 + 5.0 * height)
