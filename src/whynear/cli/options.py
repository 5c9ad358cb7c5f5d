"""Arguments and options that several commands share, each with one help text."""

from typing import Annotated, Literal

import typer

from whynear.study import settings
from whynear.utils import choices

Table = Annotated[
    str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel), a folder of files, or the name of a data set.")
]
Target = Annotated[str | None, typer.Option(help="The column to predict; not needed for the name of a data set.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column to leave out; can be given several times.")]
Index = Annotated[
    str | None, typer.Option(help="The column with the names of the rows; without it they are numbered from 1.")
]
Group = Annotated[
    str | None, typer.Option(help="The column with the group of each row, such as its patient, held out together.")
]
Time = Annotated[
    str | None,
    typer.Option("--time", help="The column with the time of each row; rows held out are later than all others."),
]
Weight = Annotated[str | None, typer.Option(help="The column with the weight of each row in fits and scores.")]
ClassWeight = Annotated[
    settings.ClassWeight, typer.Option(help="balanced lets all classes count alike when learners are fitted.")
]
Spectra = Annotated[
    bool | None,
    typer.Option(help="Take columns named by numbers, such as 1206nm, as a spectrum; found out without it."),
]
Bins = Annotated[int | None, typer.Option(help="Sort a numeric target into this number of classes of equal size.")]
Categories = Annotated[
    choices.Categories,
    typer.Option(help="auto takes text of few values as categories and sets other text aside; onehot takes all text."),
]
Impute = Annotated[
    choices.Impute,
    typer.Option(help="Fill in missing values; auto is the median, with an indicator where they say something."),
]
Missing = Annotated[
    list[str] | None, typer.Option(help="A value that stands for a missing one, such as '?'; can be repeated.")
]
Category = Annotated[
    list[str] | None, typer.Option(help="A column of codes that look like numbers, taken as categories.")
]
Number = Annotated[
    list[str] | None, typer.Option(help="A column taken as numbers; everything else in it counts as missing.")
]
Date = Annotated[
    list[str] | None, typer.Option(help="A column of dates, taken as days; 'COLUMN=%d/%m/%Y' gives their format.")
]
DropMissingTarget = Annotated[bool, typer.Option("--drop-missing-target", help="Leave out rows without a target.")]
Strict = Annotated[
    bool, typer.Option("--strict", help="Refuse whatever would be decided about a column automatically.")
]
Memory = Annotated[
    str | None,
    typer.Option(help="The memory to keep within, such as 2GB; half of the machine's without it."),
]
Encoding = Annotated[str, typer.Option(help="Encoding of a text file; auto finds it.")]
Seed = Annotated[
    int,
    typer.Option("--seed", "--random-state", help="random_state of Python: the same seed gives the same result."),
]
JsonNotTable = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
JsonNotTables = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Engine = Annotated[
    Literal["processes", "dask"], typer.Option(help="Where the work is done: in processes here, or by a Dask cluster.")
]
Address = Annotated[
    str | None,
    typer.Option(help="Where the scheduler of the Dask cluster is, such as tcp://host:8786; one starts here without."),
]
