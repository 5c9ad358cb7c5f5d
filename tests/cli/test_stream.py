"""``whynear stream``."""

import json

from typer.testing import CliRunner

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
    refused = CliRunner().invoke(app, ["stream", str(path), *options])
    assert (refused.exit_code, "(--decimal ',')" in refused.output) == (2, True)
    found = CliRunner().invoke(app, ["stream", str(path), *options, "--decimal", ",", "--overwrite"])
    assert found.exit_code == 0, found.output
