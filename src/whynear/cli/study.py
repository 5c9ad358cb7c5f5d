"""``whynear study``: learn a metric from a table and report the relevance of its features."""

from __future__ import annotations

import json
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer
from rich.bar import Bar
from rich.console import Console
from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, terminated_as_interrupted, warnings_in_a_sentence
from whynear.study.settings import StudySettings, grouped
from whynear.utils.files import check_folder
from whynear.utils.lazy import nothing_collected
from whynear.utils.text import counted, short_number

if TYPE_CHECKING:
    from pandas import DataFrame

    from whynear.data.problem import Problem
    from whynear.report.files import Unfinished


@options.with_settings(
    "learner score class_weight out overwrite drop index group time weight bins categories impute missing category "
    "number date strict spectra drop_missing_target folds effective_dim random_state n_jobs engine address encoding "
    "memory"
)
def study(
    table: options.Table = "breast_cancer",
    target: options.Target = None,
    *,
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and the model.")] = Path("study"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace another study in that folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print study.json instead of the summary.")] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
    **settings: Any,
) -> None:
    """Learn a metric from a table and report which features matter."""
    console = Console(quiet=quiet or as_json)
    with errors_in_a_sentence(debug):
        with nothing_collected():  # here, since they import pandas and matplotlib
            from whynear.report.files import FILES, Unfinished

            studied = wn.study
        check_folder(out, FILES)
        with (
            terminated_as_interrupted(),
            _processes_ahead(settings["engine"], settings["n_jobs"]),
            warnings_in_a_sentence(quiet=quiet),
            Unfinished(out) as unfinished,
            StudySteps(console, unfinished, overwrite=overwrite) as steps,
        ):
            parameters = grouped({**settings, "keep": unfinished.fits})
            steps.settings = StudySettings(**parameters)
            result = studied(table, target, **parameters, progress=steps)
            steps.step("write the report", 1.0)
            written = result.save(out, overwrite=overwrite)
        if as_json:
            typer.echo(json.dumps(json.loads(written[0].read_text(encoding="utf-8")), ensure_ascii=False))
        print_result(console, result, written)


def _processes_ahead(engine: str, n_jobs: int | None) -> AbstractContextManager[None]:
    """Start the other processes before there is work for them, since they import the library first."""
    if engine != "processes" or n_jobs == 0:
        return nullcontext()
    from whynear.utils.threads import n_threads
    from whynear.work.processes import started_ahead

    return started_ahead(n_threads(n_jobs) - 1, "whynear.doors")


MOST_FEATURES = 10
MOST_CLASSES = 6
BAR = 20  # letters of the longest interval
LONG_SECONDS = 20.0  # from which the expected time is shown


class StudySteps:
    """The finished steps of a study with their seconds, above a bar for the current one; finished parts are kept."""

    def __init__(self, console: Console, unfinished: Unfinished, *, overwrite: bool) -> None:
        self.unfinished, self.overwrite, self.settings = unfinished, overwrite, StudySettings()
        self.console = console
        columns = SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
        self.bar = ProgressBar(*columns, console=console, transient=True)
        self.task = self.bar.add_task("start", total=1.0)
        self.name, self.since = "", time.perf_counter()

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._tick()
        self.bar.stop()

    def step(self, step: str, share: float) -> None:
        """Show the current step; text after a comma names a part of the same step."""
        name = step.partition(",")[0]
        if name != self.name:
            self._tick()
            self.name, self.since = name, time.perf_counter()
        self.bar.update(self.task, description=plain(step), completed=share)

    def _tick(self) -> None:
        if self.name and self.name != "done":
            mark = "*" if self.console.options.ascii_only else "✓"
            seconds = time.perf_counter() - self.since
            self.console.print(f"{mark} {self.name:<42}{seconds:7.1f} s", style="dim", highlight=False)

    def finished(self, part: str, value: Any) -> None:
        """Print what is known of the table, and keep finished parts in case of an interrupt."""
        from whynear.report.files import check_no_other_study
        from whynear.work.processes import import_ahead

        if part == "problem":
            out, settings = self.unfinished.folder.parent, self.settings
            check_no_other_study(out, value.source, value.target, settings, overwrite=self.overwrite)
            print_problem(self.console, value, settings)
        if part == "comparison":
            import_ahead("whynear.report.figures")
        self.unfinished.keep(part, value)


def print_problem(console: Console, problem: Problem, settings: StudySettings) -> None:
    """Print the size and the columns of the table, and for a large one the expected time and memory."""
    from whynear.study.fits import estimate  # here, since it imports pandas

    console.print(f"{plain(problem.source)}: {problem.summary}", highlight=False)
    console.print(f"target {plain(repr(problem.target))}: {_values(problem)}", highlight=False)
    for what, column, words in (
        ("group", problem.groups, "groups, each held out as a whole"),
        ("time", problem.times, "different times, later rows held out"),
    ):
        if column is not None:
            console.print(f"{what} {plain(repr(column.name))}: {column.nunique():,} {words}", highlight=False)
    for decision in problem.decisions:
        console.print(f"- {plain(decision)}", soft_wrap=True, highlight=False)
    shape, spectra = problem.numbers().shape, problem.axis is not None
    needs = estimate(*shape, len(problem.classes), settings.learners, settings.splitting.folds, spectra=spectra)
    if needs.seconds > LONG_SECONDS:
        console.print(f"This will take {needs}.", highlight=False)


def _values(problem: Problem) -> str:
    if problem.range is not None:
        least, most = problem.range
        return f"numbers from {short_number(least)} to {short_number(most)}"
    shown = ", ".join(f"{plain(name)} {count:,}" for name, count in problem.classes[:MOST_CLASSES])
    return f"{len(problem.classes)} classes ({shown}{', ...' if len(problem.classes) > MOST_CLASSES else ''})"


def print_result(console: Console, result: wn.Study, written: list[Path]) -> None:
    """Print the finding, the most relevant features and the caveats that the preview does not say."""
    console.print()
    console.print(plain(result.finding()), style="bold")
    frame, units = result.frame().head(MOST_FEATURES), result.relevance.units
    console.print(relevance_table(frame, units, ascii_only=console.options.ascii_only))
    if (more := len(result.verdicts.feature_names) - len(frame)) > 0:
        noun = "feature" if result.spectra is None else result.spectra.bands.noun
        console.print(f"and {counted(more, f'more {noun}')}: relevance.csv has all.", highlight=False)
    for caveat in [caveat for caveat in result.caveats if caveat not in result.problem.decisions]:
        console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}")
    console.print(f"Written: {plain(str(written[-1]))} and {len(written) - 1} other files")


def relevance_table(frame: DataFrame, units: str, ascii_only: bool) -> Table:
    """Return the features with verdict, points lost without them, and bounds as bars; ``units`` is that of bounds."""
    table = Table(title=f"Features, those of the smallest set first (weights {units})", title_justify="left", box=None)
    table.add_column("feature", overflow="fold")
    table.add_column("verdict")
    table.add_column("points lost", justify="right")
    table.add_column("weight", justify="right")
    table.add_column("", width=BAR)
    largest = max(frame["upper"].max(), sys.float_info.min)
    columns = ["feature", "verdict", "loss_without", "loss_error", "lower", "upper"]
    for feature, verdict, lost, error, lower, upper in frame[columns].to_numpy().tolist():
        first, last = round(BAR * lower / largest), round(BAR * upper / largest)
        bar = " " * first + "#" * max(1, last - first) if ascii_only else Bar(largest, lower, upper, color="blue")
        weight = f"{upper:.2g}" if lower == upper else f"{lower:.2g} to {upper:.2g}"
        table.add_row(plain(feature), verdict, f"{lost:z.1f} ± {error:.1f}", weight, bar)
    return table
