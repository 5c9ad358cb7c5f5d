"""Ctrl-C while a command works: an exception that cleans up, and never a traceback."""

import _thread
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import Any

from rich.console import Console

from whynear.cli import end_at_once

OURS = ("whynear.cli", "whynear.utils.lazy")  # modules that only lead to the library


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Within, Ctrl-C raises KeyboardInterrupt once the library is imported, whatever it is caught by on its way.

    Changes nothing where `whynear.cli.main` did not start the program.
    """
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    interrupts: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        if _still_imports(frame):
            Console().show_cursor()  # which a progress bar may have hidden
            end_at_once()
        raise KeyboardInterrupt

    before = sys.unraisablehook
    try:
        sys.unraisablehook = _interrupt_again
        signal.signal(signal.SIGINT, interrupt)
        yield
    except Exception as error:
        if interrupts:  # an import turned the interrupt into an error of its own
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, end_at_once)
        sys.unraisablehook = before


def _still_imports(frame: FrameType | None) -> bool:
    """Whether the command is importing the library, and has called nothing of it yet."""
    imports = False
    while frame is not None:  # from within outwards: the outermost of these frames decides
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            imports = True
        else:
            name = str(frame.f_globals.get("__name__"))
            imports = imports and not (name.startswith("whynear.") and not name.startswith(OURS))
        frame = frame.f_back
    return imports


def _interrupt_again(lost: Any) -> None:
    """An interrupt that came within a callback, where Python only reports exceptions, comes once more."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(0.01, _thread.interrupt_main).start()  # not within this callback, where it would be lost again
    else:
        sys.__unraisablehook__(lost)
