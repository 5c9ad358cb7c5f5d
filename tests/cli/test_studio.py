import sys

from tests.helpers.command_line import run


def test_without_the_extra_the_line_to_type_is_said(monkeypatch):
    monkeypatch.setattr("whynear.cli.app.find_spec", lambda name: None)
    answer = run("studio", "--no-browser")
    assert answer.exit_code == 2
    assert 'pip install "whynear[studio]"' in answer.stderr


def test_the_options_reach_the_server(monkeypatch, tmp_path):
    seen = []

    class Server:
        @staticmethod
        def serve(*words):
            seen.append(words)
            words[3]("http://127.0.0.1:9/?token=x")

    monkeypatch.setitem(sys.modules, "whynear.studio.server", Server)
    answer = run("studio", "iris", "--port", "9", "--folder", tmp_path, "--no-browser")
    assert answer.exit_code == 0
    assert answer.stdout == "Open http://127.0.0.1:9/?token=x\n"
    table, folder, port, _, opened = seen[0]
    assert (table, folder, port, opened) == ("iris", tmp_path, 9, None)


def test_the_browser_is_opened_unless_it_is_not_wanted(monkeypatch, tmp_path):
    opened = []

    class Server:
        @staticmethod
        def serve(*words):
            words[4]("http://127.0.0.1:9/?token=y")

    monkeypatch.setattr("whynear.cli.app.typer.launch", opened.append)
    monkeypatch.setitem(sys.modules, "whynear.studio.server", Server)
    run("studio", "--folder", tmp_path)
    assert opened == ["http://127.0.0.1:9/?token=y"]


def test_bad_options_are_a_sentence(tmp_path):
    assert run("studio", "--port", "0").exit_code == 2
    (tmp_path / "file").write_text("x")
    answer = run("studio", "--no-browser", "--folder", tmp_path / "file")
    assert answer.exit_code == 2
    assert "not a folder" in answer.stderr
    answer = run("studio", tmp_path / "none.csv", "--no-browser", "--folder", tmp_path / "project")
    assert answer.exit_code == 2
    assert "does not exist" in answer.stderr
