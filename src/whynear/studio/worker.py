"""The process of a study or of a relearned metric."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from whynear.studio.project import DATA_FILE, FITS, NEW, OLDER, POINTS_FILE, RESULTS, Say
from whynear.utils.arrays import plain_values
from whynear.utils.files import sync_folder, write_data

if TYPE_CHECKING:
    from whynear.study.result import Study


def as_plain(part: str, value: Any) -> dict[str, Any]:
    """Return a part, as the parameter ``finished`` of a study gets it, as plain values."""
    return plain_values(_PARTS[part](value) if part in _PARTS else {})


def _problem(problem: Any) -> dict[str, Any]:
    names = ("summary", "target", "kind", "classes", "decisions", "caveats")
    return {name: getattr(problem, name) for name in names}


def _comparison(comparison: Any) -> dict[str, Any]:
    return {
        **{name: getattr(comparison, name) for name in ("measure", "chosen", "expected", "expected_error")},
        "methods": [
            {"name": one.name, "score": one.score.value, "error": one.score.error, "text": str(one.score)}
            for one in comparison.methods
        ],
    }


def _frame(value: Any) -> dict[str, Any]:
    return {"rows": value.frame().to_dict("records")}


_PARTS = {
    "problem": _problem,
    "comparison": _comparison,
    "interpretation": _frame,
    "verdicts": lambda verdicts: {**_frame(verdicts), "best": list(verdicts.sets.best)},
}

LEAST_SECONDS = 0.1  # between two reports of the same step


def main() -> None:
    """Do the job that the input names."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that processes and temporary files are removed
    say = _speaker()
    job = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with, args=(sys.stdin,), daemon=True).start()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of learners; the caveats of the study contain what matters
            if "relearn" in job:
                from whynear.studio.fewer_features import run_relearning

                run_relearning(job, say, ProgressEvents(say).step)
            else:
                run_study(job, say)
    except KeyboardInterrupt:
        say({"event": "stopped"})
    except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
        traceback.print_exc()
        say({"event": "failed", "message": str(error) or type(error).__name__})
    except Exception as error:
        traceback.print_exc()
        say({"event": "failed", "message": f"An unexpected error occurred: {type(error).__name__}: {error}"})


def run_study(job: dict[str, Any], say: Say) -> None:
    """Make a study and write its files into the folder of the run, in one step when all of them are complete."""
    import whynear as wn
    from whynear.study.settings import grouped

    folder, progress = Path(job["folder"]), ProgressEvents(say)
    settings = grouped({**job["settings"], "keep": folder / FITS})
    study = wn.study(job["table"], job["target"], **settings, progress=progress)
    progress.step("write the report", 1.0)
    shutil.rmtree(folder / NEW, ignore_errors=True)
    study.save(folder / NEW)
    write_page_data(study, folder / NEW)
    put_results(folder)
    say({"event": "finished", "finding": study.finding()})


def write_page_data(study: Study, folder: Path) -> None:
    """Write what the page shows into the folder of a study; rows beside its cases into a file of their own."""
    from whynear.report.page_cases import class_names, packed_rows
    from whynear.report.page_data import page_data

    shown = page_data(study)
    if study.others is not None:
        del shown["others"]["packed"]
        write_data(folder / POINTS_FILE, packed_rows(study.others, class_names(study)))
    write_data(folder / DATA_FILE, json.dumps(plain_values(shown), allow_nan=False, ensure_ascii=False))


def put_results(folder: Path) -> None:
    """Put the new results of a study in their place, and remove its fits once that is on the disk.

    Older results are moved away before they are removed, so that a folder of results is always a whole one.
    """
    shutil.rmtree(folder / OLDER, ignore_errors=True)
    if (folder / RESULTS).exists():
        os.replace(folder / RESULTS, folder / OLDER)
    os.replace(folder / NEW, folder / RESULTS)
    sync_folder(folder)
    for name in (OLDER, FITS):
        shutil.rmtree(folder / name, ignore_errors=True)


class ProgressEvents:
    """Writes how far the work is, of one step not too often, and each finished part."""

    def __init__(self, say: Say) -> None:
        self.say, self.name, self.since = say, "", 0.0

    def step(self, step: str, share: float) -> None:
        """Write the current step and the share that is done."""
        now, name = time.monotonic(), step.partition(", about")[0]  # without the time left
        if name != self.name or now >= self.since + LEAST_SECONDS:
            self.name, self.since = name, now
            self.say({"event": "progress", "step": step, "share": share})

    def finished(self, part: str, value: Any) -> None:
        """Write a finished part of a study."""
        self.say({"event": "part", "name": part, "value": as_plain(part, value)})


def _speaker() -> Say:
    """Return what writes events; all other output of this process goes to its log."""
    lines: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def say(event: dict[str, Any]) -> None:
        lines.write(json.dumps(event, ensure_ascii=True) + "\n")

    return say


def _end_with(server: IO[str]) -> None:
    """Wait until the server closes its end, or ends; then end this process and its group at once."""
    server.read()
    if os.name == "posix":
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
