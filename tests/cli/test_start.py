"""What the command line answers without importing the library."""

import subprocess
import sys

import pytest

HEAVY = {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "numba", "highspy", "joblib", "jinja2", "pynndescent"}
COMMANDS = ("study", "learn", "predict", "explain", "retrieve", "compare", "datasets", "reproduce")

# The program, and on its last line the packages it has imported and the CPU seconds it took.
MEASURED = """
import atexit, sys, time
def tell():
    print("\\n", time.process_time(), *sorted({name.partition(".")[0] for name in sys.modules}))
atexit.register(tell)
sys.argv[0] = "whynear"
from whynear.cli import main
main()
"""


def answer(*words):
    """What a program said, the packages it imported and the CPU seconds it took."""
    ended = subprocess.run([sys.executable, "-c", MEASURED, *words], capture_output=True, text=True, timeout=60)
    said, _, last = ended.stdout.rstrip().rpartition("\n")
    seconds, *packages = last.split()
    return said + ended.stderr, set(packages), float(seconds)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--help"], "Which features truly decide"),
        (["--version"], "whynear "),
        (["studdy"], "No such command 'studdy'"),
        (["study", "--lerner", "x"], "No such option: --lerner"),
        *([[command, "--help"], f"whynear {command}"] for command in COMMANDS),
    ],
    ids=str,
)
def test_help_and_typos_are_answered_without_the_library(words, expected):
    said, packages, seconds = answer(*words)
    assert expected in said
    assert not packages & HEAVY
    assert seconds < 2  # 0.25 on a quiet machine; see benchmarks/results/start.md
