"""Tables larger than memory, as the commands take them."""

import json
import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.helpers.command_line import run
from tests.helpers.large_tables import messy_table, small_memory
from whynear.large import beyond_memory as problem


@pytest.fixture
def folder(tmp_path):
    """A folder of three Parquet files with four row groups each."""
    (tmp_path / "visits").mkdir()
    frame = messy_table()[["size", "gap", "colour", "kind"]]
    for number, rows in enumerate((frame[:200], frame[200:400], frame[400:]), start=1):
        rows.to_parquet(tmp_path / "visits" / f"part-{number}.parquet", index=False, row_group_size=50)
    return tmp_path / "visits"


def study(folder, *words):
    return run(
        "study", folder, "--target", "kind", "--learner", "grlvq", "--folds", 2, "--out", folder / "../out", *words
    )


def test_the_preview_is_that_of_all_rows(folder, monkeypatch):
    small_memory(monkeypatch, 300)
    result = study(folder, "--memory", "2GB")
    assert result.exit_code == 0, result.output
    said = " ".join(result.stdout.split())
    assert "visits/: 600 rows, 3 features (numbers: 2, categories: 1); 2 values missing in 2 columns" in said
    counts = messy_table()["kind"].value_counts()
    assert f"target 'kind': 2 classes (sick {counts['sick']}, well {counts['well']})" in said
    assert "- 1 missing value was filled in by the median of the column, in column 'gap'" in said
    assert "- 1 missing category was filled in by the most frequent one of the column, 1 by '" in said
    assert "The model has seen no row of 1 of 12 row groups: of their 50 rows it predicts" in said
    assert "Caveat: Of 600 rows, a random 300 were used to compare learners" in said
    record = json.loads((folder / "../out/study.json").read_text())
    assert record["given"]["memory"] == "2GB"
    held_out = record["held_out_parts"]
    assert (held_out["parts"], held_out["rows"]) == ("1 of 12 row groups", 50)
    assert f"predicts {held_out['score']:.1%} ± {held_out['error']:.1%} right" in said
    assert {column["column"]: column["missing"] for column in record["columns"]} == {"size": 0, "gap": 1, "colour": 1}
    page = (folder / "../out/report.html").read_text()
    assert "The model has seen no row of 1 of 12 row groups" in page
    assert "--memory 2GB" in page


@pytest.mark.slow
def test_predictions_of_a_large_study_name_rows_by_their_numbers(folder, monkeypatch):
    small_memory(monkeypatch, 300)
    assert study(folder).exit_code == 0
    rows = pd.read_csv(folder / "../out/predictions.csv")
    whole = messy_table()
    assert (whole["kind"].to_numpy()[rows["row"] - 1] == rows["true"]).all()
    assert len(rows) == 300


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--memory", "two"], "Error: memory must be a size such as '500MB' or '2GB', got 'two' instead"),
        (["--drop", "colours"], "Error: visits/ has no column 'colours'. Did you mean 'colour'?"),
        (["--strict"], "Counts are those of"),
    ],
)
def test_refusals_are_one_sentence(folder, monkeypatch, words, message):
    small_memory(monkeypatch, 300)
    result = study(folder, *words)
    assert result.exit_code == 2
    assert message in result.stderr
    assert not (folder / "../out").exists()


@pytest.mark.slow
def test_a_refusal_ends_with_a_command_that_works(folder, monkeypatch):
    small_memory(monkeypatch, 300)
    frame = messy_table()
    frame.loc[450, "kind"] = None
    for path in folder.iterdir():
        path.unlink()
    frame[["size", "kind"]].to_parquet(folder / "all.parquet", index=False, row_group_size=100)
    result = study(folder)
    assert "1 value of the target 'kind' is missing, in row 451 (counting from 1 below the header)" in result.stderr
    assert "Try: whynear study" in result.stderr
    assert "--drop-missing-target" in result.stderr
    again = study(folder, "--drop-missing-target")
    assert "1 row has no value of the target and was left out." in " ".join(again.stdout.split())


@pytest.mark.parametrize("fault", ["damaged", "columns"])
def test_a_fault_of_one_file_is_named(folder, monkeypatch, fault):
    small_memory(monkeypatch, 300)
    path = folder / "part-2.parquet"
    if fault == "damaged":
        path.write_bytes(path.read_bytes()[:100])
    else:
        pd.read_parquet(path).drop(columns="gap").to_parquet(path)
    result = study(folder)
    assert result.exit_code == 2
    assert "part-2.parquet" in result.stderr


def test_an_interrupt_while_reading_leaves_nothing(folder, monkeypatch):
    small_memory(monkeypatch, 300)
    usual = problem.scan

    def interrupted(*words, report, **named):
        def stop(step, share):
            report(step, share)
            if share > 0.5:
                raise KeyboardInterrupt

        return usual(*words, report=stop, **named)

    monkeypatch.setattr(problem, "scan", interrupted)
    result = study(folder)
    assert result.exit_code == 130
    assert not (folder / "../out").exists()


LARGE_ROWS, LARGE_COLUMNS = 1_400_000, 96


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A Parquet file of 1.1 GB of numbers, which takes less on the disk."""
    path = tmp_path_factory.mktemp("large") / "large.parquet"
    rng = np.random.default_rng(0)
    names = [f"x{place}" for place in range(LARGE_COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("kind", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, LARGE_ROWS, 200_000):
            X = rng.integers(-99, 100, (200_000, LARGE_COLUMNS)) / 32.0
            kind = np.where(X[:, 0] + X[:, 1] > rng.normal(size=len(X)), "up", "down")
            writer.write_table(pa.table([*(pa.array(column) for column in X.T), pa.array(kind)], schema=schema))
    return path


def peak_of(*words):
    """Run a command in a process of its own; return what it printed and the most memory it held."""
    code = textwrap.dedent(
        """
        import sys
        from tests.helpers.memory import peak_bytes
        from whynear.cli.app import app
        app(sys.argv[1:], standalone_mode=False)
        print("peak", peak_bytes())
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    said, _, peak = done.stdout.rpartition("peak ")
    return said, int(peak)


@pytest.mark.slow
def test_a_study_and_its_predictions_keep_within_the_memory(large, tmp_path):
    drop = [word for place in range(6, LARGE_COLUMNS) for word in ("--drop", f"x{place}")]
    words = ["--target", "kind", "--learner", "grlvq", "--folds", 3, "--out", tmp_path / "out", *drop]
    said, peak = peak_of("study", large, *words, "--memory", "900MB")
    assert peak < 900e6
    assert f"{LARGE_ROWS:,} rows" in said
    assert "row groups: of their 200,000 rows it predicts" in " ".join(said.split())
    said, peak = peak_of(
        "predict", tmp_path / "out/model.whynear", large, "--out", tmp_path / "p.parquet", "--memory", "500MB"
    )
    assert peak < 500e6
    assert f"{LARGE_ROWS:,} rows written" in said
    assert pq.ParquetFile(tmp_path / "p.parquet").metadata.num_rows == LARGE_ROWS
