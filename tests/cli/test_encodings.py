"""--encoding takes encodings of text, and refuses everything else in a sentence."""

import pytest

import whynear as wn
from tests.helpers.command_line import run


@pytest.fixture
def folder(tmp_path):
    rows = [f"{a},{a % 3},{'x' if a > 9 else 'y'}" for a in range(20)]
    (tmp_path / "cases.csv").write_text("\n".join(["a,b,y", *rows, ""]))
    table = wn.datasets.read_table(tmp_path / "cases.csv")[0]
    wn.save(wn.GRLVQ(random_state=0).fit(table[["a", "b"]], table["y"]), tmp_path / "model")
    return tmp_path


COMMANDS = {
    "study": lambda f: ["study", f / "cases.csv", "--target", "y", "--out", f / "out"],
    "learn": lambda f: ["learn", f / "cases.csv", "--target", "y", "--out", f / "new"],
    "predict": lambda f: ["predict", f / "model", f / "cases.csv"],
    "explain": lambda f: ["explain", f / "model", f / "cases.csv", "--row", 1],
    "stream": lambda f: ["stream", f / "cases.csv", "--target", "y", "--out", f / "new"],
    "retrieve": lambda f: ["retrieve", f / "base", "--build", f / "cases.csv", "--metric", f / "model"],
}


@pytest.mark.parametrize("encoding", ["rot13", "zlib", "latin-0", "utf\0"], ids=["rot13", "zlib", "unknown", "nul"])
@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_no_encoding_of_text_is_refused(folder, command, encoding):
    result = run(*COMMANDS[command](folder), "--encoding", encoding)
    assert result.exit_code == 2, result.exception
    assert "encoding must be a text encoding that Python knows, got " in result.stderr
    assert result.stderr.endswith("Try utf-8 or latin-1.\n")
    assert result.stderr.count("\n") == 1
