"""``whynear stream``."""

import gzip
import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.helpers.command_line import run
from tests.helpers.slow_memory import drifting_stream
from whynear.cli.app import app


def text_of(n=150):
    X, y = drifting_stream(0, n=n, n_classes=2)
    return "a,b,c,kind\n" + "".join(
        f"{x[0]:.4f},{x[1]:.4f},{x[2]:.4f},{'yes' if k else 'no'}\n" for x, k in zip(X, y, strict=True)
    )


def test_a_stream_from_standard_input_is_predicted_and_written(tmp_path):
    out = tmp_path / "out"
    found = CliRunner().invoke(app, ["stream", "-", "--target", "kind", "--out", str(out)], input=text_of())
    assert found.exit_code == 0, found.output
    assert "was predicted in 149 rows of standard input before they were learned" in " ".join(found.output.split())
    assert json.loads((out / "stream.json").read_text())["n_rows"] == 150
    assert len((out / "predictions.csv").read_text().splitlines()) == 151


def test_quiet_prints_no_note(tmp_path):
    (tmp_path / "rows.csv").write_text(text_of().replace("a,", ",", 1))  # a column without a name
    found = run("stream", tmp_path / "rows.csv", "--target", "kind", "--out", tmp_path / "out", "--quiet")
    assert (found.exit_code, found.output) == (0, "")


@pytest.mark.parametrize(
    ("encoding", "options", "note"),
    [
        ("utf-8-sig", [], ""),
        ("utf-16", [], "was read as utf-16"),
        ("latin-1", [], "was read as latin-1"),
        ("latin-1", ["--encoding", "latin-1"], ""),
    ],
)
def test_standard_input_has_the_encodings_of_a_file(tmp_path, encoding, options, note):
    data = text_of().replace("a,b", "größe,b").replace("yes", "täglich").replace(",", ";").encode(encoding)
    arguments = ["stream", "-", "--target", "kind", "--out", str(tmp_path / "out"), *options]
    found = CliRunner().invoke(app, arguments, input=data)
    assert found.exit_code == 0, found.output
    assert json.loads((tmp_path / "out" / "stream.json").read_text())["n_rows"] == 150
    assert "täglich" in (tmp_path / "out" / "predictions.csv").read_text(encoding="utf-8")
    assert note in found.stderr
    assert ("Note" in found.stderr) == bool(note)


@pytest.mark.skipif(not Path("/dev/fd").exists() or not shutil.which("bash"), reason="needs a shell's <( )")
def test_the_output_of_a_command_is_read_as_text(tmp_path):
    """Process substitution; standard input stays open."""
    (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text_of(30).encode()))
    command = f"{shlex.quote(sys.executable)} -m whynear stream <(zcat rows.csv.gz) --target kind --out out"
    found = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert "was predicted in 29 rows of a pipe before they were learned" in " ".join(found.stdout.split())


def test_a_workbook_is_refused_with_the_way_out(tmp_path):
    (tmp_path / "rows.xlsx").write_bytes(b"PK\x03\x04")
    found = run("stream", tmp_path / "rows.xlsx", "--target", "kind", "--out", tmp_path / "out")
    assert (found.exit_code, found.stderr.count("\n")) == (2, 1)
    assert "rows.xlsx must end in .csv, .tsv, .txt (tab-separated), each also with .gz, or .parquet" in found.stderr
    assert "Save its sheet as CSV or Parquet" in found.stderr


def test_bad_input_is_one_sentence_and_exit_code_2(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(text_of(20))
    for arguments, fact in (
        ([str(path), "--target", "sort"], "has no column 'sort'"),
        ([str(tmp_path / "none.csv"), "--target", "kind"], "is no file"),
        ([str(path)], "rows.csv needs a target. Name one of its columns (--target COLUMN): 'a', 'b', 'c', 'kind'."),
        ([str(path), "--target", "kind", "--every", "0"], "every must be"),
    ):
        found = CliRunner().invoke(app, ["stream", *arguments, "--out", str(tmp_path / "out")])
        assert found.exit_code == 2
        assert fact in found.output
        assert "Traceback" not in found.output


def test_a_data_set_has_its_target_and_decimal_commas_are_read(tmp_path):
    found = CliRunner().invoke(app, ["stream", "iris", "--out", str(tmp_path / "iris")])
    assert found.exit_code == 0, found.output
    assert "'target' was predicted in 149 rows of iris before they were learned" in " ".join(found.output.split())
    path = tmp_path / "rows.csv"
    path.write_text(text_of().replace(",", ";").replace(".", ","))
    options = ["--target", "kind", "--out", str(tmp_path / "out")]
    found = CliRunner().invoke(app, ["stream", str(path), *options])
    assert (found.exit_code, "written with decimal commas" in found.stderr) == (0, True)
    predictions = (tmp_path / "out" / "predictions.csv").read_text()
    found = CliRunner().invoke(app, ["stream", str(path), *options, "--decimal", ",", "--overwrite"])
    assert (found.exit_code, "decimal commas" in found.stderr) == (0, False)
    assert (tmp_path / "out" / "predictions.csv").read_text() == predictions
    refused = CliRunner().invoke(app, ["stream", str(path), *options, "--decimal", ".", "--overwrite"])
    assert (refused.exit_code, "(--decimal ',')" in refused.stderr) == (2, True)
