"""Processes of studies: queued, started, watched and ended."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from whynear.studio.models import Relearning
from whynear.studio.project import FITS, NEW, OLDER, RESULTS, Project
from whynear.studio.store import NotFound, Refused, Row, WrongState
from whynear.utils.files import make_folder

_FIT = re.compile(r"compare learners, fold (\d+) of (\d+): (.+), about .* left for this step")
LEAST_SHARE = 0.1  # of the work, from which the time left follows from the time spent


def learners_after(learners: dict[str, int], step: str) -> dict[str, int]:
    """Return for each learner the number of folds that its fits have reached, after another step.

    The learner of the current step comes last.

    >>> first = learners_after({}, "compare learners, fold 1 of 5: GMLVQ, about 20 s left for this step")
    >>> learners_after(first, "compare learners, fold 2 of 5: NCA with kNN, about 10 s left for this step")
    {'GMLVQ': 1, 'NCA with kNN': 2}
    """
    found = _FIT.fullmatch(step)
    if found is None:
        return learners
    others = {name: fold for name, fold in learners.items() if name != found[3]}
    return {**others, found[3]: max(int(found[1]), learners.get(found[3], 0))}


def seconds_left(share: float, spent: float, expected: float | None) -> float | None:
    """Return how many seconds are left: by the share done, before that by the estimate; None where neither is known.

    >>> seconds_left(0.5, 20.0, 100.0), seconds_left(0.05, 20.0, 100.0), seconds_left(0.05, 20.0, None)
    (20.0, 80.0, None)
    """
    if share >= LEAST_SHARE:
        return spent * (1 - share) / share
    return None if expected is None else max(0.0, expected - spent)


def progress_of(row: dict[str, Any], now: float) -> dict[str, Any] | None:
    """Return the progress of a study, given as a row of the store; None before it was started."""
    if row["begun"] is None:
        return None
    spent = (row["ended"] or now) - row["begun"]
    current = next(reversed(row["learners"]), None) if _FIT.fullmatch(row["step"]) else None
    return {
        "step": row["step"],
        "share": row["share"],
        "seconds": spent,
        "seconds_left": seconds_left(row["share"], spent, row["expected"]) if row["state"] == "running" else None,
        "learners": [
            {"name": name, "folds": folds, "current": name == current} for name, folds in row["learners"].items()
        ],
    }


WORKER = ["-m", "whynear.studio.worker"]
LOG = "log.txt"
TEMPORARY = "temporary"  # for the files that the processes of a study share
ENDING_SECONDS = 5.0  # that a process has to end by itself


class Followed(NamedTuple):
    """A process, and the thread that notes what becomes of it."""

    process: subprocess.Popen[str]
    follower: threading.Thread

    def end(self) -> None:
        """End the process, and wait until that is noted."""
        end_worker(self.process)
        self.follower.join()


class OneWorker:
    """At most one process at a time, followed by a thread until it ends; ``_now`` changes within the lock."""

    def __init__(self, project: Project) -> None:
        self.project, self.store = project, project.store
        self._lock, self._closed = threading.RLock(), False
        self._now: Followed | None = None
        self._of: object = None  # the study, or the number of the refit

    def follow(self, process: subprocess.Popen[str], of: object, note: Callable[[subprocess.Popen[str]], None]) -> None:
        """Start a thread that notes how a process ends; call it within the lock."""
        self._of = of
        self._now = Followed(process, threading.Thread(target=note, args=(process,), daemon=True))
        self._now.follower.start()

    def wait(self) -> None:
        """Wait until the process that runs is over."""
        with self._lock:
            now = self._now
        if now is not None:
            now.follower.join()

    def close(self) -> None:
        """End the process that runs, whose work is marked as interrupted, and start no other."""
        with self._lock:
            self._closed, now = True, self._now
        if now is not None:
            now.end()


def start_worker(folder: Path, job: dict[str, Any]) -> subprocess.Popen[str]:
    """Start a process in the folder of a study, and give it its job."""
    temporary = folder / TEMPORARY
    shutil.rmtree(temporary, ignore_errors=True)
    make_folder(temporary)
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, *WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(temporary), "MPLBACKEND": "agg"},
        )
    assert process.stdin is not None, "it is a pipe"
    process.stdin.write(json.dumps(job) + "\n")
    process.stdin.flush()
    return process


def events_in(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the events that a process writes; a line that was cut off by a kill is none."""
    for line in lines:
        with contextlib.suppress(ValueError):
            yield json.loads(line)


def clear_worker(process: subprocess.Popen[str], folder: Path) -> int:
    """Wait for the end of a process, remove what it left behind, and return its code."""
    code = process.wait()
    _kill_group(process)  # processes of the engine, if they are left
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None, "it is a pipe"
        pipe.close()
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    return code


def end_worker(process: subprocess.Popen[str]) -> None:
    """Terminate a process, and kill it and all that it started if it does not end."""
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(ENDING_SECONDS)
    _kill_group(process)
    process.wait()


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill all processes of the group of a process, which has the same number."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


OVER = ("finished", "failed", "cancelled", "interrupted")
CAN_RESUME = ("failed", "cancelled", "interrupted")
INTERRUPTED = "The server ended while the study ran. Its finished fits are kept: it can go on from there."
CANCELLED = "It was cancelled. Its finished fits are kept: it can go on from there."


class Runner(OneWorker):
    """Starts waiting studies in their order, and notes in the project what becomes of them.

    A study that ran when the server was killed is marked as interrupted, or as finished if its files are complete.
    """

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        for row in self.store.studies():
            if row["state"] == "running":
                self._after_a_kill(row)
        self.start_next()

    def start_next(self) -> None:
        """Start the study that has waited longest, if none is running."""
        with self._lock:
            waiting = [row for row in self.store.studies() if row["state"] == "waiting"]
            if self._closed or self._now is not None or not waiting:
                return
            row = waiting[-1]
            self.store.remove_parts(row["id"])
            begun: dict[str, Any] = {"state": "running", "begun": time.time(), "ended": None, "message": ""}
            self.store.change_study(row["id"], **begun, step="start", share=0.0, learners={})
            try:
                process = start_worker(self.project.folder_of(row["id"]), self.project.job_of(row))
            except (OSError, Refused) as error:  # its table is gone, or no process can be started
                self.store.change_study(row["id"], state="failed", ended=time.time(), message=str(error))
                self.start_next()
                return
            self.follow(process, row["id"], partial(self._note, row["id"]))

    def cancel(self, study: str) -> None:
        """End a study; what it has fitted is kept."""
        with self._lock:
            ended = {"state": "cancelled", "ended": time.time(), "message": CANCELLED}
            if not self.store.change_study(study, only_in=("waiting", "running"), **ended):
                raise WrongState(f"The study is {self.store.study(study)['state']}: there is nothing to cancel.")
            now = self._now if self._of == study else None
        if now is not None:
            now.end()

    def resume(self, study: str) -> None:
        """Resume a study that was cancelled or interrupted, or has failed, from its kept fits."""
        if not self.store.change_study(study, only_in=CAN_RESUME, state="waiting"):
            raise WrongState(f"The study is {self.store.study(study)['state']}: it cannot go on.")
        self.start_next()

    def remove(self, study: str) -> None:
        """Remove a study that is not running."""
        with self._lock:
            if self._of == study or self.store.study(study)["state"] == "running":
                raise WrongState("The study is running. Cancel it first.")
            self.project.remove_study(study)

    def _note(self, study: str, process: subprocess.Popen[str]) -> None:
        """Note the events of a process until it ends."""
        assert process.stdout is not None, "it is a pipe"
        try:
            last = self._note_events(study, process.stdout)
            code = clear_worker(process, self.project.folder_of(study))
            self._note_end(study, last, code)
        except OSError as error:  # the project cannot be written, such as on a full disk
            end_worker(process)
            with contextlib.suppress(OSError):
                failed: dict[str, Any] = {"state": "failed", "ended": time.time(), "message": str(error)}
                self.store.change_study(study, only_in=("running",), **failed)
        with self._lock:
            self._now = self._of = None
        self.start_next()

    def _note_events(self, study: str, lines: IO[str]) -> dict[str, Any]:
        """Note progress and finished parts; return the last event of another kind."""
        last: dict[str, Any] = {}
        learners: dict[str, int] = {}
        for event in events_in(lines):
            if event["event"] == "progress":
                learners = learners_after(learners, event["step"])
                changes = {"step": event["step"], "share": event["share"], "learners": learners}
                self.store.change_study(study, only_in=("running",), **changes)
            elif event["event"] == "part":
                self.store.add_part(study, event["name"], event["value"])
            else:
                last = event
        return last

    def _note_end(self, study: str, last: dict[str, Any], code: int) -> None:
        ended: dict[str, Any] = {"ended": time.time()}
        if last.get("event") == "finished":  # perhaps just before it was cancelled
            ended |= {"state": "finished", "share": 1.0, "step": "done", "finding": last["finding"], "message": ""}
            self.store.change_study(study, only_in=("running", "cancelled"), **ended)
            return
        if self._closed:
            ended |= {"state": "interrupted", "message": INTERRUPTED}
        elif last.get("event") == "failed":
            ended |= {"state": "failed", "message": last["message"]}
        else:
            reason = f"Its process ended with code {code}. Is there enough memory? It can go on from its kept fits."
            ended |= {"state": "failed", "message": reason}
        self.store.change_study(study, only_in=("running",), **ended)

    def _after_a_kill(self, row: Row) -> None:
        """Mark a study that ran when the server was killed."""
        folder = self.project.folder_of(row["id"])
        for name in (TEMPORARY, NEW, OLDER):
            shutil.rmtree(folder / name, ignore_errors=True)
        if not (folder / RESULTS).is_dir():
            self.store.change_study(row["id"], state="interrupted", ended=time.time(), message=INTERRUPTED)
            return
        shutil.rmtree(folder / FITS, ignore_errors=True)
        record = json.loads((folder / RESULTS / "study.json").read_text(encoding="utf-8"))
        done: dict[str, Any] = {"state": "finished", "share": 1.0, "step": "done", "ended": time.time(), "message": ""}
        self.store.change_study(row["id"], **done, finding=record["finding"])


REFIT_INTERRUPTED = "The server ended while it ran. Start it again."


class Relearner(OneWorker):
    """Starts a refit, and keeps its score and the verdicts that move in the project.

    A refit that ran when the server was killed is marked as interrupted.
    """

    def __init__(self, project: Project) -> None:
        super().__init__(project)
        for row in self.store.studies():
            for one in self.store.relearnings(row["id"]):
                self.store.change_relearning(one["number"], state="interrupted", message=REFIT_INTERRUPTED)

    def start(self, study: str, features: Sequence[str]) -> Relearning:
        """Start a refit of a finished study without some features."""
        job = self.project.job_of(self.store.study(study)) | {"relearn": list(features)}
        with self._lock:
            if self._now is not None or self._closed:
                raise WrongState("Features are being left out already. Wait until that is done, or cancel it.")
            process = start_worker(self.project.folder_of(study), job)
            number = self.store.add_relearning(study, features)
            self.follow(process, number, partial(self._note, study, number))
            return self.shown(study, number)

    def shown(self, study: str, number: int) -> Relearning:
        """Return a refit of a study as the API shows it."""
        for one in self.listed(study):
            if one.number == number:
                return one
        raise NotFound(f"The study has no refit {number}.")

    def listed(self, study: str) -> list[Relearning]:
        """Return all refits of a study, the newest first."""
        return [Relearning(**row) for row in self.store.relearnings(study)]

    def cancel(self, study: str, number: int) -> None:
        """End a refit; its score is kept if it was known."""
        self.shown(study, number)
        with self._lock:
            if not self.store.change_relearning(number, state="cancelled", message="It was cancelled."):
                raise WrongState("The refit is over: there is nothing to cancel.")
            now = self._now if self._of == number else None
        if now is not None:
            now.end()

    def cancel_all(self, study: str) -> None:
        """End the refit of a study that is to be removed."""
        for one in self.listed(study):
            if one.state == "running":
                self.cancel(study, one.number)

    def _note(self, study: str, number: int, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None, "it is a pipe"
        try:
            ended = self._note_events(number, process.stdout)
        except OSError as error:  # the project cannot be written, such as on a full disk
            end_worker(process)
            ended = {"state": "failed", "message": str(error)}
        code = clear_worker(process, self.project.folder_of(study))
        if not ended and self._closed:
            ended = {"state": "interrupted", "message": REFIT_INTERRUPTED}
        elif not ended:
            ended = {"state": "failed", "message": f"Its process ended with code {code}. Is there enough memory?"}
        with self._lock:
            self._now = self._of = None
            self.store.change_relearning(number, **ended)

    def _note_events(self, number: int, lines: IO[str]) -> dict[str, Any]:
        """Note progress and the score; return what is to be noted when the process has ended."""
        ended: dict[str, Any] = {}
        for event in events_in(lines):
            if event["event"] == "progress":
                self.store.change_relearning(number, step=event["step"], share=event["share"])
            elif event["event"] == "score":
                self.store.change_relearning(number, score=event["value"])
            elif event["event"] == "finished":
                ended = {"state": "finished", "share": 1.0, "step": "done", "moves": event["value"]}
            elif event["event"] == "failed":
                ended = {"state": "failed", "message": event["message"]}
        return ended
