"""A note beside a case base that says which process is writing to it.

The lock itself is SQLite's, which ends with the process that holds it. The note only says whose it is, so a note that
outlived its process locks nobody out.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from datetime import datetime
from pathlib import Path
from typing import Any


class WriterNote:
    """The file ``<case base>-writer``: process, machine, and since when."""

    def __init__(self, base: Path) -> None:
        self.path = base.with_name(f"{base.name}-writer")

    def leave(self) -> None:
        """Say that this process holds the lock, as well as the folder allows."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        note = {"process": os.getpid(), "machine": socket.gethostname(), "since": now}
        with contextlib.suppress(OSError):
            self.path.write_text(json.dumps(note))

    def take_back(self) -> None:
        """Remove the note, unless the next writer has put its own there."""
        if self._read().get("process") == os.getpid():
            with contextlib.suppress(OSError):
                self.path.unlink()

    def holder(self) -> str:
        """Who holds the lock, in words."""
        note = self._read()
        process, machine = note.get("process"), note.get("machine")
        if not isinstance(process, int) or (machine == socket.gethostname() and not _is_running(process)):
            return "a process that left no note"
        where = "" if machine == socket.gethostname() else f" on {machine}"
        own = ", which is this one," if not where and process == os.getpid() else ""
        return f"process {process}{where}{own} since {note.get('since')}"

    def _read(self) -> dict[str, Any]:
        try:
            note = json.loads(self.path.read_text())
        except (OSError, ValueError):  # none, or half written at this moment
            return {}
        return note if isinstance(note, dict) else {}


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, for somebody else
        return True
    return True
