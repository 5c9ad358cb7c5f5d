"""Options that several commands share."""

import inspect

import pytest
import typer

import whynear as wn
from tests.helpers.command_line import run
from whynear.cli import options
from whynear.cli.app import app

SHARED = {name: kind for name, kind in vars(options).items() if hasattr(kind, "__metadata__")}
COMMANDS = typer.main.get_command(app).commands


def texts():
    """The help texts of all commands, by the option."""
    found = {}
    for command in COMMANDS.values():
        for option in command.params:
            found.setdefault(option.opts[0], {}).setdefault(option.help, []).append(command.name)
    return found


@pytest.mark.parametrize("name", SHARED)
def test_a_shared_option_is_used_by_two_commands_and_has_a_sentence_of_help(name):
    (option,) = SHARED[name].__metadata__
    assert option.help.endswith(".")
    users = [command for command in COMMANDS.values() if option.help in [param.help for param in command.params]]
    assert len(users) >= 2


@pytest.mark.parametrize("option", ["--target", "--drop", "--bins", "--impute", "--quiet", "--debug"])
def test_an_option_has_the_same_help_in_all_commands(option):
    (text,) = texts()[option]
    assert text


def test_every_option_of_every_command_has_help():
    for option, found in texts().items():
        assert option == "--help" or all(text and inspect.cleandoc(text) == text for text in found), option


# --encoding takes encodings of text, and refuses everything else in a sentence.


@pytest.fixture
def folder(tmp_path):
    rows = [f"{a},{a % 3},{'x' if a > 9 else 'y'}" for a in range(20)]
    (tmp_path / "cases.csv").write_text("\n".join(["a,b,y", *rows, ""]))
    table = wn.datasets.read_table(tmp_path / "cases.csv")[0]
    wn.save(wn.GRLVQ(random_state=0).fit(table[["a", "b"]], table["y"]), tmp_path / "model")
    return tmp_path


COMMANDS_OF_ENCODINGS = {
    "study": lambda f: ["study", f / "cases.csv", "--target", "y", "--out", f / "out"],
    "learn": lambda f: ["learn", f / "cases.csv", "--target", "y", "--out", f / "new"],
    "predict": lambda f: ["predict", f / "model", f / "cases.csv"],
    "explain": lambda f: ["explain", f / "model", f / "cases.csv", "--row", 1],
    "stream": lambda f: ["stream", f / "cases.csv", "--target", "y", "--out", f / "new"],
    "retrieve": lambda f: ["retrieve", f / "base", "--build", f / "cases.csv", "--metric", f / "model"],
}


@pytest.mark.parametrize("encoding", ["rot13", "zlib", "latin-0", "utf\0"], ids=["rot13", "zlib", "unknown", "nul"])
@pytest.mark.parametrize("command", COMMANDS_OF_ENCODINGS)
def test_what_is_no_encoding_of_text_is_refused(folder, command, encoding):
    result = run(*COMMANDS_OF_ENCODINGS[command](folder), "--encoding", encoding)
    assert result.exit_code == 2, result.exception
    assert "encoding must be a text encoding that Python knows, got " in result.stderr
    assert result.stderr.endswith("Try utf-8 or latin-1.\n")
    assert result.stderr.count("\n") == 1
