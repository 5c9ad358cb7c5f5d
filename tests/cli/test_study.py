import io
import json
import signal
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import r2_score

import whynear
from tests.helpers.command_line import run
from tests.helpers.pages import words_of
from tests.helpers.studies import measured
from whynear.cli import study as study_printing
from whynear.cli.app import main
from whynear.study import methods


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.iloc[::5].to_csv(path, index=False)
    return path


def test_a_table_becomes_a_report(table, tmp_path):
    result = run("study", table, "--target", "target", "--learner", "grlvq", "--folds", 3, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "held-out cases right" in result.stdout
    assert "petal" in result.stdout
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"report.html", "relevance.csv", "study.json", "model.whynear", "predictions.csv", "cases.csv"} <= written


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.usefixtures("blank_figures")
def test_terminal_page_and_files_state_the_same_accuracy(table, tmp_path, monkeypatch, kind):
    if kind == "numbers":
        measured(60).rename(columns={"y": "target"}).to_csv(table, index=False)
    monkeypatch.setattr(import_module("whynear.study.settings"), "COMPARED", ("grlvq", "gmlvq"))
    monkeypatch.setenv("COLUMNS", "500")
    shown = run("study", table, "--target", "target", "--folds", 3, "--out", tmp_path).stdout
    held = json.loads((tmp_path / "study.json").read_text())
    stated = f"{held['expected']:.1%} ± {held['expected_error']:.1%} of "
    page = words_of(tmp_path / "report.html")
    assert stated in shown
    assert stated in held["finding"]
    assert page.count(stated) == 2
    predictions = pd.read_csv(tmp_path / "predictions.csv")
    if kind == "classes":
        assert (
            held["expected"] == (predictions["true"] == predictions["predicted"]).mean() == held["errors"]["accuracy"]
        )
        assert f"({held['expected']:.1%}) are predicted right" in page
    else:
        assert held["expected"] == pytest.approx(r2_score(predictions["true"], predictions["predicted"]))


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_quiet_prints_nothing(table, tmp_path):
    result = run(
        "study", table, "--target", "target", "--learner", "grlvq", "--folds", 2, "--quiet", "--out", tmp_path / "out"
    )
    assert result.exit_code == 0
    assert result.output == ""
    assert (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv", "--target", "y"], "Error: nowhere.csv does not exist."),
        (["irys"], "Error: name must be a known data set, got 'irys' instead. Did you mean 'iris'?"),
        (["iris", "--target", "nothing"], "Error: iris has no column 'nothing'."),
        (["iris", "--folds", "1"], "Error: folds=1 leaves no rows"),
        (["iris", "--seed", "-1"], "Error: The seed (random_state) must be a whole number from 0"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(words, message, tmp_path):
    result = run("study", *words, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


@pytest.fixture
def no_learning(monkeypatch):
    monkeypatch.setattr(whynear, "study", lambda *_, **__: pytest.fail("learned before looking at the folder"))


def test_a_file_in_the_way_is_found_before_learning(table, tmp_path, no_learning):
    (tmp_path / "out").write_text("in the way")
    for folder in (tmp_path / "out", tmp_path / "out" / "deeper"):
        result = run("study", table, "--target", "target", "--out", folder)
        assert result.exit_code == 2
        way_out = "is in the way: it is not a folder. Choose another folder with --out."
        assert result.stderr == f"Error: {tmp_path / 'out'} {way_out}\n"
    assert (tmp_path / "out").read_text() == "in the way"


def test_a_folder_in_place_of_a_file_is_found_before_learning(table, tmp_path, no_learning):
    (tmp_path / "out" / "report.html").mkdir(parents=True)
    result = run("study", table, "--target", "target", "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr.endswith("report.html is in the way: it is a folder. Choose another folder with --out.\n")


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_another_study_in_the_folder_is_refused_before_learning_and_replaced_on_request(table, tmp_path, monkeypatch):
    words = ["study", table, "--target", "target", "--folds", 2, "--out", tmp_path / "out", "--learner"]
    for _ in range(2):  # the same study is made again without a word
        assert run(*words, "grlvq").exit_code == 0
    flow = import_module("whynear.doors")
    with monkeypatch.context() as patch:
        patch.setattr(flow, "studied", lambda *_: pytest.fail("learned before looking at the folder"))
        refused = run(*words, "gmlvq")
    assert refused.exit_code == 2
    held = "holds another study: of iris.csv, target='target', learner='grlvq', folds=2. "
    way_out = "Choose another folder (--out), or replace that study (--overwrite; in Python overwrite=True).\n"
    assert refused.stderr == f"Error: {tmp_path / 'out'} {held}{way_out}"
    assert json.loads((tmp_path / "out" / "study.json").read_text())["chosen"] == "grlvq"
    assert run(*words, "gmlvq", "--overwrite").exit_code == 0
    held = json.loads((tmp_path / "out" / "study.json").read_text())
    assert held["chosen"] == "gmlvq"
    assert sorted(held["files"]) == sorted(path.name for path in (tmp_path / "out").iterdir())


def test_a_table_is_not_replaced_by_a_file_of_its_study(table, tmp_path):
    (tmp_path / "cases.csv").write_bytes(table.read_bytes())
    result = run("study", tmp_path / "cases.csv", "--target", "target", "--out", tmp_path)
    assert result.exit_code == 2
    assert "has a file cases.csv, which belongs to no study and would be replaced. " in result.stderr
    assert (tmp_path / "cases.csv").read_bytes() == table.read_bytes()


def test_a_folder_without_permission_is_found_before_learning(table, tmp_path, no_learning, monkeypatch):
    def refuse(dir):
        raise PermissionError(13, "Permission denied", str(dir))

    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)  # the superuser may write anywhere
    result = run("study", table, "--target", "target", "--out", tmp_path / "new" / "out")
    assert result.exit_code == 2
    fact = "cannot be written into (Permission denied). Choose another folder with --out."
    assert result.stderr == f"Error: {tmp_path} {fact}\n"
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.parametrize("encoding", ["ascii", pytest.param("latin-1", marks=pytest.mark.slow)])
@pytest.mark.usefixtures("blank_figures")
def test_any_encoding_of_the_terminal_will_do(tmp_path, encoding, monkeypatch):
    path = tmp_path / "cases.csv"
    rows = "".join(f"{i % 7},{i * i % 11},{i % 2}\n" for i in range(40))
    path.write_text(f"温度,\x1b[31mred,y\n{rows}", encoding="utf-8")
    words = ["study", str(path), "--target", "y", "--learner", "grlvq", "--folds", "2", "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["whynear", *words])
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True))
    with pytest.raises(SystemExit) as ended:
        main()
    shown, errors = sys.stdout.buffer.getvalue(), sys.stderr.buffer.getvalue()
    assert (ended.value.code, errors) == (0, b"")
    assert b"?[31mred" in shown
    assert b" #" in shown
    assert b"Written" in shown


@pytest.mark.usefixtures("blank_figures")
def test_names_cannot_command_the_terminal(tmp_path):
    path = tmp_path / "odd\x1b[2J.csv"
    path.write_text("a\x1b[31m,y\n" + "1,u\n2,v\n" * 20)
    studied = run("study", path, "--target", "y", "--learner", "grlvq", "--folds", 2, "--out", tmp_path / "o\x07ut")
    assert studied.exit_code == 0, studied.output
    refused = run("study", path, "--target", "z")
    assert refused.exit_code == 2
    assert not set(studied.output + refused.output) & set("\x1b\x07")


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_what_goes_wrong_while_printing_is_a_sentence_too(table, tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(study_printing, "relevance_table", full)
    result = run("study", table, "--target", "target", "--learner", "grlvq", "--folds", 2, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert result.stderr == "Error: No space left on device\n"


def test_debug_shows_where_an_error_came_from():
    result = run("study", "irys", "--debug")
    assert isinstance(result.exception, ValueError)


def test_the_command_is_imported_without_the_libraries_that_learn_and_draw():
    heavy = "numpy", "pandas", "sklearn", "scipy", "numba", "matplotlib", "jinja2"
    code = f"import sys, whynear.cli.study; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.usefixtures("blank_figures")
def test_json_is_what_study_json_holds(table, tmp_path):
    words = ["--target", "target", "--learner", "grlvq", "--folds", 2, "--json", "--out", tmp_path / "out"]
    result = run("study", table, *words)
    assert json.loads(result.stdout) == json.loads((tmp_path / "out" / "study.json").read_text())


# The study tells each step on a line of its own, so that the interrupt comes while it learns.
TELLING = """
import whynear
study = whynear.study
def studied(*words, progress, **options):
    progress.step = lambda step, share: print(step, flush=True)
    return study(*words, progress=progress, **options)
whynear.study = studied
from whynear.cli import main
main()
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_half_file_and_code_130(tmp_path):
    rng = np.random.default_rng(0)
    cases = pd.DataFrame(rng.random((2000, 20))).assign(y=rng.integers(0, 3, 2000))
    cases.to_csv(tmp_path / "cases.csv", index=False)
    words = ["study", str(tmp_path / "cases.csv"), "--target", "y", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", TELLING, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert any("read the table" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - asked < 20  # a second on a quiet machine
    assert errors.strip() == "Interrupted."
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_study_stopped_in_a_fold_goes_on_with_the_same_command(tmp_path):
    rng = np.random.default_rng(0)
    cases = pd.DataFrame(rng.random((300, 4))).assign(y=rng.integers(0, 2, 300))
    cases.to_csv(tmp_path / "cases.csv", index=False)
    keeping_all = "from whynear.study import methods; methods.WORTH_KEEPING = 0.0"
    settings = ["--target", "y", "--learner", "lann", "--folds", "8", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", keeping_all + TELLING, "study", str(tmp_path / "cases.csv"), *settings]
    kept = tmp_path / "out" / "unfinished"

    def fits():
        return {path: path.stat().st_mtime_ns for path in kept.glob("fits/*.whynear")}

    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert any("compare learners" in line and fits() for line in process.stdout)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.startswith(f"Interrupted. The finished parts are in {kept}: fits")
    assert errors.endswith(". The same command goes on from there.\n")
    first = fits()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert any("compare learners" in line and fits().items() > first.items() for line in process.stdout)  # none again
    assert process.communicate(timeout=600)
    assert process.returncode == 0
    assert not kept.exists()


@pytest.mark.slow
@pytest.mark.usefixtures("blank_figures")
def test_an_interrupt_leaves_the_finished_parts(table, tmp_path, monkeypatch):
    study = whynear.study

    def interrupt(step, share):
        if "bound the relevance of every feature" in step:
            raise KeyboardInterrupt

    def interrupted(*words, progress, **options):
        return study(*words, progress=SimpleNamespace(step=interrupt, finished=progress.finished), **options)

    words = ["study", table, "--target", "target", "--learner", "grlvq", "--folds", 2, "--out", tmp_path / "out"]
    with monkeypatch.context() as patch:
        patch.setattr(whynear, "study", interrupted)
        patch.setattr(methods, "WORTH_KEEPING", 1000.0)  # no fit is
        stopped = run(*words)
    assert stopped.exit_code == 130
    kept = tmp_path / "out" / "unfinished"
    names = ["model.whynear", "predictions.csv", "scores.csv"]
    assert stopped.stderr.strip() == f"Interrupted. The finished parts are in {kept}: {', '.join(names)}."
    assert sorted(path.name for path in kept.iterdir()) == names
    assert len(pd.read_csv(kept / "predictions.csv")) == 30
    assert whynear.load(kept / "model.whynear").predict(pd.read_csv(table).drop(columns="target")).shape == (30,)
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert not kept.exists()


def test_the_terminal_says_how_many_features_its_table_leaves_out(tmp_path):
    frame = measured(40).rename(columns={"y": "target"})
    frame = frame.assign(**{f"noise {place}": np.random.default_rng(place).normal(size=40) for place in range(12)})
    frame.to_csv(tmp_path / "cases.csv", index=False)
    more = len(frame.columns) - 1 - study_printing.MOST_FEATURES
    result = run("study", tmp_path / "cases.csv", "--target", "target", "--folds", 2, "--out", tmp_path / "out")
    assert f"and {more} more features: relevance.csv has all." in result.stdout, result.output


def test_no_loss_of_nothing_has_a_sign():
    row = {"feature": ["a"], "verdict": ["replaceable"], "loss_without": [-0.01], "loss_error": [0.0]}
    frame = pd.DataFrame({**row, "lower": [0.0], "upper": [1.0]})
    shown = study_printing.relevance_table(frame, "per standard deviation", ascii_only=True)
    assert list(shown.columns[2].cells) == ["0.0 ± 0.0"]


def test_the_units_of_the_relevance_are_those_of_the_study():
    numbers = {name: [1.0] for name in ("loss_without", "loss_error", "lower", "upper")}
    frame = pd.DataFrame({"feature": ["a"], "verdict": ["replaceable"], **numbers})
    for units in ("per standard deviation", "per scaled unit"):
        shown = study_printing.relevance_table(frame, units, ascii_only=True)
        assert shown.title == f"Features, those of the smallest set first (weights {units})"
