"""Kill processes at random moments: ``python -m tests.endurance.kills case_base --kills 1000 --seed 0``."""

import argparse
import tempfile
from pathlib import Path

from tests.endurance.kills import case_base, stream, studio, study

WHAT = {"case_base": case_base.run, "study": study.run, "stream": stream.run, "studio": studio.run}


def main():
    """Run the kills that the command line names; the first broken promise is an AssertionError."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.kills", description=__doc__)
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{given.what}, seed {given.seed}:", WHAT[given.what](Path(folder), given.kills, given.seed), flush=True)


if __name__ == "__main__":
    main()
