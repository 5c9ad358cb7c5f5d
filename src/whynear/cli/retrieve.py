"""``whynear retrieve``: build a case base from a table, and ask it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer
from rich.console import Console
from rich.table import Table

from whynear.cases import CaseBase, Retrieval
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence
from whynear.cli.tables import features_of, named_values, payloads_of, row_of, table_from
from whynear.metric import Metric, as_metric, load
from whynear.utils.text import counted, printable


def retrieve(
    base: Annotated[Path, typer.Argument(help="The file of the case base.")],
    build: Annotated[str | None, typer.Option(help="A table whose rows to add, making the base if need be.")] = None,
    metric: Annotated[Path | None, typer.Option(help="A saved model that measures from now on.")] = None,
    payload: Annotated[
        list[str] | None,
        typer.Option(help="A column to keep beside each case; several times. All that are no features without it."),
    ] = None,
    query: Annotated[str | None, typer.Option(help="A table with the case to find others for.")] = None,
    row: Annotated[int, typer.Option(help="Its row, counted from 1 below the header.")] = 1,
    values: Annotated[str | None, typer.Option(help="The case itself: name=value,name=value,...")] = None,
    like: Annotated[int | None, typer.Option(help="The id of a stored case to find others for.")] = None,
    k: Annotated[int, typer.Option("-k", help="How many cases to show.")] = 10,
    rerank: Annotated[Path | None, typer.Option(help="A saved model that re-ranks what passed the filter.")] = None,
    filter_k: Annotated[int | None, typer.Option("--filter", help="How many pass the filter; 1 % without it.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Tell what each feature adds to a distance.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of text files.")] = "utf-8",
    debug: Annotated[bool, typer.Option("--debug", help="Show where an error came from.")] = False,
) -> None:
    """Keep cases in a file and find those near a given one."""
    console = Console()
    with errors_in_a_sentence(debug):
        _check_choices(query, values, like, rerank, filter_k)
        with warnings_in_a_sentence():
            measure = None if metric is None else as_metric(load(metric))
            if build is not None:
                added = _build(base, build, measure, payload, encoding)
                typer.echo(f"Added {counted(added, 'case', 'cases')} to {printable(str(base))}.", err=as_json)
            with CaseBase(base, measure) as opened:
                found = None
                options: dict[str, Any] = {"k": k, "filter_k": filter_k, "explain": explain, "rerank": _by(rerank)}
                if like is not None:
                    found = opened.like(like, **options)
                elif query is not None:
                    found = opened.retrieve(row_of(query, opened.columns, row, encoding), **options)
                elif values is not None:
                    found = opened.retrieve(named_values(values), **options)
                if found is None:
                    _describe(opened, as_json)
                elif as_json:
                    typer.echo(json.dumps(found.to_dict()))
                else:
                    print_found(console, found)


def _check_choices(
    query: str | None, values: str | None, like: int | None, rerank: Path | None, filter_k: int | None
) -> None:
    if sum(choice is not None for choice in (query, values, like)) > 1:
        raise ValueError("--query, --values and --like are three ways to give one case. Use one of them.")
    if filter_k is not None and rerank is None:
        raise ValueError("--filter is for what --rerank gets to see. Name a model to re-rank by, or leave it out.")


def _build(path: Path, table: str, metric: Metric | None, payload: list[str] | None, encoding: str) -> int:
    """Add the rows of a table; a base that was not there before is there only if all went well."""
    is_new = not path.exists()
    if is_new and metric is None:
        raise ValueError(f"{path} does not exist, and a new case base needs a metric: --metric MODEL.")
    frame, source = table_from(table, encoding)
    try:
        with CaseBase(path, metric) as base:
            X = features_of(frame, base.columns, source)
            return len(base.add(X, payloads_of(frame, base.columns, payload, source)))
    except BaseException:
        if is_new:
            for rest in ("", "-wal", "-shm", "-index", "-writer"):
                path.with_name(f"{path.name}{rest}").unlink(missing_ok=True)
        raise


def _by(model: Path | None) -> Any:
    """Similarity by the distance under another model, None without one."""
    if model is None:
        return None
    metric = as_metric(load(model))

    def rerank(query: pd.Series, cases: pd.DataFrame, _payloads: list[dict[str, Any]]) -> np.ndarray:
        names = list(metric.feature_names)
        known = set(names) <= set(cases.columns)
        seen, asked = (cases[names], query[names]) if known else (cases, query)
        return -metric.sq_distances(asked.to_numpy()[None], seen)[0]

    return rerank


def _describe(base: CaseBase, as_json: bool) -> None:
    facts = {"cases": len(base), "columns": list(base.columns), "metric": repr(base.metric)}
    if as_json:
        typer.echo(json.dumps(facts))
    else:
        columns = counted(len(base.columns), "column", "columns")
        typer.echo(printable(f"{base.path}: {counted(len(base), 'case', 'cases')}, {columns}, {base.metric!r}"))


MOST_FIELDS = 6
MOST_FEATURES = 6


def print_found(console: Console, found: Retrieval) -> None:
    """Print what was found, best first, and what its distances are made of where that was asked for."""
    if not len(found):
        console.print("The case base holds no other cases.")
        return
    console.print(_case_table(found))
    if found.contributions is not None:
        console.print(_contribution_table(found.contributions))
    times = f"{1e3 * found.filter_seconds:.1f} ms"
    if found.similarities is not None:
        times = f"{found.n_filtered} filtered in {times}, re-ranked in {1e3 * found.rerank_seconds:.1f} ms"
    console.print(times, style="dim", highlight=False)


def _case_table(found: Retrieval) -> Table:
    fields = list(dict.fromkeys(name for payload in found.payloads for name in payload))[:MOST_FIELDS]
    table = Table(box=None)
    for name in ("id", "sq. distance", *(["similarity"] if found.similarities is not None else [])):
        table.add_column(name, justify="right")
    for name in fields:
        table.add_column(plain(name), overflow="fold")
    for place, case in enumerate(found.ids):
        cells = [str(case), f"{found.sq_distances[place]:.4g}"]
        if found.similarities is not None:
            cells.append(f"{found.similarities[place]:.4g}")
        table.add_row(*cells, *(plain(found.payloads[place].get(name, "")) for name in fields))
    return table


def _contribution_table(contributions: pd.DataFrame) -> Table:
    """The features that add most over all cases found, and the rest in one column."""
    most = contributions.abs().sum().sort_values(ascending=False, kind="stable").index[:MOST_FEATURES]
    table = Table(title="What each feature adds to the squared distance", title_justify="left", box=None)
    table.add_column("id", justify="right")
    for name in most:
        table.add_column(plain(name), justify="right", overflow="fold")
    rest = contributions.drop(columns=most).sum(axis=1).tolist()
    if contributions.shape[1] > len(most):
        table.add_column("others", justify="right")
    for place, (case, parts) in enumerate(contributions[most].iterrows()):
        others = [f"{rest[place]:.3g}"] if contributions.shape[1] > len(most) else []
        table.add_row(str(case), *(f"{part:.3g}" for part in parts), *others)
    return table
