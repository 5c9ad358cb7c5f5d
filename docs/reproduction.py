"""Copy the results of a reproduction into the guide and write its page: ``python -m docs.reproduction FOLDER``."""

import shutil
import sys
from pathlib import Path

from papers.catalog import EXPERIMENTS
from papers.page import RUN, write_page

HERE = Path(__file__).parent
FIGURES = HERE / "reproduction"


def main(folder: Path) -> None:
    """Copy outcomes and figures, without the cells, and write the page."""
    FIGURES.mkdir(exist_ok=True)
    for name in (RUN, *(f"{name}.{kind}" for name in EXPERIMENTS for kind in ("json", "svg"))):
        shutil.copy(folder / name, FIGURES / name)
    write_page(FIGURES, HERE / "reproduction.md")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
