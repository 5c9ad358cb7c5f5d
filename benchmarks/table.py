"""Measure cases in separate processes, and write the results as a table."""

import json
import re
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def load(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text())


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the second call; the first one compiles."""
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def run_alone(module: str, case: dict[str, Any], limit: float) -> dict[str, Any] | None:
    """Run ``python -m module CASE`` and read the JSON that it prints; None if it takes longer than the limit."""
    try:
        return read_json([sys.executable, "-m", module, json.dumps(case)], limit)
    except subprocess.TimeoutExpired:
        return None


def read_json(command: Sequence[str | Path], limit: float | None = None) -> dict[str, Any]:
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=limit)
    return json.loads(run.stdout)


def rows_of_asked(cases: Sequence[dict[str, Any]], measure: Callable[[dict[str, Any]], list[str]]) -> list[list[str]]:
    """Measure the cases that are named on the command line, all without names, and print each row when it is there."""
    rows = []
    for case in cases:
        if not sys.argv[1:] or case["name"] in sys.argv[1:]:
            rows.append(measure(case))
            print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    return rows


def as_text(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (header, ["-" * width for width in widths], *rows)
    ]
    return "\n".join([f"# {title}", "", *lines, ""])


def write(
    name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, keep_others: bool = False
) -> None:
    """Print the table and write it to results/; with `keep_others`, the other tables of the file stay."""
    text = as_text(title, header, rows)
    path = _results(name)
    path.parent.mkdir(exist_ok=True)
    tables = _tables(name) if keep_others else {}
    tables[f"# {title}"] = text
    path.write_text("\n".join(tables.values()))
    print(text)


def last_row(name: str, title: str, header: Sequence[str]) -> list[str] | None:
    """The cells of the last row of a written table; None if there is no table of this title and header."""
    lines = _tables(name).get(f"# {title}", "").splitlines()[2:]  # after the title and an empty line
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return rows[-1] if rows and rows[0] == list(header) else None


def _results(name: str) -> Path:
    return HERE / "results" / f"{name}.md"


def _tables(name: str) -> dict[str, str]:
    """The text of each written table, by its heading."""
    old = _results(name).read_text() if _results(name).exists() else ""
    return {part.partition("\n")[0]: part.strip() + "\n" for part in re.split(r"^(?=# )", old, flags=re.M) if part}
