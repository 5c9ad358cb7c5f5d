"""The finished parts of an unfinished study, kept on disk until the study is finished."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from whynear.metric import save
from whynear.report.earlier import UNFINISHED
from whynear.report.tables import comparison_tables
from whynear.tables.writing import write_csv
from whynear.utils.files import make_folder

FITS = "fits"  # the folder of fitted learners, from which the same study goes on


class Unfinished:
    """Keeps finished parts in a folder, which is removed at the end of the study and kept after an interrupt."""

    def __init__(self, out: Path) -> None:
        self.folder, self.begun = out / UNFINISHED, False
        self.fits = self.folder / FITS

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self.begun:
            return  # what another study left there is not ours
        if not isinstance(error, KeyboardInterrupt):
            shutil.rmtree(self.folder, ignore_errors=True)
        elif self.folder.is_dir():
            kept = ", ".join(sorted(path.name for path in self.folder.iterdir()))
            again = " The same command goes on from there." if self.fits.is_dir() else ""
            raise KeyboardInterrupt(f"The finished parts are in {self.folder}: {kept}.{again}") from None

    def keep(self, part: str, value: Any) -> None:
        """Write a finished part."""
        if part == "settings":
            return
        if part == "problem":
            self._remove_all_but_fits()
            self.begun = True
            return
        make_folder(self.folder)
        if part == "model":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # shown when the study is saved
                save(value, self.folder / "model.whynear")
            return
        tables = comparison_tables(value) if part == "comparison" else {"relevance.csv": value.frame()}
        for name, frame in tables.items():
            write_csv(frame, self.folder / name)

    def _remove_all_but_fits(self) -> None:
        """Remove what an earlier run left; its fits are found by what they were fitted to."""
        for path in self.folder.iterdir() if self.folder.is_dir() else ():
            if path.is_dir() and path != self.fits:
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_file():
                path.unlink()
