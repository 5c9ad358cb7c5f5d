import signal
import subprocess
import sys
import time

import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import whynear
from whynear.cli import app


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def test_a_table_becomes_a_report(table, tmp_path):
    result = run("study", table, "--target", "target", "--folds", 3, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "held-out cases right" in result.stdout
    assert "petal" in result.stdout
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"report.html", "relevance.csv"}


def test_quiet_prints_nothing(table, tmp_path):
    result = run("study", table, "--target", "target", "--folds", 2, "--quiet", "--out", tmp_path / "out")
    assert result.exit_code == 0
    assert result.output == ""
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv", "--target", "y"], "Error: nowhere.csv does not exist."),
        (["irys"], "Error: name must be a known data set, got 'irys' instead. Did you mean 'iris'?"),
        (["iris", "--target", "nothing"], "Error: iris has no column 'nothing'."),
        (["iris", "--folds", "1"], "Error: folds=1 leaves nothing"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(words, message, tmp_path):
    result = run("study", *words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_named(table, tmp_path):
    (tmp_path / "out").write_text("in the way")
    result = run("study", table, "--target", "target", "--folds", 2, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == f"Error: {tmp_path / 'out'}: File exists.\n"
    assert (tmp_path / "out").read_text() == "in the way"


def test_debug_shows_where_an_error_came_from():
    result = run("study", "irys", "--debug")
    assert isinstance(result.exception, ValueError)


def test_version_and_help():
    assert run("--version").stdout == f"whynear {whynear.__version__}\n"
    assert "study" in run("--help").stdout
    assert "--target" in run("study", "--help").stdout


def test_an_interrupt_leaves_no_half_file_and_code_130(tmp_path):
    command = [sys.executable, "-c", "from whynear.cli import main; main()", "study", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(8)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - asked < 2
    assert errors.strip() == "Interrupted."
    assert not (tmp_path / "out").exists()
