"""Finished studies in memory: their features, predictions of changed cases, and the nearest change of class."""

from __future__ import annotations

import json
import time
import warnings
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, cast

import numpy as np
import pandas as pd
from sklearn.base import RegressorMixin

from whynear.data.problem import Problem
from whynear.explain import Explanation, ValueExplanation
from whynear.explain.flips import flips
from whynear.explain.near_cases import RowsOfPrototypes
from whynear.explain.why import explain_each, explainable
from whynear.learn import Slider
from whynear.metric import Metric
from whynear.model.files import load
from whynear.model.pipeline import FittedPipeline
from whynear.studio.models import (
    CaseQuery,
    Change,
    Feature,
    FlipAnswer,
    FlipQuery,
    Flips,
    ModelName,
    Neighbor,
    Unusual,
    WhatIf,
    changed_settings,
)
from whynear.studio.previews import opened
from whynear.studio.project import Project
from whynear.studio.store import NotFound, Refused, Row
from whynear.study.learning import learnable_problem
from whynear.study.settings import StudySettings
from whynear.utils.arrays import plain_values
from whynear.utils.columns import names_of_rows
from whynear.utils.text import listed, printable

MOST_KEPT = 3  # studies in memory
MOST_NEIGHBORS = 25  # that are shown of a case
MOST_LEARNED = 8  # metrics of marks that are kept with a study
MODEL, LOCKED, RECORD = "model.whynear", "locked.whynear", "study.json"
Triple = tuple[int, int, int]  # places of a row, of one like it and of one unlike it


@lru_cache(maxsize=MOST_KEPT)
def _loaded(path: Path, _changed: int) -> Any:
    return load(path)


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

    @cached_property
    def numbers(self) -> pd.DataFrame:
        """All rows as the columns that the encoder of the model makes; the table itself without one."""
        fitted = FittedPipeline.of(self.model)
        made = np.asarray(fitted.numbers(self.problem.X), dtype=np.float64)
        return pd.DataFrame(made, self.problem.X.index, list(fitted.made))

    @cached_property
    def rows_of_prototypes(self) -> Callable[[Any], RowsOfPrototypes | None]:
        """What finds the row nearest to each prototype of a model; the last ones are kept."""
        return lru_cache(maxsize=2)(self._rows_of_prototypes)

    def _rows_of_prototypes(self, model: Any) -> RowsOfPrototypes | None:
        fitted = FittedPipeline.of(model)
        return RowsOfPrototypes.of(fitted, self.problem.X[list(fitted.columns)])  # a locked model takes fewer

    @cached_property
    def learned_from(self) -> Callable[[tuple[Triple, ...]], Metric]:
        """What learns the weights of columns from triples; the last ones are kept, no longer than the study is."""
        return lru_cache(maxsize=MOST_LEARNED)(self._learned_from)

    def _learned_from(self, triples: tuple[Triple, ...]) -> Metric:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            slider = Slider(n_jobs=1, random_state=self.settings.random_state)
            return slider.fit_triplets(self.numbers, np.array(triples)).metric_


_KEPT: OrderedDict[Path, Live] = OrderedDict()
_LOCK = Lock()


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


def features_of(live: Live) -> list[Feature]:
    """Return the columns that the model takes, with their range in the table."""
    fitted = FittedPipeline.of(live.model)
    return [_feature(live.problem.X[name], fitted) for name in fitted.columns]


def _feature(column: pd.Series, fitted: FittedPipeline) -> Feature:
    name = str(column.name)
    facts: dict[str, Any] = {"kind": "number", **dict.fromkeys(("low", "high", "usual", "deviation")), "categories": []}
    if name in fitted.text_columns:
        modes = column.mode()
        usual = str(modes.iloc[0]) if len(modes) else None
        facts |= {"kind": "category", "usual": usual, "categories": list(map(str, fitted.known_categories[name]))}
    elif len(values := column.dropna().to_numpy(dtype=np.float64)):
        for fact, of in (("low", np.min), ("high", np.max), ("usual", np.median)):
            facts[fact] = fitted.shown_value(name, float(of(values)))
        facts["deviation"] = float(values.std())
        if (dates := fitted.date_columns.get(name)) is not None:
            facts["kind"] = "date and time" if dates.has_times else "date"
        elif (values == np.round(values)).all():
            facts["kind"] = "whole number"
    return Feature(name=name, **facts)


def case_of(live: Live, query: CaseQuery, fitted: FittedPipeline) -> pd.DataFrame:
    """Return the case as a table of one row: a row of the table, or usual values, with the given values in it."""
    if unknown := [name for name in query.values if name not in live.problem.X.columns]:
        raise Refused(f"The table has no feature {listed(unknown)}.")
    if query.row is not None:
        case = live.problem.X.iloc[[live.place_of(query.row)]]
    else:
        whole = FittedPipeline.of(live.model)
        usual: dict[str, Any] = {one.name: [_read(one.name, one.usual, whole)] for one in features_of(live)}
        case = live.problem.X.iloc[[0]].assign(**usual)
    taken = {name: value for name, value in query.values.items() if name in fitted.columns}  # by a locked model fewer
    changed = {name: [_read(name, value, fitted)] for name, value in taken.items()}
    return case.assign(**changed)[list(fitted.columns)]


def what_if(live: Live, query: CaseQuery) -> WhatIf:
    """Predict a case, with its votes, its neighbours and its unusual values."""
    start, fitted = time.perf_counter(), explainable(live.model_of(query.model))
    case = case_of(live, query, fitted)
    why = next(explain_each(fitted, fitted.table(case, "x"), live.rows_of_prototypes(fitted.model)))
    true = None if query.row is None else plain_values(live.problem.y[live.place_of(query.row)])
    return WhatIf(
        prediction=plain_values(why.prediction),
        true=true,
        values=live.shown_values(case),
        unusual=[Unusual(column=one.column, kind=one.kind, text=printable(str(one))) for one in why.unusual],
        sentence=printable(repr(why)),
        interval=why.interval,
        **_classes(why),
        contributions=_by_name(why.contributions) if isinstance(why, ValueExplanation) else {},
        neighbors=_neighbors(why),
        remark=printable(why.remark),
        seconds=time.perf_counter() - start,
    )


def _classes(why: Explanation | ValueExplanation) -> dict[str, dict[str, float]]:
    """Return the probability of each class and its votes; nothing for numbers."""
    if why.of_numbers or not isinstance(why, Explanation):
        return {"probabilities": {}, "support": {}}
    return {"probabilities": _by_name(why.probabilities), "support": _by_name(why.support)}


def _neighbors(why: Explanation | ValueExplanation) -> list[Neighbor]:
    """Return the nearest rows, with the parts of their distances; those of a linear map have no votes."""
    parts, label = why.distance_shares, "measured" if why.of_numbers else "label"
    return [
        Neighbor(
            name=plain_values(row[why.kind]),
            kind=cast(Any, why.kind),
            label=plain_values(row[label]),
            distance=row["distance"],
            vote=row.get("vote", 0.0),
            for_prediction=row.get("for_prediction", True),
            values=_by_name(why.neighbor_values.iloc[place]),
            contributions=_by_name(parts.iloc[place]),
            nearest_row=plain_values(row.get("nearest_row")),
        )
        for place, row in enumerate(why.neighbors.head(MOST_NEIGHBORS).to_dict("records"))
    ]


def _by_name(values: pd.Series) -> dict[str, Any]:
    return {str(name): plain_values(value) for name, value in values.items()}


def _read(name: str, value: Any, fitted: FittedPipeline) -> Any:
    """Return a value as the column holds it."""
    if name in fitted.text_columns:
        known = {str(one): one for one in fitted.known_categories[name]}
        return None if value is None else known.get(str(value), value)
    if value is None:
        return float("nan")
    if name in fitted.date_columns and isinstance(value, str):
        days = fitted.read(pd.DataFrame({name: [value]}))[name].iloc[0]
        if isinstance(days, str):
            raise Refused(f"{name!r} takes a date such as 2022-03-04, got {value[:40]!r} instead.")
        return days
    try:
        return float(value)
    except ValueError:
        raise Refused(f"{name!r} takes a number, got {str(value)[:40]!r} instead.") from None


def smallest_flips(live: Live, query: FlipQuery) -> Flips:
    """Find the smallest changes of a case; refuse a numeric target, which has no other class."""
    start = time.perf_counter()
    model = live.model_of(query.model)
    if isinstance(FittedPipeline.of(model).learner, RegressorMixin):
        raise Refused("A numeric target has no other class to reach. Change the values instead (what-if).")
    case = case_of(live, query, FittedPipeline.of(model))
    found = flips(model, case, live.problem.X[list(case.columns)], to=query.to, features=query.features)
    answers = [
        FlipAnswer(
            changes=[
                Change(feature=name, before=plain_values(old), after=plain_values(new), deviations=size)
                for name, old, new, size in zip(flip.features, flip.before, flip.after, flip.deviations, strict=True)
            ],
            size=flip.size,
            prediction=plain_values(flip.prediction),
            sentence=printable(str(flip)),
        )
        for flip in found
    ]
    return Flips(prediction=plain_values(found.prediction), flips=answers, seconds=time.perf_counter() - start)
