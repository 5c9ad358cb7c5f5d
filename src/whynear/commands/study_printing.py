"""A study on the terminal: what the table holds, the steps with their times, the answer."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
from pandas import DataFrame
from rich.bar import Bar
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from whynear.commands.shell import plain
from whynear.report import Study
from whynear.report.estimate import estimate
from whynear.report.preview import summary
from whynear.report.problem import Problem

SHOWN = 10  # features
MOST_CLASSES = 6
WORTH_TELLING = 20.0  # seconds: a shorter wait needs no warning


class StepList:
    """The steps done, each with the seconds it took, above a bar for the one under way."""

    def __init__(self, console: Console) -> None:
        self.console = console
        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
        self.bar = Progress(*columns, console=console, transient=True)
        self.task = self.bar.add_task("start", total=1.0)
        self.step, self.since = "", time.perf_counter()

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._tick()
        self.bar.stop()

    def show(self, step: str, share: float) -> None:
        """Tell what is being done; what stands after a comma is a part of the same step."""
        name = step.partition(",")[0]
        if name != self.step:
            self._tick()
            self.step, self.since = name, time.perf_counter()
        self.bar.update(self.task, description=plain(step), completed=share)

    def _tick(self) -> None:
        if self.step and self.step != "done":
            mark = "*" if self.console.options.ascii_only else "✓"
            seconds = time.perf_counter() - self.since
            self.console.print(f"{mark} {self.step:<42}{seconds:7.1f} s", style="dim", highlight=False)


def print_problem(console: Console, problem: Problem, compares: bool) -> None:
    """What the table holds, and for large ones how much time and memory it will take."""
    console.print(f"{plain(problem.source)}: {summary(problem.columns, len(problem.X))}", highlight=False)
    console.print(f"target {plain(repr(problem.target))}: {_values(problem)}", highlight=False)
    needs = estimate(*problem.X.shape, 0 if problem.is_measured else len(np.unique(problem.y)), compares)
    if needs.seconds > WORTH_TELLING:
        console.print(f"This will take {needs}.", highlight=False)


def _values(problem: Problem) -> str:
    if problem.is_measured:
        return f"numbers from {problem.y.min():.4g} to {problem.y.max():.4g}"
    names, counts = np.unique(problem.y, return_counts=True)
    shown = ", ".join(f"{plain(name)} {count:,}" for name, count in zip(names[:MOST_CLASSES], counts, strict=False))
    return f"{len(names)} classes ({shown}{', ...' if len(names) > MOST_CLASSES else ''})"


def print_answer(console: Console, result: Study, written: list[Path]) -> None:
    """The answer in words, the most relevant features, and what to keep in mind."""
    console.print()
    console.print(plain(result.finding()), style="bold")
    console.print(relevance_table(result.frame().head(SHOWN), ascii_only=console.options.ascii_only))
    for caveat in result.caveats:
        console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}")
    console.print(f"Written: {plain(str(written[-1]))} and {len(written) - 1} files beside it")


def relevance_table(frame: DataFrame, ascii_only: bool, width: int = 30) -> Table:
    """The features with their bounds as numbers and bars."""
    table = Table(title="Most relevant features (per standard deviation)", title_justify="left", box=None)
    table.add_column("feature", overflow="fold")
    table.add_column("least", justify="right")
    table.add_column("most", justify="right")
    table.add_column("strength")
    table.add_column("", width=width)
    largest = max(frame["upper"].max(), sys.float_info.min)
    for feature, lower, upper, strength in frame[["feature", "lower", "upper", "strength"]].to_numpy().tolist():
        first, last = round(width * lower / largest), round(width * upper / largest)
        bar = " " * first + "#" * max(1, last - first) if ascii_only else Bar(largest, lower, upper, color="blue")
        table.add_row(plain(feature), f"{lower:.3g}", f"{upper:.3g}", strength, bar)
    return table
