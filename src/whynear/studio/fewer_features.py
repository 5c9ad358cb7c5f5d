"""A study with fewer features: what leaving some out costs, and a model of the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
from sklearn.base import clone

from whynear.data.problem import Problem
from whynear.data.settings import Splitting
from whynear.learn.registry import LEARNERS
from whynear.metric.steps import estimators_of
from whynear.model.files import save
from whynear.studio.live import LOCKED, Live
from whynear.studio.models import LeaveOutAnswer, LeaveOutQuery, Locked
from whynear.studio.store import Refused, Store
from whynear.study.folds import at_most
from whynear.study.learning import learn_table
from whynear.study.settings import COMPARED_ROWS
from whynear.study.spectra import without_preprocessing
from whynear.utils.text import listed, printable
from whynear.verdict.cost import leave_out as leave_out_features


def left_out(live: Live, query: LeaveOutQuery) -> list[str]:
    """Return the features to leave out, in the order of the table."""
    features = features_of(live)
    if unknown := [name for name in query.features if name not in features]:
        raise Refused(f"The table has no feature {listed(unknown)}.")
    return [name for name in features if (name in query.features) != query.keep]


def features_of(live: Live) -> list[str]:
    """Return the features of a study in the order of the table: its columns, or the bands of its channels."""
    return list(dict.fromkeys(live.feature_of(str(name)) for name in live.problem.X.columns))


def columns_of(live: Live, features: Sequence[str]) -> list[str]:
    """Return the columns that features are made of: themselves, or the channels of a band."""
    return [column for name in features for column in live.bands.get(name, [name])]


def features_and_columns(live: Live, rows: Problem) -> tuple[Any, pd.DataFrame]:
    """Return the learner and the table from which features are left out; spectra are preprocessed before that."""
    return without_preprocessing(live.model, rows.X) if live.bands else (live.model, rows.X)


def leave_out(live: Live, query: LeaveOutQuery, n_jobs: int | None = 1) -> LeaveOutAnswer:
    """Fit the learner of a study again without some features, on the same folds as with all."""
    start = time.perf_counter()
    rows = at_most(live.problem, COMPARED_ROWS, live.settings.random_state)
    learner, X = features_and_columns(live, rows)
    left = left_out(live, query)
    found = leave_out_features(
        clone(learner),
        X,
        rows.y,
        columns_of(live, left),
        groups=rows.separation,
        sample_weight=rows.weights,
        n_jobs=n_jobs,
        random_state=live.settings.random_state,
    )
    kept = tuple(name for name in features_of(live) if name not in left)
    found = replace(found, features=tuple(left), kept=kept)
    return LeaveOutAnswer(**found.to_dict(), sentence=printable(str(found)), seconds=time.perf_counter() - start)


def lock(store: Store, live: Live, study: str, query: LeaveOutQuery) -> Locked:
    """Fit the learner to all rows with the remaining features, and keep it beside the model of the study."""
    answer = leave_out(live, query)
    given = live.settings
    learned = learn_table(
        live.table,
        live.target,
        reading=replace(given.reading, drop=(*given.reading.drop, *columns_of(live, answer.features))),
        splitting=replace(given.splitting, folds=Splitting.folds),
        learner=learner_name(live),
        class_weight=given.class_weight,
        random_state=given.random_state,
    )
    store.change_study(study, locked=None)  # a kill must not leave features that are not those of the file
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that the file has training rows, as the model of the study has
        save(learned.model, live.folder / LOCKED)
    locked = Locked(features=answer.kept, answer=answer)
    store.change_study(study, locked=locked.model_dump())
    return locked


def unlock(store: Store, live: Live, study: str) -> None:
    """Remove the model of fewer features."""
    store.change_study(study, locked=None)
    (live.folder / LOCKED).unlink(missing_ok=True)


def learner_name(live: Live) -> str:
    """Return the name of the learner of a study, as `learn_table` takes it."""
    kind = type(estimators_of(live.model)[-1]).__name__.lower()
    return kind if kind in LEARNERS else "auto"
