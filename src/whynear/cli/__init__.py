"""The command line: one command, one call into the library."""

import os
import signal

INTERRUPTED = 130  # the exit code


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, from this line on."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell wants it ignored
        signal.signal(signal.SIGINT, end_at_once)
    from whynear.cli.app import main as run

    run()


def end_at_once(*_: object) -> None:
    """End the process without clean-up, for as long as there is nothing to clean up.

    An exception would do worse: an import that is interrupted can turn it into another one, or lose it.
    """
    os.write(2, b"Interrupted.\n")
    os._exit(INTERRUPTED)
