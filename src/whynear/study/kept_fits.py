"""Fitted learners kept on disk, so that a study goes on after an interrupt where it stopped."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from whynear.engine.code_state import versions
from whynear.learn.registry import LEARNERS
from whynear.metric import load, save
from whynear.metric.steps import estimators_of
from whynear.utils.archive import ArchiveError
from whynear.utils.files import make_folder
from whynear.utils.row_order import Separation, TimeOrder

WORTH_KEEPING = 0.2  # seconds that a fit took


class KeptFits:
    """A folder of fitted learners, each found again by the rows and the settings it was fitted with.

    Without a folder nothing is kept. Only fits of learners that took a while are, since others are repeated as fast.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder

    def fitted(
        self,
        name: str,
        facts: dict[str, Any],
        rows: tuple[pd.DataFrame, NDArray[Any], Separation | None, pd.Series | None],
        fit: Callable[[], Any],
    ) -> Any:
        """Return the model that ``fit`` would return; ``facts`` and ``rows`` are all that it depends on."""
        if self.folder is None or name not in LEARNERS:
            return fit()
        path = self.path_of(name, facts, rows)
        model = self.find(path)
        if model is None:
            start = time.perf_counter()
            model = fit()
            self.keep(path, model, time.perf_counter() - start)
        return model

    def path_of(
        self,
        name: str,
        facts: dict[str, Any],
        rows: tuple[pd.DataFrame, NDArray[Any], Separation | None, pd.Series | None],
    ) -> Path:
        """Return the file of a fit; ``facts`` and ``rows`` are all that it depends on."""
        assert self.folder is not None, "there is a folder"
        return self.folder / f"{name}-{_digest(facts, *rows)}.whynear"

    @property
    def any_found(self) -> bool:
        """Whether something may be kept already."""
        return self.folder is not None and self.folder.is_dir()

    def worth(self, seconds: float) -> bool:
        """Return whether a fit that took these seconds is kept."""
        return self.folder is not None and seconds >= WORTH_KEEPING

    def find(self, path: Path) -> Any:
        """Return the model in a file; None if it is not kept, or damaged."""
        try:
            return load(path)
        except (OSError, ArchiveError):
            return None

    def keep(self, path: Path, model: Any, seconds: float) -> None:
        """Save a model that took these seconds to fit, if it is worth that."""
        if not self.worth(seconds) or not hasattr(estimators_of(model)[-1], "metric_"):
            return
        make_folder(path.parent)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that a file holds training rows: it is removed soon
            save(model, path)


def _digest(
    facts: dict[str, Any], X: pd.DataFrame, y: NDArray[Any], groups: Separation | None, weights: pd.Series | None
) -> str:
    digest = hashlib.sha256(json.dumps([versions(), facts], sort_keys=True, default=repr).encode())
    digest.update(json.dumps([list(map(str, X.columns)), list(map(str, X.dtypes))]).encode())
    digest.update(pd.util.hash_pandas_object(X).to_numpy().tobytes())
    for values in (y, groups.times if isinstance(groups, TimeOrder) else groups, weights):
        digest.update(b"," if values is None else b":")
        if values is not None:
            digest.update(pd.util.hash_pandas_object(pd.Series(values), index=False).to_numpy().tobytes())
    return digest.hexdigest()[:20]
