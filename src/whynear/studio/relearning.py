"""A study judged again without some features: the score on the same folds, and verdicts and stand-ins that move."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sklearn.base import clone

from whynear.studio.fewer_features import columns_of, features_and_columns, leave_out, left_out
from whynear.studio.live import RECORD, Live
from whynear.studio.models import Judged, LeaveOutQuery, Move, Moves, changed_settings
from whynear.studio.project import RESULTS, Say
from whynear.study.folds import at_most
from whynear.study.learnable import learnable_problem
from whynear.study.settings import COMPARED_ROWS
from whynear.study.stages import refitted
from whynear.utils.arrays import plain_values
from whynear.utils.progress import Report, within
from whynear.utils.text import counted, listed, printable
from whynear.verdict.judging import verdicts_by
from whynear.work.workers import start_workers

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
    with start_workers("processes", live.settings.n_jobs, also_here=True) as workers:
        found = verdicts_by(
            workers,
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
