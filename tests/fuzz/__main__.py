"""Read mutants of good files: ``python -m tests.fuzz csv --seconds 60 --seed 0``."""

import argparse
import faulthandler
import tempfile
from pathlib import Path

from tests.fuzz.law import fuzz, limit_memory
from tests.fuzz.readers import READERS


def main():
    """Read mutants until the time is over, and print what became of them; the exit code is 1 if there are bugs."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the turn to begin with, such as that of a bug")
    parser.add_argument("--most", type=int, default=10**9, help="the number of turns")
    parser.add_argument("--folder", type=Path, help="where the mutants are written, to look at the last one")
    given = parser.parse_args()
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=given.folder is None)
        trial = READERS[given.reader](folder)
        limit_memory()
        found = fuzz(trial, given.seed, seconds=given.seconds, first=given.first, most=given.most)
    print(f"{given.reader}, seed {given.seed}: {found}", flush=True)
    raise SystemExit(bool(found.bugs))


if __name__ == "__main__":
    main()
