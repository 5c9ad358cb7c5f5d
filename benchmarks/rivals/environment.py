"""The second environment, `.rivals`, with the old packages that the rival libraries need."""

import subprocess
import sys
import sysconfig
from pathlib import Path

HERE = Path(__file__).parent
PINS = HERE / "requirements.txt"
FOLDER = HERE.parents[1] / ".rivals"
PYTHON = FOLDER / "bin" / "python"
BUILT_FROM = FOLDER / "requirements.txt"

# pylmnn imports this class and never uses it to fit.
PLACEHOLDER = {
    "__init__.py": "",
    "methods.py": '"""Placeholder."""\n\n\nclass BayesianOptimization:\n    """Unused."""\n',
}


def ready() -> Path:
    """The interpreter of the environment, which is built first if it is missing or its pins have changed."""
    if not BUILT_FROM.exists() or BUILT_FROM.read_text() != PINS.read_text():
        print(
            f"Building {FOLDER.name}, the environment of the rival libraries, from {PINS.name}.",
            file=sys.stderr,
            flush=True,
        )
        build()
    return PYTHON


def build() -> None:
    subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER], check=True)
    pip = [PYTHON, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--requirement", PINS], check=True, stdout=sys.stderr)
    packages = Path(sysconfig.get_path("purelib", "venv", {"base": str(FOLDER), "platbase": str(FOLDER)}))
    (packages / "GPyOpt").mkdir()
    for name, text in PLACEHOLDER.items():
        (packages / "GPyOpt" / name).write_text(text)
    BUILT_FROM.write_text(PINS.read_text())


def in_order(folder: Path, pins: Path) -> Path:
    """The interpreter of an environment of its own, in which packages are installed one after the other.

    PyTorch first, built for processors only: what is installed after it takes the one that is there.
    """
    built_from = folder / pins.name
    if not built_from.exists() or built_from.read_text() != pins.read_text():
        print(f"Building {folder} from {pins.name}.", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        pip = [folder / "bin" / "python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install"]
        for line in pins.read_text().splitlines():
            subprocess.run([*pip, line], check=True, stdout=sys.stderr)
        built_from.write_text(pins.read_text())
    return folder / "bin" / "python"


if __name__ == "__main__":
    print(ready())
