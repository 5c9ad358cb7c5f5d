"""``whynear stream``: predict each row of a stream before it is learned."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, step_bar, terminated_as_interrupted, warnings_in_a_sentence


def stream(
    table: Annotated[
        str, typer.Argument(help="A file (CSV, TSV, Parquet), a pipe, - for standard input, or the name of a data set.")
    ],
    target: options.Target = None,
    out: Annotated[Path, typer.Option(help="The folder for the results; an unfinished run in it goes on.")] = Path(
        "stream"
    ),
    drop: options.Drop = None,
    index: Annotated[
        str | None, typer.Option(help="The column with the names of the rows; a row that comes again is left out.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option("--time", help="The column with the times of the rows; 'COLUMN=%d/%m/%Y' gives their format."),
    ] = None,
    neighbors: Annotated[int, typer.Option(help="Number of remembered rows that vote.")] = 5,
    max_size: Annotated[int, typer.Option(help="The most rows to remember, for each metric.")] = 5000,
    metric: Annotated[
        Literal["guarded", "plain", "raw", "z-scores"],
        typer.Option(help="Metrics that learn along, guarded by accuracy, or one of them alone."),
    ] = "guarded",
    every: Annotated[
        int, typer.Option(help="Rows between two states on disk, from which a killed run goes on.")
    ] = 5000,
    seed: options.Seed = 0,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew where the folder holds a run.")] = False,
    encoding: options.Encoding = "auto",
    decimal: Annotated[
        Literal["auto", ".", ","],
        typer.Option(help="The sign before the decimals; auto takes the one that a number shows first."),
    ] = "auto",
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Predict each row of a stream before it is learned, and say what drifts."""
    console = Console(quiet=quiet)
    with errors_in_a_sentence(debug):
        from whynear.stream.running import run_stream  # here, since it imports pandas and matplotlib

        bar = step_bar("read", quiet=quiet)
        with terminated_as_interrupted(), warnings_in_a_sentence(quiet=quiet), bar as report:
            result = run_stream(
                table,
                target,
                out,
                drop=drop or [],
                index=index,
                time=time,
                every=every,
                overwrite=overwrite,
                encoding=encoding,
                decimal=decimal,
                progress=report,
                n_neighbors=neighbors,
                max_size=max_size,
                metric=metric,
                random_state=seed,
            )
        console.print(plain(result.finding()), style="bold")
        console.print(f"Written: {plain(out / 'report.html')} and 5 other files", highlight=False)
