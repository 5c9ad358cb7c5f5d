"""Models of finished studies that answer at once, and the Python lines that do the same."""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pandas as pd

from whynear.data.cells import DateColumn
from whynear.data.problem import Problem
from whynear.learn import Slider
from whynear.metric import Metric
from whynear.model.files import load
from whynear.model.pipeline import FittedPipeline
from whynear.studio.models import Feature, FeatureKind, ModelName, changed_settings
from whynear.studio.previews import opened
from whynear.studio.project import Project
from whynear.studio.store import NotFound, Row
from whynear.study.learnable import learnable_problem
from whynear.study.settings import StudySettings
from whynear.utils.arrays import Array, plain_values
from whynear.utils.columns import names_of_rows

MOST_KEPT = 3  # studies in memory
MOST_LEARNED = 8  # metrics of marks that are kept with a study
MODEL, LOCKED, RECORD = "model.whynear", "locked.whynear", "study.json"
Triple = tuple[int, int, int]  # places of a row, of one like it and of one unlike it


@dataclass(frozen=True, eq=False)
class Live:
    """The table and the models of a finished study."""

    folder: Path
    table: str | Path
    target: str
    settings: StudySettings
    problem: Problem

    @cached_property
    def model(self) -> Any:
        """The model of the study."""
        return load(self.folder / MODEL)

    def model_of(self, name: ModelName) -> Any:
        """Return the model of the study, or the one that was locked; that is read again if it was made again."""
        if name == "study":
            return self.model
        path = self.folder / LOCKED
        if not path.exists():
            raise NotFound("No features of this study are locked.")
        return _loaded(path, path.stat().st_mtime_ns)

    @cached_property
    def row_names(self) -> list[int | str]:
        """The names of the rows, in the order of the table."""
        names = names_of_rows(self.problem.X)
        assert names is not None, "a DataFrame has an index"
        return [name if isinstance(name, int) else str(name) for name in names.tolist()]

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each row by its name as text."""
        return {str(name): place for place, name in enumerate(self.row_names)}

    def place_of(self, row: int | str) -> int:
        """Return the place of a row by its name."""
        if str(row) not in self.places:
            raise NotFound(f"The table has no row {row!r}.")
        return self.places[str(row)]

    def name_of_row(self, row: int | str) -> int | str:
        """Return the name of a row as the table has it."""
        return self.row_names[self.place_of(row)]

    def shown_values(self, row: pd.DataFrame) -> dict[str, Any]:
        """Return the values of a table of one row by column, as they are shown: dates as texts."""
        shown = FittedPipeline.of(self.model).with_dates(row)
        return {str(name): plain_values(value) for name, value in shown.iloc[0].items()}

    @cached_property
    def bands(self) -> dict[str, list[str]]:
        """The channels of each band of a spectrum; empty for other tables."""
        record = json.loads((self.folder / RECORD).read_text(encoding="utf-8"))
        return {band["band"]: band["channels"] for band in record.get("spectra", {}).get("bands", ())}

    def feature_of(self, column: str) -> str:
        """Return the feature that a column of the table belongs to: its band, or itself."""
        return next((band for band, channels in self.bands.items() if column in channels), column)

    def numbers(self) -> pd.DataFrame:
        """Return all rows as the columns that the encoder of the model makes; the table itself without one."""
        return self._numbers

    @cached_property
    def _numbers(self) -> pd.DataFrame:
        fitted = FittedPipeline.of(self.model)
        made = fitted.numbers(self.problem.X)
        return pd.DataFrame(np.asarray(made, dtype=np.float64), self.problem.X.index, list(fitted.made))

    @cached_property
    def learned_from(self) -> Callable[[tuple[Triple, ...]], Metric]:
        """What learns the weights of columns from triples; the last ones are kept, no longer than the study is."""
        return lru_cache(maxsize=MOST_LEARNED)(self._learned_from)

    def _learned_from(self, triples: tuple[Triple, ...]) -> Metric:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            slider = Slider(n_jobs=1, random_state=self.settings.random_state)
            return slider.fit_triplets(self.numbers(), np.array(triples)).metric_


_KEPT: OrderedDict[Path, Live] = OrderedDict()
_LOCK = Lock()
_MODELS: OrderedDict[tuple[Path, int], Any] = OrderedDict()


def live_study(project: Project, row: Row) -> Live:
    """Return a finished study with its table; the last few are kept in memory."""
    folder = project.results_of(row["id"])
    with _LOCK:
        if folder not in _KEPT:
            settings, table = changed_settings(row["settings"]), project.opened(row)
            problem = learnable_problem(table, row["target"], settings, opened)
            _KEPT[folder] = Live(folder, table, problem.target, settings, problem)
        _KEPT.move_to_end(folder)
        while len(_KEPT) > MOST_KEPT:
            _KEPT.popitem(last=False)
        return _KEPT[folder]


def _loaded(path: Path, changed: int) -> Any:
    with _LOCK:
        if (path, changed) not in _MODELS:
            _MODELS[path, changed] = load(path)
        while len(_MODELS) > MOST_KEPT:
            _MODELS.popitem(last=False)
        return _MODELS[path, changed]


def features_of(live: Live) -> list[Feature]:
    """Return the columns that the model takes, with their range in the table."""
    fitted = FittedPipeline.of(live.model)
    return [_feature(live.problem.X[name], fitted) for name in fitted.columns]


def _feature(column: pd.Series, fitted: FittedPipeline) -> Feature:
    name = str(column.name)
    if name in fitted.text_columns:
        known = [str(one) for one in fitted.known_categories[name]]
        modes = column.mode()
        usual = str(modes.iloc[0]) if len(modes) else None
        return Feature(name=name, kind="category", low=None, high=None, usual=usual, deviation=None, categories=known)
    values = column.dropna().to_numpy(dtype=np.float64)
    if not len(values):
        return Feature(name=name, kind="number", low=None, high=None, usual=None, deviation=None, categories=[])
    low, high, usual = (fitted.shown_value(name, float(one(values))) for one in (np.min, np.max, np.median))
    return Feature(
        name=name,
        kind=_kind(values, fitted.date_columns.get(name)),
        low=low,
        high=high,
        usual=usual,
        deviation=float(values.std()),
        categories=[],
    )


def _kind(values: Array, dates: DateColumn | None) -> FeatureKind:
    """Return what a column of numbers or dates holds."""
    if dates is not None:
        return "date and time" if dates.has_times else "date"
    return "whole number" if bool((values == np.round(values)).all()) else "number"
