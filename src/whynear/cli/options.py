"""Arguments and options that several commands take, each with its one help text."""

from typing import Annotated, Literal

import typer

Table = Annotated[str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")]
Target = Annotated[str | None, typer.Option(help="The column to predict; data sets know theirs.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be given several times.")]
Index = Annotated[str | None, typer.Option(help="The column that names the rows.")]
Bins = Annotated[int | None, typer.Option(help="Sort a numeric target into so many classes of equal size.")]
Impute = Annotated[
    Literal["median", "most_frequent"] | None, typer.Option(help="Fill in missing values, and record it in the model.")
]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]
JsonNotTable = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
JsonNotTables = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error came from.")]
