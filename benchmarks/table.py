"""Measuring cases in processes of their own, and the table they fill."""

import json
import resource
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
    """CPU seconds of one call, after one that compiles and warms up."""
    work()
    start = time.process_time()
    work()
    return time.process_time() - start


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_alone(module: str, case: dict[str, Any], limit: float) -> dict[str, Any] | None:
    """Run ``python -m module CASE`` and read the JSON it prints; None when it takes longer than the limit."""
    command = [sys.executable, "-m", module, json.dumps(case)]
    try:
        run = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    return json.loads(run.stdout)


def write(name: str, title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print the table and keep it under results/."""
    widths = [max(len(line[i]) for line in (header, *rows)) for i in range(len(header))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |"
        for line in (header, ["-" * width for width in widths], *rows)
    ]
    text = "\n".join([f"# {title}", "", *lines, ""])
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / f"{name}.md").write_text(text)
    print(text)
