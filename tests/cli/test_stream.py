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
        ([str(tmp_path / "none.csv"), "--target", "kind"], "does not exist"),
        ([str(path), "--target", "kind", "--every", "0"], "every must be"),
    ):
        found = CliRunner().invoke(app, ["stream", *arguments, "--out", str(tmp_path / "out")])
        assert found.exit_code == 2
        assert fact in found.output
        assert "Traceback" not in found.output
