"""The packages that are published: built, looked into, and used in an empty environment: ``make dist``."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
NEEDED = ("py.typed", "report/static/page.js", "report/static/page.css", "report/templates/report.html", "cli/app.py")
SOURCES = ("src", "papers", "tests", "web", "benchmarks", "docs", "examples")
KEPT = "tests/data/"  # files in the formats of earlier versions
FOREIGN = re.compile(r"(\.npz|\.csv|\.parquet|\.xlsx|\.db|\.whynear|\.pyc|node_modules/.*)$")


def build() -> tuple[Path, Path]:
    """Build the wheel and the source archive, and let twine check what they say about themselves."""
    shutil.rmtree(DIST, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "build", "--outdir", DIST, ROOT], check=True, stdout=subprocess.DEVNULL)
    (wheel,), (archive,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", wheel, archive], check=True)
    return wheel, archive


def check_contents(wheel: Path, archive: Path) -> None:
    """The wheel holds the library and nothing else; the archive all sources; neither holds data or what is built."""
    inside = zipfile.ZipFile(wheel).namelist()
    places = {name.partition("/")[0] for name in inside}
    assert places == {"whynear", wheel.name.rpartition("-py3")[0] + ".dist-info"}, places
    assert not [name for name in NEEDED if f"whynear/{name}" not in inside]
    with tarfile.open(archive) as opened:
        sources = [name.partition("/")[2] for name in opened.getnames()]
    assert not [place for place in SOURCES if not any(name.startswith(f"{place}/") for name in sources)]
    linked = re.findall(r"\]\(([\w./-]+)\)", (ROOT / "README.md").read_text())
    assert not [name for name in linked if not any(f"{source}/".startswith(f"{name}/") for source in sources)]
    assert not [name for name in (*inside, *sources) if FOREIGN.search(name) and not name.startswith(KEPT)]


def try_out(wheel: Path, folder: Path) -> str:
    """Install the wheel without extras into an empty environment and use it; return its size and the seconds."""
    start = time.perf_counter()
    venv.create(folder / "env", with_pip=True)
    python = folder / "env/bin/python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    seconds = time.perf_counter() - start
    size = sum(path.stat().st_size for path in (folder / "env").rglob("*") if path.is_file())
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "WHYNEAR_DATA")}

    def whynear(*words: str) -> subprocess.CompletedProcess[str]:
        command = [folder / "env/bin/whynear", *words]
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)

    study = whynear("study", "iris", "--learner", "grlvq", "--folds", "2", "--out", "out")
    assert study.returncode == 0, study.stderr
    assert (folder / "out/report.html").stat().st_size > 100_000
    rows = "petal length (cm),petal width (cm),sepal length (cm),sepal width (cm)\n1.4,0.2,5.1,3.5\n"
    (folder / "rows.csv").write_text(rows)
    predicted = whynear("predict", "out/model.whynear", "rows.csv")
    assert predicted.returncode == 0, predicted.stderr
    assert "setosa" in predicted.stdout
    for words, extra in ((("studio", "--no-browser"), "studio"), (("study", "x.parquet", "--target", "y"), "parquet")):
        (folder / "x.parquet").touch()
        missing = whynear(*words)
        assert missing.returncode == 2, missing
        assert f"whynear[{extra}]" in missing.stderr, missing.stderr
    beside = whynear("reproduce")
    assert beside.returncode == 2, beside
    assert "The folder papers" in beside.stderr, beside.stderr
    return f"installed in {seconds:.0f} s, {size / 2**20:,.0f} MiB with all that it needs"


def main() -> None:
    """Build, look into and use the packages."""
    wheel, archive = build()
    check_contents(wheel, archive)
    for path in (wheel, archive):
        print(f"{path.name}: {path.stat().st_size / 2**10:,.0f} KiB")
    with tempfile.TemporaryDirectory() as place:
        print(f"{wheel.name}: {try_out(wheel, Path(place))}")


if __name__ == "__main__":
    main()
