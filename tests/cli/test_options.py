"""Options that several commands share."""

import inspect

import pytest
import typer

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
