"""A bar for the current step of long work and its share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from whynear.cli.shell import plain
from whynear.utils.progress import Report, silent


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
