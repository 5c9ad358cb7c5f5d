"""The quick tests with the oldest and the newest versions of Python and of the packages: ``make matrix``."""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACE = ROOT / ".matrix"
USED = ("embed", "parquet", "excel", "dask", "studio")  # the extras that users install
SHOWN = ("numpy", "scipy", "scikit-learn", "numba", "pandas", "matplotlib", "pyarrow", "dask", "fastapi")
VERSIONS = "import sys; from importlib.metadata import version; print(*map(version, sys.argv[1:]))"


@dataclass(frozen=True)
class Environment:
    """A version of Python, and the oldest or the newest versions of the packages."""

    python: str
    packages: str

    @property
    def name(self) -> str:
        """What it is called, and its folder."""
        return f"{self.python}-{self.packages}"

    @property
    def folder(self) -> Path:
        """Where it is installed."""
        return PLACE / self.name

    def interpreter(self) -> str | None:
        """The Python to make it with: one of this name, or one that pyenv installed; None if there is none."""
        versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
        found = [shutil.which(f"python{self.python}"), *map(str, sorted(versions.glob(f"{self.python}.*/bin/python")))]
        return next((path for path in found if path and _runs(path)), None)

    def install(self, interpreter: str) -> None:
        """Make the environment, unless it has been made since pyproject.toml changed."""
        done = self.folder / "installed"
        project = ROOT / "pyproject.toml"
        if done.exists() and done.stat().st_mtime > project.stat().st_mtime:
            return
        subprocess.run([interpreter, "-m", "venv", "--clear", self.folder], check=True)
        pip = [self.folder / "bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        if self.packages == "oldest":
            limits = self.folder / "oldest.txt"
            limits.write_text("\n".join(oldest_versions(tomllib.loads(project.read_text())["project"])))
            pip += ["--constraint", limits]
        subprocess.run([*pip, "--editable", f"{ROOT}[test]"], check=True)
        done.touch()

    def test(self, arguments: list[str]) -> str:
        """Run the quick tests, and return their last line."""
        command = [self.folder / "bin/pytest", "-n", "2", "--dist", "loadfile", "-m", "not slow", "-q"]
        command += ["--hypothesis-profile", "quick", "-p", "no:cacheprovider", *arguments]
        if self.packages == "oldest":  # which newer packages below them warn about
            command += [
                word for kind in ("Deprecation", "PendingDeprecation") for word in ("-W", f"ignore::{kind}Warning")
            ]
        settings = {"OMP_NUM_THREADS": "1", "NUMBA_CACHE_DIR": str(self.folder / "compiled")}
        ran = subprocess.run(
            command, cwd=ROOT, env=os.environ | settings, stdout=subprocess.PIPE, text=True, check=False
        )
        (self.folder / "tests.txt").write_text(ran.stdout)
        for line in ran.stdout.splitlines():
            if line.startswith(("FAILED", "ERROR")):
                print(f"  {line}")
        return next(
            (line.strip("= ") for line in reversed(ran.stdout.splitlines()) if " in " in line), "no test was run"
        )

    def versions(self) -> list[str]:
        """The versions of the packages in it."""
        command = [self.folder / "bin/python", "-c", VERSIONS, *SHOWN]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()


def _runs(interpreter: str) -> bool:
    """Whether there is a Python behind a name; pyenv has a name for each, also where it is not switched on."""
    return subprocess.run([interpreter, "-c", ""], capture_output=True, check=False).returncode == 0


def oldest_versions(project: dict) -> list[str]:
    """The oldest versions that a project admits of what its users install, as constraints of pip.

    >>> extras = {"dask": ["dask[distributed]>=2025.1"], "docs": ["sphinx>=8"]}
    >>> oldest_versions({"dependencies": ["numpy>=2.0"], "optional-dependencies": extras})
    ['numpy==2.0', 'dask==2025.1']
    """
    extras = project["optional-dependencies"]
    needed = [*project["dependencies"], *(line for name in USED for line in extras.get(name, ()))]
    return [re.sub(r"\[.*?\]", "", line).replace(">=", "==") for line in needed]


def main() -> int:
    """Test in every environment, or in those that are named, and print a row for each."""
    known = [Environment(**facts) for facts in tomllib.loads((ROOT / "tests/matrix.toml").read_text())["environment"]]
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(one.name for one in known))
    asked, arguments = parser.parse_known_args()
    rows, green = [("environment", *SHOWN, "tests")], True
    for one in known:
        if asked.names and one.name not in asked.names:
            continue
        interpreter = one.interpreter()
        if interpreter is None:
            rows.append((one.name, *("" for _ in SHOWN), f"there is no python{one.python} here"))
            continue
        print(f"{one.name}: installing and testing", flush=True)
        one.install(interpreter)
        result = one.test(arguments)
        green &= "passed" in result and "failed" not in result and "error" not in result
        rows.append((one.name, *one.versions(), result))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    return 0 if green else 1


if __name__ == "__main__":
    sys.exit(main())
