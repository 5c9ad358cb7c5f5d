"""``whynear retrieve``: build a case base from a table, and find near cases in it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import whynear as wn
from whynear.cli import options
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.utils.text import counted, printable, short_number

if TYPE_CHECKING:
    import pandas as pd

MOST_FIELDS = 6
MOST_FEATURES = 6


def retrieve(
    base: Annotated[Path, typer.Argument(help="The file of the case base.")],
    build: Annotated[
        str | None, typer.Option(help="A table whose rows are added; makes a new base if there is none.")
    ] = None,
    metric: Annotated[Path | None, typer.Option(help="A saved model whose metric is used from now on.")] = None,
    payload: Annotated[
        list[str] | None,
        typer.Option(help="A column to store with each case; can be repeated. Without it, all that are not features."),
    ] = None,
    query: Annotated[str | None, typer.Option(help="A table with the case whose nearest cases are wanted.")] = None,
    row: Annotated[str, typer.Option(help="The row of that case: its number, from 1 below the header, or name.")] = "1",
    index: options.Index = None,
    values: Annotated[
        str | None, typer.Option(help="The values of the case: name=value,name=value,... (empty: missing)")
    ] = None,
    like: Annotated[str | None, typer.Option(help="The row of a stored case whose nearest cases are wanted.")] = None,
    k: Annotated[int, typer.Option("-k", help="Number of cases to show.")] = 10,
    rerank: Annotated[Path | None, typer.Option(help="A saved model that re-ranks the filtered cases.")] = None,
    filter_k: Annotated[
        int | None, typer.Option("--filter", help="Number of filtered cases; 1% of all without it.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the contribution of each feature to each distance.")
    ] = False,
    as_json: options.JsonNotTable = False,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "auto",
    debug: options.Debug = False,
) -> None:
    """Store cases in a file, and find the nearest ones to a given case."""
    with errors_in_a_sentence(debug):
        from whynear.cases import tables as cases  # here, since it imports pandas

        if sum(choice is not None for choice in (query, values, like)) > 1:
            raise ValueError("--query, --values and --like are three ways to give one case. Use one of them.")
        if filter_k is not None and rerank is None:
            raise ValueError(f"--filter {filter_k} needs --rerank. Add a model with --rerank, or leave out --filter.")
        with warnings_in_a_sentence():
            model = None if metric is None else wn.load(metric)
            if build is None and metric is None and not base.exists():
                raise FileNotFoundError(
                    f"{base} does not exist. Check the name, or make a case base (--build TABLE --metric MODEL)."
                )
            if build is not None:
                added = cases.add_table(base, build, model, payload=payload, index=index, encoding=encoding)
                typer.echo(f"Added {counted(added, 'case', 'cases')} to {printable(str(base))}.", err=as_json)
            with wn.CaseBase(base, model) as opened:
                by = None if rerank is None else cases.rerank_by(wn.load(rerank), opened.encoder)
                how: dict[str, Any] = {"k": k, "filter_k": filter_k, "explain": explain, "rerank": by}
                case: Any = None
                found = None
                if like is not None:
                    found = opened.like(opened.id_of(like), **how)
                elif query is not None:
                    case = cases.row_of(query, row, opened.columns, opened.encoder, index=index, encoding=encoding)
                    found = opened.retrieve(case, **how)
                elif values is not None:
                    empty = "" if opened.encoder is None else None  # which an encoder fills in
                    case = {name: value or empty for name, value in _named_values(values).items()}
                    found = opened.retrieve(case, **how)
                for value in [] if case is None else cases.numbers_out_of_range(opened, case):
                    name, number = printable(repr(value.column)), short_number(value.value)
                    fact = f"lies outside the range of the stored cases, {value.range}"
                    typer.echo(f"Caution: {name} = {number} {fact}.", err=True)
                if found is None:
                    _describe(opened, as_json)
                elif as_json:
                    typer.echo(json.dumps(found.to_dict()))
                else:
                    print_found(Console(), found)


def _named_values(text: str) -> dict[str, str]:
    """Return the values of a case written as name=value,name=value; a field with a comma is in double quotes."""
    values: dict[str, str] = {}
    try:
        fields = next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error as error:
        raise ValueError(f"--values must be one line of name=value,name=value, got another text ({error}).") from None
    for field in fields:
        name, sign, value = field.rpartition("=")
        hint = " Write decimals with a point, or a value with a comma in double quotes." if values else ""
        if not sign or not name.strip():
            raise ValueError(f"--values must be written as name=value,name=value, got {field!r} instead.{hint}")
        if name.strip() in values:
            raise ValueError(f"--values has {name.strip()!r} twice. Give one value for each column.")
        values[name.strip()] = value.strip()
    return values


def _describe(base: wn.CaseBase, as_json: bool) -> None:
    facts = {"cases": len(base), "columns": list(base.columns), "metric": repr(base.metric)}
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        columns = counted(len(base.columns), "column", "columns")
        typer.echo(printable(f"{base.path}: {counted(len(base), 'case', 'cases')}, {columns}, {base.metric!r}"))


def print_found(console: Console, found: wn.Retrieval) -> None:
    """Print the cases found, nearest first, and the contributions to their distances where there are any."""
    if not len(found):
        console.print("The case base contains no other cases.")
        return
    console.print(_case_table(found))
    if found.contributions is not None:
        console.print(_contribution_table(found.contributions, found.rows))
    filtering, ranking = (short_number(1e3 * seconds, 3) for seconds in (found.filter_seconds, found.rerank_seconds))
    times = f"{counted(found.n_filtered, 'case')} filtered in {filtering} ms, re-ranked in {ranking} ms"
    times = f"found in {filtering} ms" if found.similarities is None else times
    console.print(times, style="dim", highlight=False)
    filled_in = [str(value) for value in found.unusual if value.kind == "filled_in"]  # a note has named new categories
    if filled_in:
        console.print(f"Caution, the query rests on {plain(' and on '.join(filled_in))}.", highlight=False)


def _case_table(found: wn.Retrieval) -> Table:
    every = list(dict.fromkeys(name for payload in found.payloads for name in payload))
    fields = every[:MOST_FIELDS]
    table = Table(box=None)
    for name in ("row", "sq. distance", *(["similarity"] if found.similarities is not None else [])):
        table.add_column(name, justify="right")
    for name in fields:
        table.add_column(plain(name), overflow="fold")
    for place, row in enumerate(found.rows):
        cells = [plain(row), f"{found.sq_distances[place]:.4g}"]
        if found.similarities is not None:
            cells.append(f"{found.similarities[place]:.4g}")
        values = (found.payloads[place].get(name) for name in fields)
        table.add_row(*cells, *("" if value is None else plain(value) for value in values))
    if more := len(every) - len(fields):
        table.caption, table.caption_justify = f"and {counted(more, 'more field')}: --json shows all", "left"
    return table


def _contribution_table(contributions: pd.DataFrame, rows: list[Any]) -> Table:
    """The features that contribute most over all cases found, and the sum of the others in one column."""
    most = contributions.abs().sum().sort_values(ascending=False, kind="stable").index[:MOST_FEATURES]
    table = Table(title="Contributions to the squared distance", title_justify="left", box=None)
    table.add_column("row", justify="right")
    for name in most:
        table.add_column(plain(name), justify="right", overflow="fold")
    rest = contributions.drop(columns=most).sum(axis=1).tolist()
    if contributions.shape[1] > len(most):
        table.add_column("others", justify="right")
    for place, parts in enumerate(contributions[most].to_numpy()):
        others = [f"{rest[place]:z.3g}"] if contributions.shape[1] > len(most) else []
        table.add_row(plain(rows[place]), *(f"{part:z.3g}" for part in parts), *others)
    return table
