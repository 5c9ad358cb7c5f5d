"""``whynear study``: from a table to an answer, its report and what that rests on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.console import Console

import whynear
from whynear.commands.shell import errors_in_a_sentence, warnings_in_a_sentence
from whynear.commands.study_printing import StepList, print_answer, print_problem
from whynear.report.output import content
from whynear.report.result import check_folder
from whynear.report.unfinished import Unfinished


def study(
    table: Annotated[
        str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")
    ] = "breast_cancer",
    target: Annotated[str | None, typer.Option(help="The column to predict; data sets know theirs.")] = None,
    learner: Annotated[
        str, typer.Option(help="auto compares several; or grlvq, gmlvq, lmnn, lgrlvq, lgmlvq, lann.")
    ] = "auto",
    out: Annotated[Path, typer.Option(help="The folder for the report, its tables and the model.")] = Path("study"),
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    index: Annotated[str | None, typer.Option(help="The column that names the rows.")] = None,
    bins: Annotated[int | None, typer.Option(help="Sort a numeric target into so many classes of equal size.")] = None,
    categories: Annotated[
        Literal["onehot"] | None, typer.Option(help="Take columns of text as categories, told of as one column each.")
    ] = None,
    impute: Annotated[
        Literal["median", "most_frequent"] | None,
        typer.Option(help="Fill in missing values, and record it in the model."),
    ] = None,
    drop_missing_target: Annotated[
        bool, typer.Option("--drop-missing-target", help="Leave out rows without a target.")
    ] = False,
    folds: Annotated[int, typer.Option(help="Number of folds to hold out in turn.")] = 5,
    effective_dim: Annotated[
        int | None, typer.Option(help="Directions of the data that count; chosen on held-out rows without it.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same study.")] = 0,
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads; all cores without it.")] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of a text file.")] = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="Print study.json instead of the summary.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Learn a metric from a table and report which features matter."""
    console = Console(quiet=quiet or as_json)
    with errors_in_a_sentence(debug):
        check_folder(out)
        with warnings_in_a_sentence(), Unfinished(out) as unfinished, StepList(console) as steps:

            def finished(part: str, value: Any) -> None:
                if part == "problem":
                    print_problem(console, value, compares=learner == "auto")
                unfinished.keep(part, value)

            result = whynear.study(
                table,
                target,
                learner=learner,
                drop=drop or [],
                index=index,
                bins=bins,
                categories=categories,
                impute=impute,
                drop_missing_target=drop_missing_target,
                folds=folds,
                effective_dim=effective_dim,
                random_state=seed,
                n_jobs=n_jobs,
                encoding=encoding,
                progress=steps.show,
                finished=finished,
            )
            steps.show("write the report", 1.0)
            written = result.save(out)
        if as_json:
            typer.echo(json.dumps(content(result), ensure_ascii=False))
        print_answer(console, result, written)
