"""The environment of CapyMOA, `.rivals/streams`, which needs Java and PyTorch."""

import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.rivals.environment import FOLDER as RIVALS
from benchmarks.rivals.environment import HERE

PINS = HERE / "streams.txt"
SCRIPT = HERE / "capymoa_stream.py"
FOLDER = RIVALS / "streams"
PYTHON = FOLDER / "bin" / "python"
BUILT_FROM = FOLDER / "streams.txt"


def ready() -> tuple[Path | None, str]:
    """The interpreter of the environment, built first if it is missing; without it, why there is none."""
    if shutil.which("java") is None:
        return None, "there is no java on this machine."
    if not BUILT_FROM.exists() or BUILT_FROM.read_text() != PINS.read_text():
        print(f"Building {FOLDER}, the environment of CapyMOA, from {PINS.name}.", file=sys.stderr, flush=True)
        try:
            build()
        except subprocess.CalledProcessError as error:
            return None, f"its packages could not be installed ({error})."
    return PYTHON, ""


def build() -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
    for line in PINS.read_text().splitlines():  # in this order: PyTorch first, built for processors only
        subprocess.run([*pip, line], check=True, stdout=sys.stderr)
    BUILT_FROM.write_text(PINS.read_text())
