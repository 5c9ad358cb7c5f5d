"""A study with fewer features: what leaving some out costs, a model of the others, and verdicts that move."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from sklearn.base import clone

from whynear.data.options import Splitting
from whynear.data.problem import Problem
from whynear.learn.registry import ALL_LEARNERS, LEARNERS_OF_NUMBERS, MINIMUM_NORM
from whynear.metric.steps import estimators_of
from whynear.model.files import save
from whynear.studio.live import LOCKED, RECORD, Live
from whynear.studio.models import Judged, LeaveOutAnswer, LeaveOutQuery, Locked, Move, Moves, changed_settings
from whynear.studio.project import RESULTS, Say
from whynear.studio.store import Refused, Store
from whynear.study.bands import without_preprocessing
from whynear.study.folds import at_most
from whynear.study.learning import learn_table, learnable_problem
from whynear.study.methods import refitted
from whynear.study.settings import COMPARED_ROWS
from whynear.utils.arrays import plain_values
from whynear.utils.progress import Report, within
from whynear.utils.text import counted, listed, printable
from whynear.verdict.cost import leave_out as leave_out_features
from whynear.verdict.judging import verdicts


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
    kind = type(estimators_of(live.model)[-1]).__name__
    name = next((one.name for one in (*ALL_LEARNERS, *LEARNERS_OF_NUMBERS) if one.kind == kind), MINIMUM_NORM)
    return "auto" if name == MINIMUM_NORM else name


SCORED_SHARE = 0.1  # of the work, after which the score is known
MOST_NAMED = 4


def run_relearning(job: dict[str, Any], say: Say, progress: Callable[[str, float], None]) -> None:
    """Write the score without the features of the job, then the verdicts on the others."""
    progress("read the table", 0.0)
    settings, table = changed_settings(job["settings"]), job["table"]
    problem = learnable_problem(table, job["target"], settings)
    live = Live(Path(job["folder"]) / RESULTS, table, problem.target, settings, problem)
    query = LeaveOutQuery(features=job["relearn"])
    progress("fit again on the same folds", 0.02)
    say({"event": "score", "value": leave_out(live, query, settings.n_jobs).model_dump()})
    moves = moved(live, query, within(_forwards(progress), SCORED_SHARE, 1.0))
    say({"event": "finished", "value": moves.model_dump()})


def _forwards(progress: Report) -> Report:
    """Return the reports with a share that never falls."""
    most = [0.0]

    def report(step: str, share: float) -> None:
        most[0] = max(most[0], share)
        progress(step, most[0])

    return report


def moved(live: Live, query: LeaveOutQuery, report: Report) -> Moves:
    """Judge the features that are kept by fitting again, as the study judged all of them."""
    left = left_out(live, query)
    rows = at_most(live.problem, COMPARED_ROWS, live.settings.random_state)
    learner, X = features_and_columns(live, rows)
    dropped = columns_of(live, left)
    kept = [name for name in X.columns if name not in dropped]
    found = verdicts(
        refitted(clone(learner)),
        X[kept],
        rows.y,
        features=[live.feature_of(name) for name in kept] if live.bands else None,
        groups=rows.separation,
        sample_weight=rows.weights,
        n_jobs=live.settings.n_jobs,
        random_state=live.settings.random_state,
        progress=report,
    )
    record = json.loads((live.folder / RECORD).read_text(encoding="utf-8"))
    return moves_between(record["verdicts"], plain_values(found.to_dict()), left)


def moves_between(before: Mapping[str, Any], after: Mapping[str, Any], left: list[str]) -> Moves:
    """Compare the verdicts of a study with those of the features that are kept."""
    was, now = _judged(before), _judged(after)
    moves = [Move(feature=name, before=was[name], after=judged) for name, judged in now.items() if name in was]
    moves.sort(key=lambda move: (not move.has_other_verdict, not move.has_other_stand_ins, -(move.after.loss or 0)))
    best = list(after["sufficient"])
    return Moves(
        features=moves,
        sufficient_before=before["sufficient"],
        sufficient_after=best,
        sentence=printable(_sentence(moves, left, best)),
    )


def _judged(verdicts: Mapping[str, Any]) -> dict[str, Judged]:
    stand_ins: dict[str, list[str]] = {}
    for pair in sorted(verdicts["stand_ins"], key=lambda one: one["price"]):
        stand_ins.setdefault(pair["feature"], []).append(pair["stand_in"])
    return {
        one["feature"]: Judged(
            verdict=one["verdict"],
            loss=one["loss_without"],
            error=one["loss_error"],
            stand_ins=stand_ins.get(one["feature"], []),
        )
        for one in verdicts["features"]
    }


def _sentence(moves: list[Move], left: list[str], best: list[str]) -> str:
    others = [move for move in moves if move.has_other_verdict]
    swapped = sum(move.has_other_stand_ins for move in moves)
    named = [f"{move.feature!r} from {move.before.verdict} to {move.after.verdict}" for move in others[:MOST_NAMED]]
    more = f" and {len(others) - MOST_NAMED} more" if len(others) > MOST_NAMED else ""
    verdicts = (
        f"{counted(len(others), 'verdict moves', 'verdicts move')}: {', '.join(named)}{more}"
        if others
        else "no verdict moves"
    )
    stand_ins = f"; {counted(swapped, 'feature has', 'features have')} other stand-ins" if swapped else ""
    if len(moves) == 1:
        return f"Without {listed(left)}, one feature is left: {moves[0].feature!r}."
    enough = (
        f"Of the {counted(len(moves), 'feature that is', 'features that are')} kept, "
        f"{counted(len(best), 'suffices', 'suffice')}: {listed(best)}."
        if len(best) < len(moves)
        else "No smaller set of those that are kept suffices."
    )
    return f"Without {listed(left)}, {verdicts}{stand_ins}. {enough}"
