"""The command line: each command calls one function of the library."""

import os
import signal

INTERRUPTED = 130  # the exit code


def main() -> None:
    """Run the command line; from here on, Ctrl-C ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores it
        signal.signal(signal.SIGINT, end_at_once)
    from whynear.cli.app import main as run

    run()


def end_at_once(*_: object) -> None:
    """End the process at once; used while there is nothing to clean up.

    An exception is not safe here: an import that is interrupted can replace it by another one, or lose it.
    """
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)
