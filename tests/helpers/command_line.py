"""The command line as tests run it."""

import json
import os
import subprocess
import sys
from typing import Any

from click.testing import Result
from typer.testing import CliRunner

from whynear.cli.app import app


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def answer(*words: object) -> Any:
    """What a command prints with ``--json``."""
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


# The program as users start it: its help and its completion show the name of the program.
WHYNEAR = [sys.executable, "-c", "import sys; sys.argv[0] = 'whynear'; from whynear.cli import main; main()"]


def run_program(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own."""
    variables = {**os.environ, **environment}
    return subprocess.run([*WHYNEAR, *words], capture_output=True, text=True, env=variables, timeout=120)
