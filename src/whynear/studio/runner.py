"""Runs the studies of a project, one after the other, each in a process of its own."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import time
from functools import partial
from typing import IO, Any

from whynear.studio.faults import Refused, WrongState
from whynear.studio.progress import learners_after
from whynear.studio.project import Project
from whynear.studio.store import Row
from whynear.studio.worker import FITS, NEW, OLDER, RESULTS
from whynear.studio.worker_process import TEMPORARY, OneWorker, clear_worker, end_worker, events_in, start_worker

OVER = ("finished", "failed", "cancelled", "interrupted")
CAN_RESUME = ("failed", "cancelled", "interrupted")
INTERRUPTED = "The server ended while the study ran. Its finished fits are kept: it can go on from there."
CANCELLED = "It was cancelled. Its finished fits are kept: it can go on from there."


class Runner(OneWorker):
    """Starts waiting studies in their order, and notes in the project what becomes of them.

    A study that ran when the server was killed is marked as interrupted, or as finished if its files are complete.
    """

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project, self.store, self._running = project, project.store, ""
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
            self._running = row["id"]
            self.follow(process, partial(self._note, row["id"]))

    def cancel(self, study: str) -> None:
        """End a study; what it has fitted is kept."""
        with self._lock:
            ended = {"state": "cancelled", "ended": time.time(), "message": CANCELLED}
            if not self.store.change_study(study, only_in=("waiting", "running"), **ended):
                raise WrongState(f"The study is {self.store.study(study)['state']}: there is nothing to cancel.")
            now = self._now if self._running == study else None
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
            if self._running == study or self.store.study(study)["state"] == "running":
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
            self._now, self._running = None, ""
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
