"""The page that shows every table and figure with ours beside the paper's; all its numbers come from outcomes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from whynear.reproduce import wording
from whynear.reproduce.catalog import EXPERIMENTS
from whynear.reproduce.outcome import Line, Outcome
from whynear.reproduce.plans import PAPERS, Plan


def page(outcomes: Sequence[Outcome], pictures: str = "") -> str:
    """Markdown; `pictures` is put before the name of each figure."""
    parts = ["# Reproduction", *_overview(outcomes)]
    for paper, title in PAPERS.items():
        of_paper = [found for found in outcomes if found.name.startswith(f"{paper}-")]
        if of_paper:
            parts += [f"## {title}", *(part for found in of_paper for part in _section(found, pictures))]
    return "\n\n".join(parts) + "\n"


def _overview(outcomes: Sequence[Outcome]) -> Iterator[str]:
    minutes = sum(found.seconds for found in outcomes) / 60
    yield (
        "Every table and figure of the four papers, made by `whynear reproduce all`: published values beside ours. "
        f"What is shown took {minutes:,.0f} minutes of CPU time, cells that several share counted for each. A value "
        "*holds* where it is as good as what is asked of it: the published value less a tolerance, or a bound where "
        "the paper states a conclusion without a number."
    )
    rows = []
    for found in outcomes:
        short = ", ".join(dict.fromkeys(f"{line.row}, {line.column}" for line in found.short))
        rows.append([f"[{found.name}](#{found.name})", wording.summary(found), short, f"{found.seconds:,.0f}"])
    yield _table(["table or figure", "", "falls short", "CPU s"], rows)


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
    columns = list(dict.fromkeys(line.column for line in found.lines))
    if len(columns) == 1:
        yield _long(found.lines, plan, columns[0])
        return
    by_row: dict[str, dict[str, Line]] = {}
    for line in found.lines:
        by_row.setdefault(line.row, {})[line.column] = line
    alone = [line for lines in by_row.values() if len(lines) == 1 for line in lines.values()]
    header = [plan.rows]
    for column in columns:
        header += [column, "published"] if wording.is_measured(found, column) else [column]
    rows = [[row, *_cells(found, columns, lines)] for row, lines in by_row.items() if len(lines) > 1]
    yield _table(header, rows)
    if alone:
        yield _long(alone, plan, "")


def _cells(found: Outcome, columns: Iterable[str], lines: dict[str, Line]) -> Iterator[str]:
    for column in columns:
        line = lines.get(column)
        text = "" if line is None else wording.ours(line)
        yield f"{text} **short**" if line is not None and line.holds is False else text
        if wording.is_measured(found, column):
            yield "" if line is None else wording.published(line)


def _long(lines: Iterable[Line], plan: Plan, column: str) -> str:
    rows = [
        [line.row, wording.ours(line), wording.published(line), wording.difference(line), wording.verdict(line)]
        for line in lines
    ]
    return _table([plan.rows or column, "ours", "published, or asked", "difference", "holds"], rows)


def _table(header: list[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
