"""One study in one process, in two, and on a Dask cluster: the time of each, and whether its files are the same."""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import table

PLAN = table.load("engines")
HEADER = ["table", *(f"{name}, s" for name in PLAN["engines"]), "same files"]


def command(words: list[str]) -> None:
    from whynear.cli.app import app

    app(words, standalone_mode=False)


def timed(source: str, options: list[str], out: Path) -> tuple[float, str]:
    """Run one study in a process of its own; return its seconds, and a digest of what it wrote."""
    words = ["study", source, *options, "--out", str(out), "--quiet"]
    variables = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "benchmarks.engines", json.dumps(words)], check=True, env=variables)
    seconds = time.perf_counter() - start
    digest = hashlib.sha256()
    for name in PLAN["files"]:
        digest.update((out / name).read_bytes())
    return seconds, digest.hexdigest()


def measure(case: dict[str, Any]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        found = [
            timed(case["name"], [*case["options"], *options], Path(folder) / str(number))
            for number, options in enumerate(PLAN["engines"].values())
        ]
    seconds, digests = zip(*found, strict=True)
    return [case["name"], *(f"{one:.1f}" for one in seconds), "yes" if len(set(digests)) == 1 else "NO"]


def main() -> None:
    if sys.argv[1:] and sys.argv[1].startswith("["):
        command(json.loads(sys.argv[1]))
        return
    rows = table.rows_of_asked(PLAN["sets"], measure)
    table.write("engines", PLAN["title"], HEADER, rows)


if __name__ == "__main__":
    main()
