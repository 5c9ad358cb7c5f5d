"""The command that is suggested after a refusal, pasted and run."""

import shlex

import pandas as pd
import pytest

from tests.helpers.command_line import run
from tests.helpers.fault_tables import QUICK, cases, with_values, write
from whynear.cli.shell import suggestion
from whynear.data.refusal import TableRefused

pytestmark = pytest.mark.usefixtures("blank_figures")

DAYS = pd.date_range("2020-01-01", periods=24)
REFUSED = {
    "dates": (cases().assign(day=DAYS), [], "--date day"),
    "dates of two formats": (
        cases().assign(day=DAYS.where(DAYS.day < 13, DAYS[0]).strftime("%d/%m/%Y")),
        ["--date", "day"],
        "--date 'day=%d/%m/%Y'",
    ),
    "no dates": (cases().assign(day="2020-13-41"), ["--date", "day"], "--drop day"),
    "a stray text": (with_values("noise", {3: "broken"}), [], "--number noise"),
    "infinity": (with_values("noise", {3: float("-inf")}), [], "--missing=-inf"),
    "too large": (cases().assign(noise=1e200), [], "--drop noise"),
    "no target": (with_values("y", {3: None}), [], "--drop-missing-target"),
    "mixed percent": (cases().assign(noise=["5%", *map(str, range(23))]), [], "--drop noise"),
    "strict and text": (cases().assign(kind=["a", "b", "c"] * 8), ["--strict"], "--category kind"),
    "strict and gaps": (with_values("noise", {3: None}), ["--strict"], "--impute median"),
    "strict and names": (cases().assign(who=[f"n{i}" for i in range(24)]), ["--strict"], "--drop who"),
    "strict and ids": (cases().assign(id=range(24)), ["--strict"], "--drop id"),
    "strict and signs": (with_values("noise", {3: "?"}), ["--strict"], "--missing '?' --impute median"),
    "strict and commas": (cases().assign(noise=["1,5", "2"] * 12), ["--strict"], "--number noise"),
    "strict and latin-1": (
        cases().rename(columns={"noise": "größe"}).to_csv(index=False).encode("latin-1"),
        ["--strict"],
        "--encoding latin-1",
    ),
    "a measured target": (cases().assign(y=cases()["drift"]), ["--learner", "gmlvq"], "--bins 3"),
    "several at once": (
        with_values("y", {3: None}).assign(day=DAYS, who=[f"n{i}" for i in range(24)]),
        ["--strict"],
        "--drop-missing-target --date day --drop who",
    ),
}


def pasted(refused):
    """The command that is suggested, without the name of the program."""
    assert refused.exit_code == 2, refused.output
    _, line = refused.stderr.splitlines()
    program, *words = shlex.split(line.removeprefix("Try: "))
    assert program == "whynear"
    return words


@pytest.mark.parametrize("name", REFUSED)
def test_the_suggested_command_runs_when_it_is_pasted(tmp_path, name):
    table, words, added = REFUSED[name]
    given = ["learn", write(tmp_path, table, "my cases.csv"), "--target", "y", "--out", tmp_path / "model", *words]
    suggested = pasted(run(*given))
    assert suggested == [*map(str, given), *shlex.split(added)]
    done = run(*suggested)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "model").exists()


@pytest.mark.slow
def test_the_suggested_study_runs_when_it_is_pasted(tmp_path):
    table, words, added = REFUSED["several at once"]
    suggested = pasted(run("study", write(tmp_path, table), *QUICK, "--out", tmp_path / "out", *words))
    assert suggested[-len(shlex.split(added)) :] == shlex.split(added)
    done = run(*suggested)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").exists()


def test_nothing_is_suggested_where_nothing_works(tmp_path):
    words = [*QUICK, "--out", tmp_path / "out"]
    refused = run("study", write(tmp_path, cases().assign(y="only", day=DAYS)), *words)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert suggestion(TableRefused("no", drop=("a",))) is None
    assert suggestion(ValueError("no")) is None
