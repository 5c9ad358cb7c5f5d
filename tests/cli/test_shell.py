import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import whynear
from whynear.cli.app import app, main

NAMED = "import sys; sys.argv[0] = 'whynear'; from whynear.cli.app import main; main()"
WHYNEAR = [sys.executable, "-c", NAMED]


def done(*words, **environment):
    variables = {**os.environ, **environment}
    return subprocess.run([*WHYNEAR, *words], capture_output=True, text=True, env=variables, timeout=120)


@pytest.mark.parametrize(("words", "code"), [(["datasets"], 0), (["compare", "no", "where"], 2), (["predict"], 2)])
def test_exit_codes_are_those_of_the_help(words, code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["whynear", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == code
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.slow
def test_debug_ends_with_a_traceback_and_code_one():
    ended = done("compare", "no", "where", "--debug")
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


def test_the_help_tells_commands_and_exit_codes(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    shown = CliRunner().invoke(app, ["--help"]).stdout
    for command in ("study", "learn", "predict", "explain", "retrieve", "compare", "datasets"):
        assert f" {command} " in shown
    assert "Exit codes: 0 done; 2 bad input, told in one sentence; 130 interrupted; 1 unexpected" in shown
    assert "--install-completion" in shown


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_gets_a_script_that_completes_commands():
    # The last word keeps bash from leaving its place to the command, which asks what shell it was started from.
    started = ["bash", "-c", '"$@"; exit', "bash", *WHYNEAR, "--show-completion", "bash"]
    script = subprocess.run(started, capture_output=True, text=True, timeout=120)
    assert script.returncode == 0, script.stderr
    assert "complete -o default -F _whynear_completion whynear" in script.stdout
    completed = done(_WHYNEAR_COMPLETE="complete_bash", COMP_WORDS="whynear pre", COMP_CWORD="1")
    assert completed.stdout.split() == ["predict"]
