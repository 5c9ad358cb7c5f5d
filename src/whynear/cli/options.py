"""Arguments and options that several commands share, each with one help text."""

from typing import Annotated, Literal

import typer

Table = Annotated[str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")]
Target = Annotated[str | None, typer.Option(help="The column to predict; not needed for the name of a data set.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; can be given several times.")]
Index = Annotated[
    str | None, typer.Option(help="The column with the names of the rows; without it they are numbered from 1.")
]
Bins = Annotated[int | None, typer.Option(help="Sort a numeric target into this number of classes of equal size.")]
Impute = Annotated[
    Literal["median", "most_frequent"] | None, typer.Option(help="Fill in missing values; the model does the same.")
]
Seed = Annotated[
    int,
    typer.Option("--seed", "--random-state", help="random_state of Python: the same seed gives the same result."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]
JsonNotTable = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
JsonNotTables = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
