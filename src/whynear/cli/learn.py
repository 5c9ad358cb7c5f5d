"""``whynear learn``: fit a learner to a table and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.learn.registry import LEARNERS
from whynear.utils.files import check_file


def learn(
    table: options.Table,
    target: options.Target = None,
    learner: Annotated[
        str,
        typer.Option(help=f"One of {', '.join(LEARNERS)}; auto is gmlvq, and a linear map for a measured target."),
    ] = "auto",
    out: Annotated[Path, typer.Option(help="The file for the model.")] = Path("model.whynear"),
    raw: Annotated[bool, typer.Option("--raw", help="Do not standardise the columns.")] = False,
    score: Annotated[bool, typer.Option("--score", help="Also show the accuracy on held-out folds.")] = False,
    drop: options.Drop = None,
    index: options.Index = None,
    group: options.Group = None,
    time: options.Time = None,
    weight: options.Weight = None,
    class_weight: options.ClassWeight = None,
    bins: options.Bins = None,
    categories: options.Categories = "auto",
    impute: options.Impute = "auto",
    missing: options.Missing = None,
    category: options.Category = None,
    number: options.Number = None,
    date: options.Date = None,
    drop_missing_target: options.DropMissingTarget = False,
    strict: options.Strict = False,
    spectra: options.Spectra = None,
    seed: options.Seed = 0,
    encoding: options.Encoding = "auto",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Learn a metric from a table and save it, for use by `retrieve` and whynear.load."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        check_file(out)
        with warnings_in_a_sentence(quiet=quiet), console.status(f"learn with {plain(learner)}"):
            learned = wn.learn_table(
                table,
                target,
                learner=learner,
                raw=raw,
                score=score,
                drop=drop or [],
                index=index,
                group=group,
                time=time,
                weight=weight,
                class_weight=class_weight,
                bins=bins,
                categories=categories,
                impute=impute,
                missing=missing or [],
                category=category or [],
                number=number or [],
                date=date or [],
                drop_missing_target=drop_missing_target,
                strict=strict,
                spectra=spectra,
                random_state=seed,
                encoding=encoding,
            )
            wn.save(learned.model, out)
        console.print(plain(learned.finding()), soft_wrap=True, highlight=False)
        console.print(plain(f"Saved: {out}"), soft_wrap=True, highlight=False)
        for caveat in learned.problem.caveats:
            console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}", soft_wrap=True, highlight=False)
