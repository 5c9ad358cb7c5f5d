import os
from pathlib import Path

import pytest
from hypothesis import settings

# Derandomised: the same examples on every run, so that a failure is one everybody sees.
settings.register_profile("whole", derandomize=True, deadline=None, max_examples=60)
settings.register_profile("quick", settings.get_profile("whole"), max_examples=15)
settings.load_profile("whole")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder with the real data sets."""
    folder = os.environ.get("WHYNEAR_DATA")
    if not folder:
        pytest.skip("needs the real data sets: set WHYNEAR_DATA to the folder with their .npz files")
    return Path(folder)
