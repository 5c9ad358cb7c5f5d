"""The command line: each command calls one function of the library."""

import signal

from whynear.cli.interrupts import end_at_once


def main() -> None:
    """Run the command line; from here on, Ctrl-C ends it without a traceback."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not where a shell ignores it
        signal.signal(signal.SIGINT, end_at_once)
    from whynear.cli.app import main as run

    run()
