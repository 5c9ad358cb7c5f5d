"""What all commands share: errors in a sentence, bars and words."""

from __future__ import annotations

import shlex
import signal
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from typer.core import TyperGroup

from whynear.cli.interrupts import INTERRUPTED, interrupts_raised
from whynear.study.settings import option_words
from whynear.utils.progress import Report, silent
from whynear.utils.text import printable

_words: ContextVar[tuple[str, ...]] = ContextVar("words", default=())


class RememberingGroup(TyperGroup):
    """A group of commands that keeps the words it was called with."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the words, then parse them."""
        _words.set(tuple(args))
        return list(super().parse_args(ctx, args))


def suggestion(error: Exception) -> str | None:
    """Return the command with the settings that an error suggests; None if it suggests none that were tried."""
    from whynear.data.options import TableRefused

    if not isinstance(error, TableRefused) or not error.is_tried or not _words.get():
        return None
    return shlex.join(["whynear", *_words.get(), *option_words(error.settings)])


BAD_INPUT = 2
UNEXPECTED = 1


def plain(text: object) -> str:
    """Return text that neither rich nor the terminal interprets as a command."""
    return escape(printable(str(text)))


@contextmanager
def errors_in_a_sentence(debug: bool) -> Iterator[None]:
    """End with one sentence and code 2 after bad input, 130 after an interrupt, 1 otherwise; a traceback on request.

    If settings are known with which the table is taken, a second line is the command with them.
    """
    try:
        with interrupts_raised():
            yield
    except KeyboardInterrupt as interrupt:
        typer.echo(printable(f"Interrupted. {interrupt}".strip()), err=True)
        raise typer.Exit(INTERRUPTED) from None
    except (ValueError, TypeError, OSError, ImportError) as error:
        if debug:
            raise
        typer.echo(f"Error: {_sentence(error)}", err=True)
        if (command := suggestion(error)) is not None:
            typer.echo(f"Try: {printable(command)}", err=True)
        raise typer.Exit(BAD_INPUT) from None
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:  # a defect of this program, or a model file whose parts do not fit together
        if debug:
            raise
        found = f"{type(error).__name__}: {_sentence(error)}".removesuffix(": ").removesuffix(".")
        typer.echo(f"Error: {found}. This was not expected: --debug shows where it happened.", err=True)
        raise typer.Exit(UNEXPECTED) from None


@contextmanager
def terminated_as_interrupted() -> Iterator[None]:
    """Treat a request to terminate like Ctrl-C, so that worker processes end too."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def warnings_in_a_sentence(*, quiet: bool = False) -> Iterator[None]:
    """Print each warning of the library once, without the line of code that it comes from; none with ``quiet``."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught if not quiet):
        typer.echo(f"Note: {printable(text)}", err=True)


def _sentence(error: Exception) -> str:
    """Return the message of an error on one line, without the error number of the system."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else error.strerror
    return printable(text)


@contextmanager
def step_bar(first: str, *, quiet: bool = False) -> Iterator[Report]:
    """Show the current step on a terminal, elsewhere nothing: rich would write an empty line there."""
    console = Console(stderr=True, quiet=quiet)
    if not console.is_interactive:
        yield silent
        return
    with Progress(
        TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), console=console, transient=True
    ) as bar:
        task = bar.add_task(first, total=1.0)
        yield lambda step, share: bar.update(task, description=plain(step), completed=share)
