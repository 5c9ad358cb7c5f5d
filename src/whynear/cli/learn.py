"""``whynear learn``: fit a learner to a table and save it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.console import Console
from sklearn.base import BaseEstimator
from sklearn.feature_selection import VarianceThreshold
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.datasets import open_table
from whynear.learn.registry import LEARNERS
from whynear.metric import save
from whynear.tables.problem import Problem, problem_from
from whynear.utils.text import counted, listed

FOLDS = 5
LARGEST_SEED = 2**32 - 1


def learn(
    table: Annotated[str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")],
    target: Annotated[str | None, typer.Option(help="The column to predict; data sets know theirs.")] = None,
    learner: Annotated[str, typer.Option(help=f"One of {', '.join(LEARNERS)}.")] = "gmlvq",
    out: Annotated[Path, typer.Option(help="The file for the model.")] = Path("model.whynear"),
    raw: Annotated[bool, typer.Option("--raw", help="Learn from the columns as they are, not standardised.")] = False,
    score: Annotated[bool, typer.Option("--score", help="Also tell the accuracy on held-out folds.")] = False,
    drop: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")] = None,
    bins: Annotated[int | None, typer.Option(help="Sort a numeric target into so many classes of equal size.")] = None,
    categories: Annotated[Literal["onehot"] | None, typer.Option(help="Take columns of text as categories.")] = None,
    impute: Annotated[
        Literal["median", "most_frequent"] | None,
        typer.Option(help="Fill in missing values, and record it in the model."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.")] = 0,
    encoding: Annotated[str, typer.Option(help="Encoding of a text file.")] = "utf-8",
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Learn a metric from a table and save it, for `retrieve` and for whynear.load."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        check_file(out)
        if not 0 <= seed <= LARGEST_SEED:
            raise ValueError(
                f"The seed must be a whole number from 0 to {LARGEST_SEED}, got {seed} instead (--seed 0)."
            )
        if learner not in LEARNERS:
            raise ValueError(f"There is no learner {learner!r}. Use one of {', '.join(LEARNERS)} (--learner).")
        problem = problem_from(
            open_table(table, encoding), target, drop=drop or [], bins=bins, categories=categories, impute=impute
        )
        model = _model(problem, learner, raw, seed)
        with warnings_in_a_sentence(), console.status(f"learn with {learner}"):
            accuracy = _held_out(model, problem, seed) if score else ""
            save(model.fit(problem.X, problem.y), out)
        _tell(console, problem, learner, accuracy, out)


def check_file(path: Path) -> None:
    """Refuse, before anything is learned, a place where no file can be put."""
    if path.is_dir():
        raise ValueError(f"{path} must be a file, got a folder instead. Name a file in it (--out).")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"{path} cannot be written: there is no folder {path.parent}. Make the folder first.")


def _model(problem: Problem, name: str, raw: bool, seed: int) -> BaseEstimator:
    learner, numbers = LEARNERS[name](random_state=seed), problem.numbers()
    first = [] if problem.encoder is None else [problem.encoder]
    if raw:
        return make_pipeline(*first, learner) if first else learner
    varies = np.ptp(numbers.to_numpy(), axis=0) > 0
    if not varies.any():
        raise ValueError(f"{problem.source}: no column changes from row to row. Add one that differs between cases.")
    steps: list[Any] = first if varies.all() else [*first, VarianceThreshold()]
    return make_pipeline(*steps, StandardScaler(), learner)


def _held_out(model: BaseEstimator, problem: Problem, seed: int) -> str:
    folds = min(FOLDS, int(np.unique(problem.y, return_counts=True)[1].min()))
    rows = StratifiedKFold(folds, shuffle=True, random_state=seed)
    scores = cross_val_score(model, problem.X, problem.y, cv=rows, error_score="raise")
    return f"; {scores.mean():.1%} ± {scores.std():.1%} of held-out cases right ({folds} folds)"


def _tell(console: Console, problem: Problem, learner: str, accuracy: str, out: Path) -> None:
    rows, columns = counted(len(problem.X), "row", "rows"), counted(problem.X.shape[1], "column", "columns")
    classes = np.unique(problem.y).tolist()
    fact = f"{learner} learned from {problem.source}: {rows}, {columns}, {len(classes)} classes ({listed(classes)})"
    console.print(plain(f"{fact}{accuracy}."), soft_wrap=True, highlight=False)
    console.print(plain(f"Saved: {out}"), soft_wrap=True, highlight=False)
    for caveat in problem.caveats:
        console.print(f"[yellow]Caveat:[/yellow] {plain(caveat)}", soft_wrap=True, highlight=False)
