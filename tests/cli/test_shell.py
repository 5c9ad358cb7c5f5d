import os
import signal
import subprocess
import time
import warnings

import pytest
import typer
from sklearn.datasets import load_iris

import whynear
from tests.helpers.command_line import WHYNEAR, run_program
from whynear.cli.shell import errors_in_a_sentence, plain, warnings_in_a_sentence


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
