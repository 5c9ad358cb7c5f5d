import io
import os
import shlex
import signal
import subprocess
import time
import warnings

import pandas as pd
import pytest
import typer
from rich.console import Console
from sklearn.datasets import load_iris

import whynear
from tests.helpers.command_line import WHYNEAR, run, run_program
from tests.helpers.fault_tables import QUICK, cases, with_values, write
from whynear.cli import shell as module
from whynear.cli.shell import errors_in_a_sentence, plain, step_bar, suggestion, warnings_in_a_sentence
from whynear.data.options import TableRefused


@pytest.mark.slow
def test_debug_ends_with_a_traceback_and_code_one():
    ended = run_program("compare", "no", "where", "--debug")
    assert ended.returncode == 1, ended.stderr
    assert "Traceback" in ended.stderr


def opened_once_it_is_read(pipe, process):
    while process.poll() is None:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # nobody reads yet
            time.sleep(0.05)
    raise AssertionError(process.communicate())


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_an_interrupt_leaves_no_file_and_code_130(tmp_path):
    iris = load_iris(as_frame=True)
    whynear.save(whynear.GRLVQ(random_state=0).fit(iris.data, iris.target), tmp_path / "model")
    os.mkfifo(tmp_path / "cases.csv")
    words = ["predict", str(tmp_path / "model"), str(tmp_path / "cases.csv"), "--out", str(tmp_path / "out.csv")]
    process = subprocess.Popen([*WHYNEAR, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        writer = opened_once_it_is_read(tmp_path / "cases.csv", process)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        os.close(writer)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors.strip() == "Interrupted."
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (ValueError("one\ntwo \x1b[2J"), 2, "Error: one two \ufffd[2J\n"),
        (FileNotFoundError(2, "No such file", "a.csv"), 2, "Error: a.csv: No such file.\n"),
        (OSError(28, "No space left"), 2, "Error: No space left\n"),
        (KeyError("a"), 1, "Error: KeyError: 'a'. This was not expected: --debug shows where it happened.\n"),
        (MemoryError(), 1, "Error: MemoryError. This was not expected: --debug shows where it happened.\n"),
        (typer.Exit(7), 7, ""),
        (KeyboardInterrupt("Parts are kept."), 130, "Interrupted. Parts are kept.\n"),
        (KeyboardInterrupt(), 130, "Interrupted.\n"),
    ],
)
def test_errors_end_with_a_sentence_and_a_code(error, code, text, capsys):
    with pytest.raises(typer.Exit) as ended, errors_in_a_sentence(debug=False):
        raise error
    assert ended.value.exit_code == code
    assert capsys.readouterr().err == text


@pytest.mark.parametrize("error", [ValueError("wrong"), ZeroDivisionError("wrong")])
def test_errors_with_debug_are_raised(error):
    with pytest.raises(type(error), match="wrong"), errors_in_a_sentence(debug=True):
        raise error


def test_a_warning_is_printed_once(capsys):
    with warnings_in_a_sentence():
        for _ in range(2):
            warnings.warn("two\nlines", stacklevel=1)
    assert capsys.readouterr().err == "Note: two lines\n"
    with warnings_in_a_sentence(quiet=True):
        warnings.warn("two\nlines", stacklevel=1)
    assert capsys.readouterr().err == ""


def test_text_cannot_command_rich_or_the_terminal():
    assert plain("[red]\x1b[31m") == "\\[red]\ufffd[31m"
    assert plain(3) == "3"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_step_is_shown_on_a_terminal_and_nothing_elsewhere(monkeypatch, is_terminal):
    written = io.StringIO()
    monkeypatch.setattr(module, "Console", lambda **_: Console(file=written, force_terminal=is_terminal))
    with step_bar("read") as report:
        report("[red]fit\x1b", 0.5)
    text = written.getvalue()
    assert ("[red]fit" in text) is is_terminal
    assert "\x1b[31m" not in text  # what a table names is not taken as markup
    if not is_terminal:
        assert text == ""


def test_an_error_leaves_nothing_where_there_is_no_terminal(capsys):
    with pytest.raises(ValueError, match="bad"), step_bar("read"):
        raise ValueError("bad")
    assert capsys.readouterr() == ("", "")


# The command that is suggested after a refusal, pasted and run.


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


@pytest.mark.usefixtures("blank_figures")
@pytest.mark.parametrize("name", REFUSED)
def test_the_suggested_command_runs_when_it_is_pasted(tmp_path, name):
    table, words, added = REFUSED[name]
    given = ["learn", write(tmp_path, table, "my cases.csv"), "--target", "y", "--out", tmp_path / "model", *words]
    suggested = pasted(run(*given))
    assert suggested == [*map(str, given), *shlex.split(added)]
    done = run(*suggested)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "model").exists()


@pytest.mark.usefixtures("blank_figures")
@pytest.mark.slow
def test_the_suggested_study_runs_when_it_is_pasted(tmp_path):
    table, words, added = REFUSED["several at once"]
    suggested = pasted(run("study", write(tmp_path, table), *QUICK, "--out", tmp_path / "out", *words))
    assert suggested[-len(shlex.split(added)) :] == shlex.split(added)
    done = run(*suggested)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.usefixtures("blank_figures")
def test_nothing_is_suggested_where_nothing_works(tmp_path):
    words = [*QUICK, "--out", tmp_path / "out"]
    refused = run("study", write(tmp_path, cases().assign(y="only", day=DAYS)), *words)
    assert refused.exit_code == 2
    assert refused.stderr.count("\n") == 1
    assert suggestion(TableRefused("no", drop=("a",))) is None
    assert suggestion(ValueError("no")) is None
