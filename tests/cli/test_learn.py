import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.pipeline import Pipeline

import whynear
from tests.helpers.command_line import run
from whynear.learn import LEARNERS


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "iris.csv"
    load_iris(as_frame=True).frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_any_learner_is_fitted_and_saved(table, tmp_path, learner):
    out = tmp_path / "model.whynear"
    result = run("learn", table, "--target", "target", "--learner", learner, "--out", out)
    assert result.exit_code == 0, result.output
    assert f"{learner} learned from iris.csv: 150 rows, 4 columns, 3 classes ('0', '1', '2').\n" in result.stdout
    assert f"Saved: {out}\n" in result.stdout
    model = whynear.load(out)
    assert isinstance(model, Pipeline)
    X = pd.read_csv(table).drop(columns="target")
    assert (model.predict(X) == pd.read_csv(table)["target"].astype(str)).mean() > 0.9


def test_raw_learns_without_a_scaler_and_a_seed_repeats(table, tmp_path):
    for name, seed in {"one": "--seed", "two": "--random-state"}.items():
        words = ["--target", "target", "--learner", "grlvq", "--raw", seed, 3, "--out", tmp_path / name]
        assert run("learn", table, *words, "--quiet").output == ""
    first, second = whynear.load(tmp_path / "one"), whynear.load(tmp_path / "two")
    assert isinstance(first, whynear.GRLVQ)
    assert first.metric_ == second.metric_


def test_score_tells_the_held_out_accuracy(table, tmp_path):
    result = run("learn", table, "--target", "target", "--learner", "gmlvq", "--score", "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    assert "of held-out cases right (5 folds)." in result.stdout


def test_constant_columns_and_what_the_library_warns_of_are_told(table, tmp_path):
    frame = pd.read_csv(table).assign(same=1.0)
    frame.to_csv(table, index=False)
    result = run("learn", table, "--target", "target", "--learner", "lann", "--out", tmp_path / "model")
    assert result.exit_code == 0, result.output
    assert "Caveat: Columns that never change" in result.stdout
    assert "Note: " in result.stderr
    assert "may be training cases" in result.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert whynear.as_metric(whynear.load(tmp_path / "model")).feature_names[-1] == "same"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.csv", "--target", "y"], "Error: nowhere.csv does not exist."),
        (["iris", "--learner", "magic"], "Error: There is no learner 'magic'. Use one of "),
        (["iris", "--seed", "-1"], "Error: The seed (random_state) must be a whole number from 0"),
        (["iris", "--out", "/"], "Error: / must be a file, got a folder"),
        (["iris", "--out", "/no/where/model"], "Error: /no/where/model cannot be written: there is no folder"),
    ],
)
def test_bad_input_gets_one_sentence_and_code_two(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run("learn", *words)
    assert result.exit_code == 2
    assert result.stderr.startswith(message)
    assert result.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_debug_shows_where_an_error_came_from():
    assert isinstance(run("learn", "irys", "--debug").exception, ValueError)


# The learner says that it has begun, so that the interrupt comes while it learns.
TELLING = """
from whynear.learn import LEARNERS
fit = LEARNERS["lmnn"].fit
LEARNERS["lmnn"].fit = lambda *words: print("begun", flush=True) or [fit(*words) for _ in range(1000)]
from whynear.cli import main
main()
"""


@pytest.mark.slow
def test_an_interrupt_leaves_no_file_and_code_130(tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.random((1000, 10))).assign(y=rng.integers(0, 3, 1000)).to_csv(tmp_path / "cases.csv", index=False)
    words = [
        "learn",
        str(tmp_path / "cases.csv"),
        "--target",
        "y",
        "--learner",
        "lmnn",
        "--out",
        str(tmp_path / "model"),
    ]
    command = [sys.executable, "-c", TELLING, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert any("begun" in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert time.monotonic() - asked < 20  # a second on a quiet machine
    assert errors.strip().endswith("Interrupted.")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("raw", [[], ["--raw"]])
def test_categories_and_gaps_are_learned_unless_it_is_strict(tmp_path, raw):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.random(40), "colour": rng.choice(["red", "blue", "green"], 40)})
    table["kind"] = np.where(table["colour"] == "red", "a", "b")
    table.loc[3, "size"] = None
    table.to_csv(tmp_path / "cases.csv", index=False)
    words = ["learn", tmp_path / "cases.csv", "--target", "kind", "--learner", "grlvq", "--out", tmp_path / "model"]
    refused = run(*words, "--strict")
    assert refused.exit_code == 2
    assert refused.stderr.endswith(f"--out {tmp_path / 'model'} --strict --category colour --impute median\n")
    result = run(*words, *raw)
    assert result.exit_code == 0, result.output
    assert "'colour' (3)" in result.stdout
    assert "1 missing value was filled in by the median" in result.stdout
    model = whynear.load(tmp_path / "model")
    assert (model.predict(table[["size", "colour"]]) == table["kind"]).mean() > 0.9
