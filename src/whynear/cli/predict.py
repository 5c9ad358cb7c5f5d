"""``whynear predict``: what a saved model predicts for the rows of a table."""

from __future__ import annotations

import json
from operator import methodcaller
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from whynear.cli.learn import check_file
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.cli.tables import row_names, table_from
from whynear.explain.explanation import plain as plain_value
from whynear.report.writing import csv_text
from whynear.study.saved_models import cases_for, faults_by_name, predictor_from, takes_names
from whynear.utils.files import write_whole
from whynear.utils.text import counted, printable

MOST_ROWS = 50  # on a terminal


def predict(
    model: Annotated[Path, typer.Argument(help="The file of a saved model.")],
    table: Annotated[str, typer.Argument(help="A file (CSV, TSV, Parquet, Excel) or the name of a data set.")],
    out: Annotated[Path | None, typer.Option(help="A CSV file for the predictions.")] = None,
    index: Annotated[
        str | None, typer.Option(help="The column that names the rows; they are numbered without.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of a text file.")] = "utf-8",
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Predict the rows of a table with a saved model."""
    with errors_in_a_sentence(debug):
        if out is not None:
            check_file(out)
            _check_spared(out, model, Path(table))
        with warnings_in_a_sentence():
            predictor = predictor_from(model)
            frame, source = table_from(table, encoding)
            predicted = predictions(predictor, frame, source, index)
        if out is not None:
            _write(predicted, index or "row", out)
            typer.echo(f"{counted(len(predicted), 'row', 'rows')} written: {printable(str(out))}", err=as_json)
        if as_json:
            rows = [{str(name): plain_value(value) for name, value in row.items()} for row in _records(predicted)]
            typer.echo(json.dumps({"source": source, "predictions": rows}, allow_nan=False))
        elif out is None:
            _show(Console(), predicted, index or "row")


def predictions(model: Any, frame: pd.DataFrame, source: str, index: str | None = None) -> pd.DataFrame:
    """For each row its name, what is ``predicted``, and of classes the ``probability`` of that."""
    names = row_names(frame, index, source)
    cases = cases_for(model, frame, source, index)
    X = cases if takes_names(model) else cases.to_numpy()
    with faults_by_name(model, cases, source):
        predicted = np.asarray(model.predict(X))
        columns = {"row": pd.Series(names, dtype=object), "predicted": predicted}
        if hasattr(model, "predict_proba"):
            places = pd.Index(model.classes_).get_indexer(predicted)
            columns["probability"] = model.predict_proba(X)[np.arange(len(X)), places]
    return pd.DataFrame(columns)


def _check_spared(out: Path, *inputs: Path) -> None:
    for path in inputs:
        if out.exists() and path.exists() and out.samefile(path):
            raise ValueError(f"{out} is read from and would be lost. Choose another file with --out.")


def _write(predicted: pd.DataFrame, row_name: str, out: Path) -> None:
    data = csv_text(predicted.rename(columns={"row": row_name})).encode()
    write_whole(out, methodcaller("write", data), len(data))


def _records(predicted: pd.DataFrame) -> list[dict[Any, Any]]:
    return predicted.to_dict("records")


def _show(console: Console, predicted: pd.DataFrame, row_name: str) -> None:
    table = Table(box=None)
    table.add_column(plain(row_name), justify="right", overflow="fold")
    table.add_column("predicted", overflow="fold")
    if "probability" in predicted:
        table.add_column("probability", justify="right")
    for row in _records(predicted.head(MOST_ROWS)):
        value, chance = row["predicted"], row.get("probability")
        shown = f"{value:.6g}" if isinstance(value, float) else plain(value)
        table.add_row(plain(row["row"]), shown, *([] if chance is None else [f"{chance:.3f}"]))
    console.print(table)
    if (more := len(predicted) - MOST_ROWS) > 0:
        console.print(f"and {counted(more, 'more row', 'more rows')}: --out FILE.csv writes all.", highlight=False)
