"""``whynear predict``: predict the rows of a table with a saved model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.utils.files import check_file
from whynear.utils.text import counted, printable

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 50  # on a terminal
UNUSUAL = ("filled_in", "out_of_range", "unseen_category")
CAUTIONS = {
    "filled_in": "missing values that were filled in",
    "out_of_range": "values outside the training range",
}
INTERVAL = "Low to high: of the values measured in held-out rows, 90 % lay within such an interval."


def predict(
    model: Annotated[Path, typer.Argument(help="The file of a saved model.")],
    table: options.Table,
    out: Annotated[Path | None, typer.Option(help="A CSV file for the predictions.")] = None,
    index: options.Index = None,
    as_json: options.JsonNotTable = False,
    encoding: options.Encoding = "auto",
    debug: options.Debug = False,
) -> None:
    """Predict the rows of a table with a saved model."""
    with errors_in_a_sentence(debug):
        if out is not None:
            check_file(out)
            _check_not_input(out, model, Path(table))
        with warnings_in_a_sentence():
            predicted = wn.predict_table(model, table, index=index, encoding=encoding)
        if sentence := _caution(predicted):
            typer.echo(sentence, err=True)
        if out is not None:
            _write(predicted.rename(columns={"row": predicted.attrs["index"] or "row"}), out)
            typer.echo(f"{counted(len(predicted), 'row', 'rows')} written: {printable(str(out))}", err=as_json)
        if as_json:
            typer.echo(_json(predicted))
        elif out is None:
            _show(Console(), predicted)


def _caution(predicted: pd.DataFrame) -> str:
    """Return how many predictions rest on unusual numbers; empty if none does. A note has named new categories."""
    facts = [
        f"{counted(count, 'row has', 'rows have')} {what} ({kind})"
        for kind, what in CAUTIONS.items()
        if kind in predicted and (count := int((predicted[kind] != "").sum()))
    ]
    return f"Caution: {', '.join(facts)}." if facts else ""


def _check_not_input(out: Path, *inputs: Path) -> None:
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} is an input and would be overwritten. Choose another file with --out.")


def _write(predicted: pd.DataFrame, out: Path) -> None:
    from whynear.tables.writing import write_csv

    write_csv(predicted, out)


def _json(predicted: pd.DataFrame) -> str:
    from whynear.utils.plain import plain_values

    rows = plain_values(predicted.to_dict("records"))
    return json.dumps({"source": predicted.attrs["source"], "predictions": rows}, allow_nan=False)


def _show(console: Console, predicted: pd.DataFrame) -> None:
    table = Table(box=None)
    table.add_column(plain(predicted.attrs["index"] or "row"), justify="right", overflow="fold")
    table.add_column("predicted", overflow="fold")
    if "probability" in predicted:
        table.add_column("probability", justify="right")
    ends = [name for name in ("low", "high") if name in predicted]
    for name in ends:
        table.add_column(name, justify="right")
    first = predicted.head(MOST_ROWS)
    unusual = [kind for kind in UNUSUAL if kind in first and (first[kind] != "").any()]
    for kind in unusual:
        table.add_column(kind.replace("_", " "), overflow="fold")
    for row in first.to_dict("records"):
        value, chance = row["predicted"], row.get("probability")
        shown = f"{value:.6g}" if isinstance(value, float) else plain(value)
        facts = [] if chance is None else [f"{chance:.3f}"]
        facts += [f"{row[name]:.6g}" for name in ends]
        table.add_row(plain(row["row"]), shown, *facts, *(plain(row[kind]) for kind in unusual))
    console.print(table)
    if ends:
        console.print(INTERVAL, highlight=False)
    if (more := len(predicted) - MOST_ROWS) > 0:
        console.print(f"and {counted(more, 'more row', 'more rows')}: --out FILE.csv writes all.", highlight=False)
