"""Runs refits without some features, one at a time, each in a process of its own, and notes what becomes of them."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from functools import partial
from typing import IO, Any

from whynear.studio.faults import NotFound, WrongState
from whynear.studio.project import Project
from whynear.studio.relearn_models import Relearning
from whynear.studio.worker_process import OneWorker, clear_worker, end_worker, events_in, start_worker

INTERRUPTED = "The server ended while it ran. Start it again."
CANCELLED = "It was cancelled."


class Relearner(OneWorker):
    """Starts a refit, and keeps its score and the verdicts that move in the project.

    A refit that ran when the server was killed is marked as interrupted.
    """

    def __init__(self, project: Project) -> None:
        super().__init__()
        self.project, self.store, self._number = project, project.store, 0
        for row in self.store.studies():
            for one in self.store.relearnings(row["id"]):
                self.store.change_relearning(one["number"], state="interrupted", message=INTERRUPTED)

    def start(self, study: str, features: Sequence[str]) -> Relearning:
        """Start a refit of a finished study without some features."""
        job = self.project.job_of(self.store.study(study)) | {"relearn": list(features)}
        with self._lock:
            if self._now is not None or self._closed:
                raise WrongState("Features are being left out already. Wait until that is done, or cancel it.")
            process = start_worker(self.project.folder_of(study), job)
            self._number = self.store.add_relearning(study, features)
            self.follow(process, partial(self._note, study, self._number))
            return self.shown(study, self._number)

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
            if not self.store.change_relearning(number, state="cancelled", message=CANCELLED):
                raise WrongState("The refit is over: there is nothing to cancel.")
            now = self._now if self._number == number else None
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
        if not ended:
            message = INTERRUPTED if self._closed else f"Its process ended with code {code}. Is there enough memory?"
            ended = {"state": "interrupted" if self._closed else "failed", "message": message}
        with self._lock:
            self._now = None
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
