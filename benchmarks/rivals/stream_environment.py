"""The environment of CapyMOA, `.rivals/streams`, which needs Java and PyTorch."""

import shutil
import subprocess
from pathlib import Path

from benchmarks.rivals import environment

PINS = environment.HERE / "streams.txt"
SCRIPT = environment.HERE / "capymoa_stream.py"


def ready() -> tuple[Path | None, str]:
    """The interpreter of the environment, built first if it is missing; without it, why there is none."""
    if shutil.which("java") is None:
        return None, "there is no java on this machine."
    try:
        return environment.in_order(environment.FOLDER / "streams", PINS), ""
    except subprocess.CalledProcessError as error:
        return None, f"its packages could not be installed ({error})."
