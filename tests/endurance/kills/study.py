"""Kills of ``whynear study`` and of the saving of a finished study, which writes and moves all files of its folder.

The processes are forked from this one, which has fitted before, so that nothing is imported or compiled again.
"""

import json
import multiprocessing
import random
import shutil
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure

import whynear as wn
from tests.endurance.kills.processes import PATIENCE, Victim, kill_at_operation
from tests.helpers.blank_figures import save_empty
from tests.helpers.fault_tables import cases, write
from whynear.cli.app import app
from whynear.report.files import RECORD, UNFINISHED, finish_moving
from whynear.study import methods
from whynear.study.settings import grouped

MOST_KILLS_IN_A_ROW = 3
N_ROWS = 60


class Work(NamedTuple):
    """Something to kill, and what it leaves undisturbed."""

    action: object  # called with a folder, and whether to replace the study in it
    files: dict[str, bytes]
    seconds: float
    n_operations: int


def run(folder, count, seed):
    """Kill studies at random moments; a folder has the older study, the new one, or none, and the next run ends well.

    Half of the kills are aimed at saving, and half of all at an operation on a file instead of a time.
    """
    rng, states, turn = random.Random(seed), Counter(), 0
    older, works = prepared(folder)
    while sum(states.values()) < count:
        turn += 1
        out, work, has_older = folder / f"out {turn}", rng.choice(works), rng.random() < 0.5
        if has_older:
            put(older, out)
        for _ in range(min(rng.randint(1, MOST_KILLS_IN_A_ROW), count - sum(states.values()))):
            if not killed(work, out, has_older, rng):
                break
            states[state(out, older if has_older else {}, work.files)] += 1
        code = Victim(fork(), quiet, work.action, out, has_older, None).ended(PATIENCE)
        assert code == 0, f"turn {turn}: after a kill the same study ends with code {code}"
        assert files_of(out) == work.files, f"turn {turn}: after a kill the same study has other files"
        shutil.rmtree(out)
    found = ", ".join(f"{number} {name}" for name, number in sorted(states.items()))
    return f"{count} kills, {turn} studies finished as if undisturbed; left in the folder: {found}"


def fork():
    return multiprocessing.get_context("fork")


def prepared(folder):
    """Return the files of an older study, and what is killed: the command, and saving a finished study."""
    table = write(folder, cases(N_ROWS), "table.csv")
    settings = {"target": "y", "learner": "grlvq", "folds": 2, "n_jobs": 1}
    finished, numeric = (
        wn.study(table, **grouped(settings)),
        wn.study(table, **grouped({**settings, "target": "size", "learner": "auto"})),
    )

    def command(out, overwrite):
        options = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
        app(["study", str(table), *options, "--quiet", f"--out={out}", *(["--overwrite"] if overwrite else [])])

    def saving(out, overwrite):
        finished.save(out, overwrite=overwrite)

    older, *_ = undisturbed(lambda out, overwrite: numeric.save(out, overwrite=overwrite), folder / "older")
    works = [Work(action, *undisturbed(action, folder / action.__name__)) for action in (command, saving)]
    assert older.keys() - works[0].files.keys(), "the studies differ in their files"
    return older, works


def undisturbed(action, out):
    """Return the files that work leaves, its seconds and its number of operations on files."""
    start = time.perf_counter()
    victim = Victim(fork(), quiet, action, out, False, None)
    n_operations = victim.heard()
    assert victim.ended(PATIENCE) == 0, f"{out.name} fails without any kill"
    seconds = time.perf_counter() - start
    for path in out.rglob("*"):
        check_whole(path)
    return files_of(out), seconds, n_operations


def quiet(action, out, overwrite, number, reports):
    """Do work until it is killed at an operation; figures are empty, and every fit is kept."""
    done = kill_at_operation(out, number)
    Figure.savefig = save_empty
    methods.WORTH_KEEPING = 0.0
    try:
        action(out, overwrite)
    finally:
        reports.send(len(done))


def killed(work, out, overwrite, rng):
    """Do work in a process, and kill it at a time or at an operation; return whether it was killed before its end."""
    at_operation = rng.random() < 0.5
    number = rng.randint(1, work.n_operations) if at_operation else None
    victim = Victim(fork(), quiet, work.action, out, overwrite, number)
    code = victim.ended(PATIENCE if at_operation else rng.uniform(0, work.seconds))
    victim.kill()
    code = victim.process.exitcode
    assert code in (0, -signal.SIGKILL), f"the study ends with code {code}"
    return code != 0


def state(out, older, new):
    """Return what a folder holds after a kill; files that are not whole, and mixtures, are refused."""
    files = {name: data for name, data in files_of(out).items() if "/" not in name}
    for path in (out / UNFINISHED).rglob("*"):
        check_whole(path)
    if RECORD in files:
        assert files in (older, new), "a mixture of two studies"
        return "the older study" if files == older else "the new study"
    if not (out / UNFINISHED / RECORD).exists():
        assert not older, "the older study is lost"
        assert not files, "files without a study"
        return "no study"
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(out, copy, dirs_exist_ok=True)
        finish_moving(Path(copy))
        moved = {name: data for name, data in files_of(Path(copy)).items() if "/" not in name}
        assert moved == new, "half of a study is taken for a whole one"
    return "the new study, partly moved"


def files_of(out):
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def put(files, out):
    out.mkdir()
    for name, data in files.items():
        (out / name).write_bytes(data)


def check_whole(path):
    """Every file that has its name is whole; one that is still being written has a name with a dot before it."""
    if path.is_dir() or path.name.startswith("."):
        return
    if path.suffix == ".whynear":
        wn.load(path)
    elif path.suffix == ".json":
        json.loads(path.read_text())
    elif path.suffix == ".csv":
        assert path.read_text().endswith("\n")
        pd.read_csv(path)
    else:
        assert path.read_text().rstrip().endswith(("</html>", "</svg>")), path
