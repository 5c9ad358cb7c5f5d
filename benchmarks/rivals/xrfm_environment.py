"""The environment of xRFM, `.rivals/xrfm`, which needs PyTorch."""

import subprocess
from pathlib import Path

from benchmarks.rivals import environment

PINS = environment.HERE / "xrfm.txt"
SCRIPT = environment.HERE / "xrfm_folds.py"


def ready() -> tuple[Path | None, str]:
    """The interpreter of the environment, built first if it is missing; without it, why there is none."""
    try:
        return environment.in_order(environment.FOLDER / "xrfm", PINS), ""
    except subprocess.CalledProcessError as error:
        return None, f"its packages could not be installed ({error})."
