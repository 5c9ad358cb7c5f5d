"""Read mutants of good files: ``python -m tests.endurance.fuzz csv --seconds 60 --seed 0``, or ``all`` of them."""

import argparse
import faulthandler
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.endurance.fuzz.law import fuzz, limit_memory
from tests.endurance.fuzz.readers import READERS


def main():
    """Read mutants until the time is over, and print what became of them; the exit code is 1 if there are bugs."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.fuzz", description=__doc__)
    parser.add_argument("reader", choices=(*READERS, "all"))
    parser.add_argument("--seconds", type=float, default=60, help="the time, shared equally by all readers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="the turn to begin with, such as that of a bug")
    parser.add_argument("--most", type=int, default=10**9, help="the number of turns")
    parser.add_argument("--folder", type=Path, help="where the mutants are written, to look at the last one")
    given = parser.parse_args()
    raise SystemExit(each_in_a_process(given.seconds, given.seed) if given.reader == "all" else one(given))


def one(given):
    """Read mutants with one reader, and return 1 if there are bugs."""
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or Path(temporary)
        folder.mkdir(exist_ok=given.folder is None)
        trial = READERS[given.reader](folder)
        limit_memory()
        found = fuzz(trial, given.seed, seconds=given.seconds, first=given.first, most=given.most)
    print(f"{given.reader}, seed {given.seed}: {found}", flush=True)
    return int(bool(found.bugs))


def each_in_a_process(seconds, seed):
    """Read mutants with one reader after the other, each in a process of its own, for its memory is limited."""
    share = str(seconds / len(READERS))
    words = [sys.executable, "-W", "ignore", "-m", "tests.endurance.fuzz"]
    codes = [
        subprocess.run([*words, reader, "--seconds", share, "--seed", str(seed)], check=False).returncode
        for reader in READERS
    ]
    return int(any(codes))


if __name__ == "__main__":
    main()
