import io

import pytest
from rich.console import Console

from whynear.cli import shell as module
from whynear.cli.shell import step_bar


@pytest.mark.parametrize("is_terminal", [True, False])
def test_the_step_is_shown_on_a_terminal_and_nothing_elsewhere(monkeypatch, is_terminal):
    written = io.StringIO()
    monkeypatch.setattr(module, "Console", lambda **_: Console(file=written, force_terminal=is_terminal))
    with step_bar("read") as report:
        report("[red]fit\x1b", 0.5)
    text = written.getvalue()
    assert ("[red]fit" in text) is is_terminal
    assert "\x1b[31m" not in text  # what a table names is not taken as markup
    if not is_terminal:
        assert text == ""


def test_an_error_leaves_nothing_where_there_is_no_terminal(capsys):
    with pytest.raises(ValueError, match="bad"), step_bar("read"):
        raise ValueError("bad")
    assert capsys.readouterr() == ("", "")
