"""Cut the power at random moments: ``python -m tests.endurance.power case_base --cuts 1000 --seed 0``."""

import argparse
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from tests.endurance.power.recording import Recorder
from tests.endurance.power.trials import TRIALS, run
from tests.helpers.blank_figures import save_empty


def main():
    """Run the trials that the command line names; the first broken promise is an AssertionError."""
    parser = argparse.ArgumentParser(prog="python -m tests.endurance.power", description=__doc__)
    parser.add_argument("what", choices=(*TRIALS, "all"))
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    Figure.savefig = save_empty
    for name in TRIALS if given.what == "all" else [given.what]:
        with tempfile.TemporaryDirectory() as folder, Recorder() as recorder:
            found = run(TRIALS[name](Path(folder)), recorder, Path(folder), given.cuts, given.seed)
            print(f"{name}, seed {given.seed}: {found}", flush=True)


if __name__ == "__main__":
    main()
