"""A table like that of the composition of glass: small classes, closed sums, and an oxide that marks one class only."""

import numpy as np
import pandas as pd

OXIDES = ["Na", "Mg", "Al", "K", "Ca", "Ba", "Fe"]
ROWS = {"float": 70, "plate": 76, "vehicle": 17, "container": 13, "tableware": 9, "headlamp": 29}
MEANS = {
    "float": [13.2, 3.5, 1.15, 0.45, 8.8, 0.01, 0.06],
    "plate": [13.1, 3.1, 1.45, 0.52, 9.0, 0.05, 0.08],
    "vehicle": [13.4, 3.5, 1.2, 0.4, 8.8, 0.01, 0.06],
    "container": [12.8, 0.8, 2.0, 1.4, 10.1, 0.02, 0.06],
    "tableware": [14.6, 1.3, 1.4, 0.0, 9.3, 0.0, 0.0],
    "headlamp": [14.4, 0.5, 2.1, 0.3, 8.5, 1.0, 0.01],
}
SPREADS = [0.6, 0.4, 0.25, 0.15, 0.8, 0.02, 0.07]


def glass_like(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """214 rows of six kinds; silicon is the rest to one hundred, the refraction follows calcium and barium."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(list(ROWS), list(ROWS.values()))
    values = np.maximum(0, np.array([MEANS[kind] for kind in kinds]) + SPREADS * rng.standard_normal((len(kinds), 7)))
    lamps = kinds == "headlamp"
    values[lamps, OXIDES.index("Ba")] = rng.gamma(2.0, 0.5, lamps.sum()) * (rng.random(lamps.sum()) < 0.9)
    X = pd.DataFrame(values, columns=OXIDES)
    X.insert(3, "Si", 100 - values.sum(axis=1) + 0.1 * rng.standard_normal(len(kinds)))
    refraction = 1.518 + 0.0015 * (X["Ca"] - 9) + 0.001 * X["Ba"] + 0.0008 * rng.standard_normal(len(kinds))
    X.insert(0, "RI", refraction)
    return X, kinds
