"""The page that shows every table and figure with ours beside the paper's; all its numbers come from outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    "The table of Göpfert et al. is said to come from ten-fold cross-validation. Its column of plain kNN agrees with "
    "learning from about one fifth of the cases, so both protocols are shown, with published values beside the first.",
    "The table of Gopal and Ioerger is of raw features, which their text does not say.",
    "The spectra are used in switched roles: the samples set apart for testing are learned from. The squared norm of "
    "7132.8 belongs to spectra that are not centred, projected on directions of centred ones.",
    "Where a paper chose a parameter on its test cases, so does this page, and says so; the choice without them stands "
    "beside it.",
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
        "Every table and figure of the four papers that whynear builds on, made by `whynear reproduce all`, with "
        "published values beside ours. "
        f"The {run['cells']:,} cells of what is shown took {run['cpu_seconds'] / 60:,.0f} minutes of CPU time; tables "
        "and figures share some of them. A value *holds* where it is as good as what is asked of it: the published "
        "value less a tolerance, or a bound where the paper states a conclusion without a number. Where it does not, "
        "the page says so."
    )
    rows = []
    for found in outcomes:
        short = "; ".join(dict.fromkeys(f"{line.row}, {line.column}" for line in found.short))
        rows.append([f"[{found.name}](#{found.name})", wording.summary(found), short, f"{found.seconds:,.0f}"])
    yield _table(["table or figure", "", "falls short", "CPU s"], rows)
    yield HOW
    yield "What the papers leave out or misstate, and what follows for this page:"
    yield "\n".join(f"- {text}" for text in ERRATA)


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
    """One wide table where rows have several columns, otherwise a line for each value."""
    by_row: dict[str, dict[str, Line]] = {}
    for line in found.lines:
        by_row.setdefault(line.row, {})[line.column] = line
    wide = {row: lines for row, lines in by_row.items() if len(lines) > 1}
    alone = [line for row, lines in by_row.items() if row not in wide for line in lines.values()]
    columns = list(dict.fromkeys(line.column for line in found.lines if line.row in wide))
    header = [plan.rows]
    for column in columns:
        header += [column, "published"] if wording.is_measured(found, column) else [column]
    if wide:
        yield _table(header, [[row, *_cells(found, columns, lines)] for row, lines in wide.items()])
    if alone:
        yield _long(alone, plan)


def _cells(found: Outcome, columns: Iterable[str], lines: dict[str, Line]) -> Iterator[str]:
    for column in columns:
        line = lines.get(column)
        text = "" if line is None else wording.ours(line)
        yield f"{text} **short**" if line is not None and line.holds is False else text
        if wording.is_measured(found, column):
            yield "" if line is None else wording.published(line)


def _long(lines: Sequence[Line], plan: Plan) -> str:
    is_one = len({line.column for line in lines}) == 1
    rows = [
        [
            line.row if is_one else f"{line.row}, {line.column}",
            wording.ours(line),
            wording.published(line),
            wording.difference(line),
            wording.verdict(line),
        ]
        for line in lines
    ]
    return _table([plan.rows, "ours", "published, or asked", "difference", "holds"], rows)


def _table(header: list[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
