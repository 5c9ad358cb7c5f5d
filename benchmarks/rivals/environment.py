"""The second environment, `.rivals`, with the old stack that the rival libraries run on."""

import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).parent
PINS = HERE / "requirements.txt"
FOLDER = HERE.parents[1] / ".rivals"
PYTHON = FOLDER / "bin" / "python"
BUILT_FROM = FOLDER / "requirements.txt"

# pylmnn imports this class when it is imported itself, and never uses it to fit.
STAND_IN = {"__init__.py": "", "methods.py": '"""Stand-in."""\n\n\nclass BayesianOptimization:\n    """Unused."""\n'}


def ready() -> Path:
    """The old stack's interpreter; builds the environment first when it is missing or its pins have changed."""
    if not BUILT_FROM.exists() or BUILT_FROM.read_text() != PINS.read_text():
        print(f"Building {FOLDER.name}, the environment of the rivals, from {PINS.name}.", file=sys.stderr, flush=True)
        build()
    return PYTHON


def build() -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--requirement", PINS], check=True, stdout=sys.stderr)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(FOLDER), "platbase": str(FOLDER)}))
    (packages / "GPyOpt").mkdir()
    for name, text in STAND_IN.items():
        (packages / "GPyOpt" / name).write_text(text)
    BUILT_FROM.write_text(PINS.read_text())


if __name__ == "__main__":
    print(ready())
