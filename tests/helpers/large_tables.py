"""Tables that count as too large for memory, although they are small."""

import numpy as np
import pandas as pd

from whynear.large import beyond_memory as problem


def messy_table(n=600, seed=0):
    """A table with most kinds of columns; what is rare in it is missed by a small sample."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(["sick", "well"], n)
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=n) + (kind == "sick"),
            "gap": rng.normal(size=n),
            "whole": rng.integers(0, 9, n).astype(float),
            "flag": rng.integers(0, 2, n),
            "colour": rng.choice(["red", "green"], n),
            "name": [f"patient {number}" for number in range(n)],
            "number": np.arange(1, n + 1),
            "same": 3.0,
            "empty": np.nan,
            "fat": [f"{value:.1f} %".replace(".", ",") for value in rng.uniform(10, 40, n)],
            "kind": kind,
        }
    )
    frame.loc[n // 2, "gap"] = np.nan
    frame.loc[n // 3, "whole"] = 2.5
    frame.loc[n - 7, "colour"] = "blue"
    frame.loc[n // 5, "colour"] = "?"
    return frame


def small_memory(monkeypatch, n_rows):
    """Let studies sample this number of rows, and count tables of more rows as too large."""
    monkeypatch.setattr(problem, "COMPARED_ROWS", 1)
    monkeypatch.setattr(problem.MemoryLimit, "rows", lambda self, n_columns: n_rows)
    monkeypatch.setattr(problem, "FEWEST_BATCH_ROWS", 17)
