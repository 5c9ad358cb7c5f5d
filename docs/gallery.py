"""Run the examples of the gallery and draw their pictures again: ``python -m docs.gallery [NAME ...]``."""

import os
import re
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
from tests.helpers.markdown import blocks, run

FOLDER = Path(__file__).parent / "gallery"
NAMES = ("medicine", "spectra", "genes", "retrieval", "categories", "stream", "large_table", "regression")
LARGEST = 150_000  # bytes of a picture


def main() -> None:
    """Run the named examples, or all; each must print what its page shows."""
    mpl.use("agg")
    mpl.rcParams["svg.hashsalt"] = "whynear"  # equal drawings give equal files
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as folder:
            run(blocks((FOLDER / f"{name}.md").read_text(encoding="utf-8")), Path(folder))
            text = rounded(Path(folder, f"{name}.svg").read_text(encoding="utf-8"))
        if len(text) > LARGEST:
            raise RuntimeError(f"{name}: {len(text):,} bytes exceed the limit of {LARGEST:,}. Draw less.")
        (FOLDER / f"{name}.svg").write_text(text, encoding="utf-8")
        print(f"{name}.svg: {len(text):,} bytes")


def rounded(svg: str) -> str:
    """The picture with coordinates of two decimals, which is finer than any print."""
    return re.sub(r' d="[^"]*"', lambda path: re.sub(r"(\.\d\d)\d+", r"\1", path[0]), svg)


if __name__ == "__main__":
    main()
