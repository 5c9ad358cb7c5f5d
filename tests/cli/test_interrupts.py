"""Ctrl-C at any moment: "Interrupted.", code 130 and never a traceback."""

import os
import signal
import subprocess
import sys
import time

import pytest

# Tells when the program has begun to listen; the moments before are Python's own.
LISTENING = """
import signal, sys
from whynear.cli import main
listen = signal.signal
def tell(*words):
    before = listen(*words)
    signal.signal = listen
    print("listening", flush=True)
    return before
signal.signal = tell
sys.argv[0] = "whynear"
main()
"""


def started(*words):
    command = [sys.executable, "-c", LISTENING, *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "listening\n"
    return process


def ended_by(process, delay):
    """Wait, interrupt, and return how the program ended: its code, what it said, and the seconds it took."""
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    asked = time.monotonic()
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors, time.monotonic() - asked


@pytest.mark.parametrize("delay", [0, 0.02, 0.05, 0.1, 0.2])
def test_help_that_is_interrupted(delay):
    code, errors, _ = ended_by(started("--help"), delay)
    shutting_down = (-signal.SIGINT, "")  # Python takes its handlers away before it ends; a shell calls that 130 too
    assert (code, errors) in [(130, "Interrupted.\n"), (0, ""), shutting_down]


OTHER_DELAYS = [pytest.param(delay, marks=pytest.mark.slow) for delay in (0.05, 0.2, 0.7, 1.5, 2.0, 3.0, 4.0)]


@pytest.mark.parametrize("delay", [0, 0.1, 0.4, 1.0, *OTHER_DELAYS])
def test_a_study_that_is_interrupted_while_the_library_is_imported(tmp_path, delay):
    process = started("study", "iris", "--out", str(tmp_path / "study"))
    code, errors, seconds = ended_by(process, delay)
    assert code == 130
    assert errors.strip().startswith("Interrupted.")
    assert errors.count("\n") == 1
    assert seconds < 20  # a second on a quiet machine


def imports_numba(process):
    with open(f"/proc/{process.pid}/maps") as maps:
        return "llvmlite" in maps.read()


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/maps"), reason="needs /proc")
@pytest.mark.parametrize("delay", [0.05, *(pytest.param(delay, marks=pytest.mark.slow) for delay in (0, 0.15))])
def test_a_study_that_is_interrupted_while_compiled_libraries_load(tmp_path, delay):
    process = started("study", "iris", "--out", str(tmp_path / "study"))
    while not imports_numba(process):
        time.sleep(0.005)
    code, errors, _ = ended_by(process, delay)
    assert (code, errors) == (130, "Interrupted.\n")
    assert not (tmp_path / "study").exists()


IGNORED = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import whynear.cli.app
whynear.cli.app.app = lambda: print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)
whynear.cli.main()
"""


def test_where_a_shell_has_interrupts_ignored_they_stay_ignored():
    ended = subprocess.run([sys.executable, "-c", IGNORED], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "True\n"


# A command that loses an interrupt as Python does within callbacks, or as an import does that gets it.
LOST = """
import time, _thread
import whynear.cli.app
from whynear.cli.shell import errors_in_a_sentence

def interrupted():
    _thread.interrupt_main()
    time.sleep(0.01)

class Callback:
    def __del__(self):
        interrupted()

def lose_it_in_a_callback():
    Callback()
    for _ in range(500):
        time.sleep(0.01)

def lose_it_in_an_import():
    try:
        interrupted()
    except KeyboardInterrupt:
        raise {error}("half a module")

def command():
    with errors_in_a_sentence(False):
        {work}()
        print("went on")

whynear.cli.app.app = command
whynear.cli.main()
"""


@pytest.mark.parametrize(
    ("work", "error"),
    [("lose_it_in_a_callback", ""), ("lose_it_in_an_import", "ImportError"), ("lose_it_in_an_import", "SystemError")],
)
def test_an_interrupt_that_would_be_lost_or_mistaken(work, error):
    script = LOST.format(work=work, error=error)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "went on" not in ended.stdout
    assert ended.stderr.startswith("Interrupted.\nTraceback")  # of typer's Exit, with no typer around it
    assert "half a module" not in ended.stderr
