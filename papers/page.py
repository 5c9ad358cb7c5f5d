"""The page with every table and figure, published values and ours; all numbers come from outcomes."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from papers import wording
from papers.catalog import EXPERIMENTS
from papers.outcome import Line, Outcome
from papers.plans import PAPERS, Plan
from whynear.utils.files import write_data

RUN = "run.json"
HOW = """```console
$ whynear reproduce                                 # list the tables and figures
$ whynear reproduce lann-table1 --protocol fifth    # one table; JSON and SVG are written to the folder of --out
$ whynear reproduce all --n-jobs 2                  # everything; the same command resumes an interrupted run
$ whynear reproduce all --engine dask --address ADDRESS
```

They need the folder `papers` of the repository, which is not part of the installed package: run them in a copy of the
repository. The scheduler and the workers of a cluster need it too; start them in a copy with `PYTHONPATH=.`, such as
`PYTHONPATH=. dask scheduler`."""

ERRATA = (
    "According to the text of Göpfert et al., their table comes from ten-fold cross-validation. Its column for plain "
    "kNN agrees better with kNN fitted to a fifth of the rows: compare the mean distances below both tables.",
    "The table of Gopal and Ioerger must come from unscaled features, which their text does not say: its accuracy for "
    "Euclidean distance on wine is far below that on scaled features.",
    "According to the text of Strickert et al., the data are centred. Their squared norms, 7132.8 and, after the "
    "projection onto 12 directions, 758.0, are obtained exactly if the regression uses spectra without centring and "
    "only the directions are those of centred spectra.",
    "As in both papers, the training and test sets of the spectra are exchanged: the test samples are used for "
    "training.",
    "Where a paper chose the effective dimension K by the error on the test rows, this page does the same. It also "
    "shows the errors at a K chosen without the test rows.",
)


def page(outcomes: Sequence[Outcome], run: Mapping[str, Any], pictures: str = "") -> str:
    """The page as Markdown.

    `run` has the number of cells and their CPU time, and `pictures` is put before the file name of each figure.
    """
    parts = ["# Reproduction", *_overview(outcomes, run)]
    for paper, title in PAPERS.items():
        of_paper = [outcome for outcome in outcomes if outcome.name.startswith(f"{paper}-")]
        if of_paper:
            parts += [f"## {title}", *(part for outcome in of_paper for part in _section(outcome, pictures))]
    return "\n\n".join(parts) + "\n"


def write_page(folder: Path, path: Path) -> None:
    """Write the page about all outcomes in a folder; paths of figures are relative to the page."""
    pictures = "" if path.parent == folder else f"{folder.relative_to(path.parent).as_posix()}/"
    run = json.loads((folder / RUN).read_text(encoding="utf-8"))
    write_data(path, page(known_outcomes(folder), run, pictures))


def known_outcomes(folder: Path) -> list[Outcome]:
    """The outcomes in a folder, in the order of `EXPERIMENTS`, without missing and damaged files."""
    outcomes = []
    for name in EXPERIMENTS:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            outcomes.append(Outcome.from_dict(json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))))
    return outcomes


def _overview(outcomes: Sequence[Outcome], run: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "All tables and figures with results in the four papers that whynear builds on, computed by "
        "`whynear reproduce all`, with the published values and ours. "
        f"The {run['cells']:,} computations took {run['cpu_seconds'] / 60:,.0f} minutes of CPU time; "
        "tables and figures share some of them. The *criterion* of a value is the published value with a tolerance, or "
        "a bound that we chose where the paper gives a conclusion without a number. Values without a criterion are "
        "only shown."
    )
    rows = []
    for outcome in outcomes:
        missed = "; ".join(dict.fromkeys(map(_named, outcome.missed)))
        rows.append([f"[{outcome.name}](#{outcome.name})", wording.summary(outcome), missed, f"{outcome.seconds:,.0f}"])
    yield _table(["table or figure", "criteria", "not met", "CPU s"], rows)
    yield HOW
    yield "Details that the papers omit or state incorrectly, and how this page treats them:"
    yield "\n".join(f"- {text}" for text in ERRATA)


def _named(line: Line) -> str:
    return line.row if line.column == "value" else f"{line.row}, {line.column}"


def _section(outcome: Outcome, pictures: str) -> Iterator[str]:
    plan = EXPERIMENTS[outcome.name]().plan
    yield f"### {outcome.name}\n\n**{plan.title}.** {plan.about}"
    if plan.substitute is not None:
        yield f"*Data not available.* {wording.substitute(plan)}"
    if outcome.lines:
        yield "\n\n".join(_tables(outcome, plan))
    yield f"![{plan.title}]({pictures}{outcome.name}.svg)"
    if plan.differences:
        yield "Differences from the paper:\n\n" + "\n".join(f"- {text}" for text in plan.differences)


def _tables(outcome: Outcome, plan: Plan) -> Iterator[str]:
    """One wide table of the rows with several columns, and one table with a line for each other value."""
    by_row: dict[str, dict[str, Line]] = {}
    for line in outcome.lines:
        by_row.setdefault(line.row, {})[line.column] = line
    wide = {row: lines for row, lines in by_row.items() if len(lines) > 1}
    alone = [line for row, lines in by_row.items() if row not in wide for line in lines.values()]
    columns = list(dict.fromkeys(line.column for line in outcome.lines if line.row in wide))
    if wide:
        yield _table(
            [plan.rows, *(head for column in columns for head in (column, "published", "criterion"))],
            [[row, *(cell for column in columns for cell in _cells(lines.get(column)))] for row, lines in wide.items()],
        )
    if alone:
        yield _long(alone, plan)


def _cells(line: Line | None) -> tuple[str, str, str]:
    if line is None:
        return "", "", ""
    mark = " **(not met)**" if line.met is False else ""
    return wording.ours(line) + mark, wording.published(line), wording.criterion(line)


def _long(lines: Sequence[Line], plan: Plan) -> str:
    """A line for each value; the name of the column is in the header if there is only one, otherwise in every line."""
    columns = {line.column for line in lines}
    column = columns.pop() if len(columns) == 1 else ""
    named = f"{column}, ours" if column not in ("", "value") else "ours"
    rows = [
        [
            line.row if column else _named(line),
            wording.ours(line),
            wording.published(line),
            wording.criterion(line),
            wording.difference(line),
            wording.met(line),
        ]
        for line in lines
    ]
    return _table([plan.rows, named, "published", "criterion", "difference", "met"], rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table without its empty columns."""
    filled = [place for place in range(len(header)) if place == 0 or any(row[place] for row in rows)]
    lines = [[line[place] for place in filled] for line in (header, ["---"] * len(header), *rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
