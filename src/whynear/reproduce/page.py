"""The page that shows every table and figure with ours beside the paper's; all its numbers come from outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from whynear.reproduce import wording
from whynear.reproduce.catalog import EXPERIMENTS
from whynear.reproduce.outcome import Line, Outcome
from whynear.reproduce.plans import PAPERS, Plan

HOW = """```console
$ whynear reproduce                                 # what there is
$ whynear reproduce lann-table1 --protocol fifth    # one table; JSON and SVG go to the folder of --out
$ whynear reproduce all --n-jobs 2                  # all of it; a run that was stopped goes on where it was
$ whynear reproduce all --backend dask --address ADDRESS
```"""

ERRATA = (
    "The table of Göpfert et al. is said to come from ten-fold cross-validation. Its column of plain kNN agrees better "
    "with learning from a fifth of the cases: see the mean distances from it below both tables.",
    "The table of Gopal and Ioerger must be of raw features, which their text does not say: its Euclidean accuracy on "
    "wine is far below that of scaled ones.",
    "The text of Strickert et al. says that data are centred. Their squared norms, 7132.8 and after the projection on "
    "12 directions 758.0, come out exactly when the regression is that of spectra as they are, and only the "
    "directions are those of centred ones.",
    "The spectra are used in switched roles, as both papers say: the samples set apart for testing are learned from.",
    "Where a paper chose the effective dimension K on its test cases, so does this page. Beside the errors there stand "
    "those at the K chosen without the test cases.",
)


def page(outcomes: Sequence[Outcome], run: Mapping[str, Any], pictures: str = "") -> str:
    """Markdown; `run` tells what all cells took, and `pictures` is put before the name of each figure."""
    parts = ["# Reproduction", *_overview(outcomes, run)]
    for paper, title in PAPERS.items():
        of_paper = [found for found in outcomes if found.name.startswith(f"{paper}-")]
        if of_paper:
            parts += [f"## {title}", *(part for found in of_paper for part in _section(found, pictures))]
    return "\n\n".join(parts) + "\n"


def _overview(outcomes: Sequence[Outcome], run: Mapping[str, Any]) -> Iterator[str]:
    yield (
        "Every table and figure with results of the four papers that whynear builds on, made by "
        "`whynear reproduce all`, with published values beside ours. "
        f"The {run['cells']:,} pieces of work behind it took {run['cpu_seconds'] / 60:,.0f} minutes of CPU time; "
        "tables and figures share some of them. What is *asked* of a value is the published one less a tolerance, or a "
        "bound of our own where the paper states a conclusion without a number. A value that does not reach it falls "
        "*short*; where nothing is asked it is only shown."
    )
    rows = []
    for found in outcomes:
        short = "; ".join(dict.fromkeys(map(_named, found.short)))
        rows.append([f"[{found.name}](#{found.name})", wording.summary(found), short, f"{found.seconds:,.0f}"])
    yield _table(["table or figure", "", "falls short", "CPU s"], rows)
    yield HOW
    yield "What the papers leave out or misstate, and what follows for this page:"
    yield "\n".join(f"- {text}" for text in ERRATA)


def _named(line: Line) -> str:
    return line.row if line.column == "value" else f"{line.row}, {line.column}"


def _section(found: Outcome, pictures: str) -> Iterator[str]:
    plan = EXPERIMENTS[found.name]().plan
    yield f"### {found.name}\n\n**{plan.title}.** {plan.about}"
    if plan.stand_in is not None:
        yield f"*Cannot be had.* {wording.stand_in(plan)}"
    if found.lines:
        yield "\n\n".join(_tables(found, plan))
    yield f"![{plan.title}]({pictures}{found.name}.svg)"
    if plan.differs:
        yield "What differs, and why:\n\n" + "\n".join(f"- {text}" for text in plan.differs)


def _tables(found: Outcome, plan: Plan) -> Iterator[str]:
    """One wide table of the rows that have several columns, and a line for each other value."""
    by_row: dict[str, dict[str, Line]] = {}
    for line in found.lines:
        by_row.setdefault(line.row, {})[line.column] = line
    wide = {row: lines for row, lines in by_row.items() if len(lines) > 1}
    alone = [line for row, lines in by_row.items() if row not in wide for line in lines.values()]
    columns = list(dict.fromkeys(line.column for line in found.lines if line.row in wide))
    if wide:
        yield _table(
            [plan.rows, *(head for column in columns for head in (column, "published", "asked"))],
            [[row, *(cell for column in columns for cell in _cells(lines.get(column)))] for row, lines in wide.items()],
        )
    if alone:
        yield _long(alone, plan)


def _cells(line: Line | None) -> tuple[str, str, str]:
    if line is None:
        return "", "", ""
    short = " **short**" if line.holds is False else ""
    return wording.ours(line) + short, wording.published(line), wording.asked(line)


def _long(lines: Sequence[Line], plan: Plan) -> str:
    """A line for each value; the name of the column stands above where there is one, and in every line otherwise."""
    columns = {line.column for line in lines}
    column = columns.pop() if len(columns) == 1 else ""
    named = f"{column}, ours" if column not in ("", "value") else "ours"
    rows = [
        [
            line.row if column else _named(line),
            wording.ours(line),
            wording.published(line),
            wording.asked(line),
            wording.difference(line),
            wording.verdict(line),
        ]
        for line in lines
    ]
    return _table([plan.rows, named, "published", "asked", "difference", "holds"], rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Without the columns in which nothing stands."""
    filled = [place for place in range(len(header)) if place == 0 or any(row[place] for row in rows)]
    lines = [[line[place] for place in filled] for line in (header, ["---"] * len(header), *rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
