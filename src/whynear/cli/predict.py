"""``whynear predict``: predict the rows of a table with a saved model."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, step_bar, warnings_in_a_sentence
from whynear.utils.files import check_file
from whynear.utils.text import counted, printable

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 50  # on a terminal
CAUTIONS = {"filled_in": "missing values that were filled in", "out_of_range": "values outside the training range"}
INTERVAL = "Low to high: of the values measured in held-out rows, 90% lay within such an interval."


def predict(
    model: Annotated[Path, typer.Argument(help="The file of a saved model.")],
    table: options.Table,
    out: Annotated[
        Path | None, typer.Option(help="A CSV or Parquet file for the predictions; Parquet for tables of any size.")
    ] = None,
    index: options.Index = None,
    as_json: options.JsonNotTable = False,
    encoding: options.Encoding = "auto",
    memory: options.Memory = None,
    accuracy: Annotated[
        float | None, typer.Option(help="Accept only so many rows that at least this share of them is right: 0.99.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="The confidence of that promise.")] = 0.9,
    debug: options.Debug = False,
) -> None:
    """Predict the rows of a table with a saved model."""
    with errors_in_a_sentence(debug):
        if out is not None:
            check_file(out)
            if out.exists() and any(path.exists() and out.samefile(path) for path in (model, Path(table))):
                raise ValueError(f"{out} is an input and would be overwritten. Choose another file with --out.")
            if out.suffix.lower() == ".parquet":
                asked = {"accuracy": accuracy, "confidence": confidence}
                _to_parquet(model, table, out, index=index, encoding=encoding, memory=memory, as_json=as_json, **asked)
                return
        from whynear.data.delimited import write_csv  # here, since they import pandas
        from whynear.large.batch_prediction import is_too_large
        from whynear.study.prediction import headed_by, unusual_rows
        from whynear.utils.arrays import plain_values

        if is_too_large(table, encoding, memory):
            raise ValueError(
                f"{table} has too many rows to be predicted in memory. Write the predictions as Parquet, batch by "
                "batch: --out predictions.parquet."
            )
        with warnings_in_a_sentence():
            predicted = wn.predict_table(
                model, table, index=index, encoding=encoding, accuracy=accuracy, confidence=confidence
            )
        found = unusual_rows(predicted)
        _say(found, predicted.attrs.get("promise", ""), found["accepted_unusual"], found["accepted"])
        if out is not None:
            write_csv(headed_by(predicted, predicted.attrs["index"]), out)
            typer.echo(f"{counted(len(predicted), 'row', 'rows')} written: {printable(str(out))}", err=as_json)
        if as_json:
            rows = plain_values(predicted.to_dict("records"))
            typer.echo(json.dumps({"source": predicted.attrs["source"], "predictions": rows}, allow_nan=False))
        elif out is None:
            _show(Console(), predicted)


def _to_parquet(model: Path, table: str, out: Path, *, as_json: bool, **settings: Any) -> None:
    """Predict in batches, with a bar on the terminal."""
    if as_json:
        raise ValueError(f"--json prints all predictions, and {out} is for many. Leave out --json, or name a CSV file.")
    if Path(table).is_dir() and out.absolute().parent.samefile(table):
        raise ValueError(f"{out} would be a file of the table. Choose another folder with --out.")
    with warnings_in_a_sentence(), step_bar("read the table") as report:
        written = wn.predict_to_parquet(model, table, out, progress=report, **settings)
    _say(written.unusual, written.promise, written.n_accepted_unusual, written.n_accepted)
    typer.echo(f"{counted(written.n_rows, 'row', 'rows')} written: {printable(str(out))}")


def _say(unusual: Mapping[str, int], promise: str, n_unlike: int, n_accepted: int) -> None:
    """Print what the predictions rest on, what is promised, and for how many accepted rows it is not."""
    facts = [  # a note has named new categories
        f"{counted(unusual[kind], 'row has', 'rows have')} {what} ({kind})"
        for kind, what in CAUTIONS.items()
        if unusual.get(kind)
    ]
    caution = f"Caution: {', '.join(facts)}." if facts else ""
    rows, have = counted(n_accepted, "accepted row"), "has" if n_unlike == 1 else "have"
    beyond = f"{n_unlike:,} of {rows} {have} such values, and a promise is for rows like those of the study."
    for sentence in (caution, promise, f"Caution: {beyond}" if n_unlike else ""):
        if sentence:
            typer.echo(sentence, err=True)


def _show(console: Console, predicted: pd.DataFrame) -> None:
    table = Table(box=None)
    table.add_column(plain(predicted.attrs["index"] or "row"), justify="right", overflow="fold")
    table.add_column("predicted", overflow="fold")
    if "probability" in predicted:
        table.add_column("probability", justify="right")
    rejecting = "accepted" in predicted
    for name in ("accepted", "certainty", "reason") if rejecting else ():
        table.add_column(name, justify="right" if name == "certainty" else "left")
    ends = [name for name in ("low", "high") if name in predicted]
    for name in ends:
        table.add_column(name, justify="right")
    first = predicted.head(MOST_ROWS)
    unusual = [kind for kind in (*CAUTIONS, "unseen_category") if kind in first and (first[kind] != "").any()]
    for kind in unusual:
        table.add_column(kind.replace("_", " "), overflow="fold")
    for row in first.to_dict("records"):
        value, chance = row["predicted"], row.get("probability")
        shown = f"{value:.6g}" if isinstance(value, float) else plain(value)
        facts = [] if chance is None else [f"{chance:.3f}"]
        if rejecting:
            facts += ["yes" if row["accepted"] else "no", f"{row['certainty']:.3f}", row["reason"]]
        facts += [f"{row[name]:.6g}" for name in ends]
        table.add_row(plain(row["row"]), shown, *facts, *(plain(row[kind]) for kind in unusual))
    console.print(table)
    if ends:
        console.print(INTERVAL, highlight=False)
    if (more := len(predicted) - MOST_ROWS) > 0:
        console.print(f"and {counted(more, 'more row', 'more rows')}: --out FILE.csv writes all.", highlight=False)
