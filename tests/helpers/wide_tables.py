"""Tables with many channels or classes, for pages that must stay readable."""

import numpy as np
import pandas as pd


def of_wood(n_rows: int = 60, seed: int = 0) -> pd.DataFrame:
    """Spectra of 401 channels: two kinds of wood differ near 1,210 nm."""
    rng = np.random.default_rng(seed)
    nm = np.arange(1100, 1902, 2)
    base = np.exp(-(((nm - 1450) / 120.0) ** 2)) + 0.6 * np.exp(-(((nm - 1720) / 40.0) ** 2))
    peak = np.exp(-(((nm - 1210) / 18.0) ** 2))
    size, amount = rng.standard_normal((2, n_rows))
    noise = 0.002 * rng.standard_normal((n_rows, len(nm))).cumsum(axis=1)
    spectra = base * (1 + 0.1 * size[:, None]) + 0.15 * amount[:, None] * peak + noise
    kind = np.where(amount + 0.3 * rng.standard_normal(n_rows) > 0, "oak", "beech")
    return pd.DataFrame(spectra, columns=[f"{one} nm" for one in nm]).assign(kind=kind)


def of_kinds(n_rows: int = 380, n_kinds: int = 19, seed: int = 0) -> pd.DataFrame:
    """Rows of many classes, with categories, numbers and gaps."""
    rng = np.random.default_rng(seed)
    code = np.arange(n_rows) % n_kinds
    blurred = code + rng.integers(0, 2, n_rows) * (rng.random(n_rows) < 0.2)
    table = pd.DataFrame(
        {
            "colour": np.array(["red", "green", "blue", "grey"])[blurred % 4],
            "shape": np.array(["round", "square", "oval", "flat", "long"])[blurred // 4 % 5],
            "size": 0.7 * code + rng.normal(0, 1.2, n_rows),
            "weight": 3 * np.sin(code) + rng.normal(0, 0.5, n_rows),
            "noise": rng.standard_normal(n_rows),
        }
    )
    table.loc[::17, "weight"] = np.nan
    return table.assign(kind=np.array([f"species {one + 1:02d}" for one in range(n_kinds)])[code])
