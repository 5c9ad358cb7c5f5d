import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.random(60), "b": rng.random(60), "kind": np.tile(["u", "v"], 30)})
