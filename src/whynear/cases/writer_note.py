"""A note beside a case base that names the process writing to it.

The lock itself is SQLite's, which ends with its process. The note only names that process: a note that remains after
its process ended locks nothing.
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
    """The file ``<case base>-writer``: process, machine, and time."""

    def __init__(self, base: Path) -> None:
        self.path = base.with_name(f"{base.name}-writer")

    def write(self) -> None:
        """Write the note for this process, if the folder can be written."""
        now = datetime.now().astimezone().isoformat(timespec="seconds")
        note = {"process": os.getpid(), "machine": socket.gethostname(), "since": now}
        with contextlib.suppress(OSError):
            self.path.write_text(json.dumps(note))

    def remove(self) -> None:
        """Remove the note, unless it is already that of the next writer."""
        if self._read().get("process") == os.getpid():
            with contextlib.suppress(OSError):
                self.path.unlink()

    def writer(self) -> str:
        """Return a description of the process that writes."""
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
    except OSError:  # it runs, for another user
        return True
    return True
