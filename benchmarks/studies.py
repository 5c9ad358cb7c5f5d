"""Whole studies: time and peak memory of the command, and its finding."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification

from benchmarks import table
from benchmarks.rivals.fit import peak_mb
from whynear.cli.app import app

PLAN = table.load("studies")


def mixed() -> pd.DataFrame:
    """A table with missing values where a number and a category determine the class, and the rest is noise."""
    rng, n = np.random.default_rng(0), 600
    size, colour = rng.standard_normal(n), rng.choice(["red", "green", "blue", "white"], n)
    warm = np.isin(colour, ["red", "white"])
    frame = pd.DataFrame(
        {
            "size": size,
            "colour": colour,
            "sex": rng.choice(["f", "m"], n),
            "weight": rng.standard_normal(n),
            "outcome": np.where(size + 2 * warm + 0.3 * rng.standard_normal(n) > 1, "yes", "no"),
        }
    )
    for name in ("size", "colour", "weight"):
        frame.loc[rng.permutation(n)[:20], name] = None
    return frame


def large() -> pd.DataFrame:
    X, y = make_classification(100_000, 40, n_informative=10, n_redundant=10, shuffle=False, random_state=0)
    return pd.DataFrame(X).add_prefix("x").assign(y=np.where(y, "sick", "healthy"))


def command(case: dict[str, Any]) -> None:
    """Run one study in this process and print its peak memory as the last line."""
    app([*case["words"], "--out", case["out"]], standalone_mode=False)
    print(json.dumps({"peak": peak_mb()}))


def measure(case: dict[str, Any]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        source = case.get("table", case["name"])
        if "generated" in case:
            source = str(Path(folder) / f"{case['generated']}.csv")
            {"mixed": mixed, "large": large}[case["generated"]]().to_csv(source, index=False)
        job = json.dumps({"words": ["study", source, *case["options"]], "out": f"{folder}/out"})
        start = time.perf_counter()
        run = subprocess.run([sys.executable, "-m", "benchmarks.studies", job], capture_output=True, text=True)
        wall = time.perf_counter() - start
        if run.returncode:
            return [case["name"], f"{wall:.0f}", "", run.stderr.strip().splitlines()[-1]]
        found = json.loads(Path(folder, "out", "study.json").read_text())
        peak = json.loads(run.stdout.splitlines()[-1])["peak"]
        return [case["name"], f"{wall:.0f}", f"{peak:.0f}", found["finding"].partition(" These can")[0]]


def main() -> None:
    if sys.argv[1:] and sys.argv[1].startswith("{"):
        command(json.loads(sys.argv[1]))
        return
    rows = table.rows_of_asked(PLAN["sets"], measure)
    header = ["table", "wall s", "peak, MB", "finding"]
    table.write("studies", PLAN["title"], header, rows)


if __name__ == "__main__":
    main()
