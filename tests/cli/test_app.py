"""The command line as a whole."""

import io
import json
import shutil
import subprocess
import sys

import pytest
import typer

import whynear
from tests.helpers.command_line import WHYNEAR, run, run_program
from whynear.cli.app import app, main

COMMANDS = ("study", "learn", "predict", "explain", "retrieve", "stream", "compare", "datasets", "studio", "reproduce")


def test_these_are_all_commands():
    assert tuple(typer.main.get_command(app).commands) == COMMANDS


def test_letters_that_a_terminal_lacks_are_replaced(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "argv", ["whynear", "compare", "温度", "where"])
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(written, encoding="latin-1", write_through=True))
    with pytest.raises(SystemExit):
        main()
    assert written.getvalue().startswith(b"Error: ??")


@pytest.mark.parametrize(("words", "code"), [(["datasets"], 0), (["compare", "no", "where"], 2), (["predict"], 2)])
def test_exit_codes_are_those_of_the_help(words, code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["whynear", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert "Traceback" not in capsys.readouterr().err


def test_the_help_shows_commands_and_exit_codes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = run("--help").stdout
    for command in COMMANDS:
        assert f" {command} " in shown
    assert "Exit codes: 0 success; 2 invalid input; 130 interrupted; 1 unexpected error" in shown
    assert "--install-completion" in shown


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_gets_a_script_that_completes_commands():
    # The last word keeps bash from leaving its place to the command, which asks what shell it was started from.
    started = ["bash", "-c", '"$@"; exit', "bash", *WHYNEAR, "--show-completion", "bash"]
    script = subprocess.run(started, capture_output=True, text=True, timeout=120)
    assert script.returncode == 0, script.stderr
    assert "complete -o default -F _whynear_completion whynear" in script.stdout
    completed = run_program(_WHYNEAR_COMPLETE="complete_bash", COMP_WORDS="whynear pre", COMP_CWORD="1")
    assert completed.stdout.split() == ["predict"]


def test_the_version_is_that_of_the_library():
    assert run("--version").stdout == f"whynear {whynear.__version__}\n"
    assert "study" in run("--help").stdout
    assert "--target" in run("study", "--help").stdout


# What the command line answers without importing the library.


HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "numba", "highspy", "joblib", "jinja2", "pynndescent"}
COMMANDS_OF_START = ("study", "learn", "predict", "explain", "retrieve", "compare", "datasets", "reproduce")

# The program, once for each command line that is given, in one process: what each said, the packages that are imported
# after it and the CPU seconds it took.
MEASURED = """
import contextlib, io, json, sys, time
found = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["whynear", *words]
    began, said = time.process_time(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), contextlib.suppress(SystemExit):
        from whynear.cli import main
        main()
    packages = sorted({name.partition(".")[0] for name in sys.modules})
    found.append((said.getvalue(), packages, time.process_time() - began))
print(json.dumps(found))
"""
WITHOUT_THE_LIBRARY = {
    "--help": "Which features truly decide",
    "--version": "whynear ",
    "studdy": "No such command 'studdy'",
    "study --lerner x": "No such option: --lerner",
    **{f"{command} --help": f"whynear {command}" for command in COMMANDS_OF_START},
}


@pytest.fixture(scope="module")
def measured():
    lines = json.dumps([words.split() for words in WITHOUT_THE_LIBRARY])
    ended = subprocess.run([sys.executable, "-c", MEASURED, lines], capture_output=True, text=True, timeout=120)
    return dict(zip(WITHOUT_THE_LIBRARY, json.loads(ended.stdout), strict=True))


@pytest.mark.parametrize("words", WITHOUT_THE_LIBRARY)
def test_help_and_typos_are_answered_without_the_library(words, measured):
    said, packages, seconds = measured[words]
    assert WITHOUT_THE_LIBRARY[words] in said
    assert not set(packages) & HEAVY
    assert seconds < 2  # 0.25 on a quiet machine; see benchmarks/results/start.md
