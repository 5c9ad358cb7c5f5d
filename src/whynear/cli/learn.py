"""``whynear learn``: fit a learner to a table and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.learn.registry import LEARNERS, MINIMUM_NORM, OF_NUMBERS
from whynear.study.settings import grouped
from whynear.utils.files import check_file


@options.with_settings(
    "learner out raw score drop index group time weight class_weight bins categories impute missing category number "
    "date drop_missing_target strict spectra random_state encoding",
    learner=f"One of {', '.join(LEARNERS)}; for a measured target {' or '.join(OF_NUMBERS)}; auto is gmlvq, or "
    f"{MINIMUM_NORM} for a measured target.",
)
def learn(
    table: options.Table,
    target: options.Target = None,
    *,
    out: Annotated[Path, typer.Option(help="The file for the model.")] = Path("model.whynear"),
    raw: Annotated[bool, typer.Option("--raw", help="Do not standardise the columns.")] = False,
    score: Annotated[bool, typer.Option("--score", help="Also show the accuracy on held-out folds.")] = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
    **settings: Any,
) -> None:
    """Learn a metric from a table and save it, for use by `retrieve` and whynear.load."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        check_file(out)
        with warnings_in_a_sentence(quiet=quiet), console.status(f"learn with {plain(settings['learner'])}"):
            learned = wn.learn_table(table, target, raw=raw, score=score, **grouped(settings))
            wn.save(learned.model, out)
        console.print(plain(learned.finding()), soft_wrap=True, highlight=False)
        console.print(plain(f"Saved: {out}"), soft_wrap=True, highlight=False)
        for caveat in learned.problem.caveats:
            console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}", soft_wrap=True, highlight=False)
