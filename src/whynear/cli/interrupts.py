"""Ctrl-C while a command runs: an exception, so that files are cleaned up, and never a traceback."""

import _thread
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from types import FrameType
from typing import Any

INTERRUPTED = 130  # the exit code
LIBRARY = ("whynear.", "papers.")
IMPORTING_MODULES = ("whynear.cli", "whynear.utils.lazy")  # which only import the library


def end_at_once(*_: object) -> None:
    """End the process at once; used while there is nothing to clean up.

    An exception is not safe here: an import that is interrupted can replace it by another one, or lose it.
    """
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)


@contextmanager
def interrupts_raised() -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt as soon as the library is imported, also where other code catches it.

    Does nothing if the program was not started by `whynear.cli.main`.
    """
    if signal.getsignal(signal.SIGINT) is not end_at_once:
        yield
        return
    interrupts: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        if _still_imports(frame):
            from rich.console import Console

            Console().show_cursor()  # a progress bar may have hidden it
            end_at_once()
        raise KeyboardInterrupt

    before = sys.unraisablehook
    try:
        sys.unraisablehook = _interrupt_again
        signal.signal(signal.SIGINT, interrupt)
        yield
    except Exception as error:
        if interrupts:  # an import replaced the interrupt by another error
            raise KeyboardInterrupt from error
        raise
    finally:
        signal.signal(signal.SIGINT, end_at_once)
        sys.unraisablehook = before


def _still_imports(frame: FrameType | None) -> bool:
    """Return whether the command is still importing the library and has not called it yet."""
    imports = False
    while frame is not None:  # from the innermost frame to the outermost, which decides
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            imports = True
        else:
            name = str(frame.f_globals.get("__name__"))
            imports = imports and not (name.startswith(LIBRARY) and not name.startswith(IMPORTING_MODULES))
        frame = frame.f_back
    return imports


def _interrupt_again(lost: Any) -> None:
    """Repeat an interrupt that was lost in a callback, where Python only reports exceptions."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        Timer(0.01, _thread.interrupt_main).start()  # later, because it would be lost in this callback again
    else:
        sys.__unraisablehook__(lost)
