"""The command line as tests run it."""

from click.testing import Result
from typer.testing import CliRunner

from whynear.cli.app import app


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])
